#include <pybind11/pybind11.h>

#include <chrono>

#include "common/interrupts.hpp"

namespace fastpu {

namespace py = pybind11;

StopFlag::Shared& StopFlag::watched() {
  thread_local Shared flag;
  return flag;
}

Team::Poll interrupt_poll() {
  const auto main_thread = py::module_::import("threading").attr("main_thread")().attr("ident");
  if (main_thread.is_none() || main_thread.cast<unsigned long>() != PyThread_get_thread_ident()) {
    const StopFlag::Shared flag = StopFlag::watched();
    if (!flag) return {};
    return [flag] {
      if (!flag->load(std::memory_order_relaxed)) return;
      const py::gil_scoped_acquire gil;
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw py::error_already_set();
    };
  }
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

void bind_interrupts(const py::module_& module) {
  py::class_<StopFlag>(module, "StopFlag")
      .def(py::init<>())
      .def("watch", &StopFlag::watch)
      .def("raise_", &StopFlag::raise);
}

}  // namespace fastpu
