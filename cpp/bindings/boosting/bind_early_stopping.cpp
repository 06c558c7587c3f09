#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "fastpu/common/early_stopping.hpp"

namespace fastpu {

void bind_early_stopping(const py::module_& module) {
  py::class_<EarlyStopping>(module, "EarlyStopping")
      .def(py::init<index_t>(), py::arg("patience"))
      .def("add", &EarlyStopping::add, py::arg("value"))
      .def_property_readonly("best_round", &EarlyStopping::best_round)
      .def_property_readonly("is_over", &EarlyStopping::is_over);
}

}  // namespace fastpu
