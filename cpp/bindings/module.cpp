#include <pybind11/pybind11.h>

#include "generated/bindings.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.attr("__version__") = FASTPU_VERSION;
  fastpu::bind_all(module);
}
