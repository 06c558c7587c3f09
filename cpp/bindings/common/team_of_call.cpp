#include <chrono>
#include <string>
#include <utility>

#include "common/arguments.hpp"

namespace fastpu {

namespace {

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

py::list isa_levels() {
  py::list names;
  for (int level = 0; level <= static_cast<int>(best_isa()); ++level) names.append(isa_name(static_cast<Isa>(level)));
  return names;
}

Isa isa_of_call() {
  const py::object forced = py::module_::import("os").attr("environ").attr("get")("FASTPU_ISA", "");
  if (forced.equal(py::str(""))) return best_isa();
  const py::list levels = isa_levels();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    if (forced.equal(levels[level])) return static_cast<Isa>(level);
  }
  throw py::value_error("FASTPU_ISA must be one of " + py::str(", ").attr("join")(levels).cast<std::string>() +
                        " on this machine, got " + std::string(py::repr(forced)));
}

}  // namespace

Team team_of_call(int n_threads, Team::Poll poll) {
  Team::Poll signals = interrupt_poll();
  if (!poll) return Team(n_threads, std::move(signals), isa_of_call());
  if (!signals) return Team(n_threads, std::move(poll), isa_of_call());
  return Team(
      n_threads,
      [poll = std::move(poll), signals = std::move(signals)] {
        poll();
        signals();
      },
      isa_of_call());
}

void bind_isa(py::module_& module) { module.def("isa_levels", &isa_levels); }

}  // namespace fastpu
