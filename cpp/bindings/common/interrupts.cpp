#include "common/interrupts.hpp"

#include <pybind11/pybind11.h>

#include <chrono>

#include "common/bind_isa.hpp"

namespace fastpu {

namespace py = pybind11;

Team::Poll interrupt_poll() {
  const auto main_thread = py::module_::import("threading").attr("main_thread")().attr("ident");
  if (main_thread.is_none() || main_thread.cast<unsigned long>() != PyThread_get_thread_ident()) return {};
  using Clock = std::chrono::steady_clock;
  return [last = Clock::now()]() mutable {
    constexpr auto kInterval = std::chrono::milliseconds(50);
    const auto now = Clock::now();
    if (now - last < kInterval) return;
    last = now;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
}

Team team_of_call(int n_threads) { return Team(n_threads, interrupt_poll(), isa_of_call()); }

}  // namespace fastpu
