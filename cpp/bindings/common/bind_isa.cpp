#include "common/bind_isa.hpp"

#include <pybind11/pybind11.h>

#include <string>

namespace fastpu {

namespace py = pybind11;

namespace {

py::list isa_levels() {
  py::list names;
  for (int level = 0; level <= static_cast<int>(best_isa()); ++level) names.append(isa_name(static_cast<Isa>(level)));
  return names;
}

}  // namespace

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

void bind_isa(py::module_& module) { module.def("isa_levels", &isa_levels); }

}  // namespace fastpu
