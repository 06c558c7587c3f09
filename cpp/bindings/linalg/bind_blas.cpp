// The BLAS table on its way from _blas to the core.
#include "linalg/bind_blas.hpp"

#include <pybind11/gil_safe_call_once.h>

namespace fastpu {

const Blas& blas() {
  // Not a plain static: its lock and the GIL, which an import can release, could wait for each other.
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Blas> storage;
  return storage
      .call_once_and_store_result([] {
        const py::object table = py::module_::import("fastpu._blas").attr("table");
        const void* const pointer = PyCapsule_GetPointer(table.ptr(), kBlasCapsule);
        if (pointer == nullptr) throw py::error_already_set();
        return Blas(*static_cast<const BlasTable*>(pointer));
      })
      .get_stored();
}

}  // namespace fastpu
