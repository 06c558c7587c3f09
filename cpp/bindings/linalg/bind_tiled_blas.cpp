#include <pybind11/gil_safe_call_once.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "linalg/bind_blas.hpp"

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

namespace {

// Calls body with the GIL released.
template <class Body>
auto in_tiles(int n_threads, Body&& body) {
  const Blas& functions = blas();
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return body(TiledBlas(functions, team));
}

Array<double> product(const py::object& a, const py::object& b, int n_threads) {
  const auto left = view_2d(a);
  const auto right = view_2d(b);
  Array<double> out({left.n_rows, right.n_cols});
  const auto to = mutable_view_2d(out);
  in_tiles(n_threads, [&](const TiledBlas& tiles) { tiles.product(left, right, to); });
  return out;
}

Array<double> symmetric_product(const py::object& a, const py::object& b, int n_threads) {
  const auto left = view_2d(a);
  const auto right = view_2d(b);
  Array<double> out({left.n_cols, right.n_cols});
  const auto to = mutable_view_2d(out);
  in_tiles(n_threads, [&](const TiledBlas& tiles) {
    if (left.data == right.data && left.n_cols == right.n_cols) return tiles.gram(left, to);
    tiles.symmetric_product(Op::transpose, left, right, to);
  });
  return out;
}

index_t cholesky(const py::object& a, int n_threads) {
  const auto matrix = mutable_view_2d(a);
  return in_tiles(n_threads, [&](const TiledBlas& tiles) { return tiles.cholesky(matrix); });
}

}  // namespace

void bind_tiled_blas(py::module_& module) {
  module.def("tiled_product", &product, py::arg("a"), py::arg("b"), py::kw_only(), py::arg("n_threads"));
  module.def("tiled_symmetric_product", &symmetric_product, py::arg("a"), py::arg("b"), py::kw_only(),
             py::arg("n_threads"));
  module.def("tiled_cholesky", &cholesky, py::arg("a"), py::kw_only(), py::arg("n_threads"));
}

}  // namespace fastpu
