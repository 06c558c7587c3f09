#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "linalg/bind_blas.hpp"

namespace fastpu {
namespace {

BlasMatrix<const double> view(const Array<double>& array) {
  if (array.ndim() != 2) throw py::value_error("a matrix must have 2 dimensions");
  return {array.data(), array.shape(0), array.shape(1)};
}

BlasMatrix<double> mutable_view(Array<double>& array) {
  if (array.ndim() != 2) throw py::value_error("a matrix must have 2 dimensions");
  return {array.mutable_data(), array.shape(0), array.shape(1)};
}

Op op(bool is_transposed) { return is_transposed ? Op::transpose : Op::none; }

Array<double> product(const Array<double>& a, const Array<double>& b, bool transpose_a, bool transpose_b,
                      int n_threads) {
  const auto left = view(a);
  const auto right = view(b);
  Array<double> out({transpose_a ? left.n_cols : left.n_rows, transpose_b ? right.n_rows : right.n_cols});
  const auto to = mutable_view(out);
  const Blas& functions = blas();
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  TiledBlas(functions, team).product(op(transpose_a), op(transpose_b), left, right, to);
  return out;
}

Array<double> gram(const Array<double>& a, int n_threads) {
  const auto from = view(a);
  Array<double> out({from.n_cols, from.n_cols});
  const auto to = mutable_view(out);
  const Blas& functions = blas();
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  TiledBlas(functions, team).gram(from, to);
  return out;
}

index_t cholesky(Array<double>& a, int n_threads) {
  const auto matrix = mutable_view(a);
  const Blas& functions = blas();
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  return TiledBlas(functions, team).cholesky(matrix);
}

py::tuple pivoted_cholesky(Array<double>& a, double limit, int n_threads) {
  const auto matrix = mutable_view(a);
  Array<index_t> order({matrix.n_rows});
  index_t* const to = order.mutable_data();
  const Blas& functions = blas();
  Team team(n_threads, interrupt_poll());
  index_t rank = 0;
  {
    const py::gil_scoped_release nogil;
    rank = TiledBlas(functions, team).pivoted_cholesky(matrix, limit, to);
  }
  return py::make_tuple(rank, order);
}

void solve_rows(const Array<double>& factor, Array<double>& b, bool transpose, int n_threads) {
  const auto l = view(factor);
  const auto rows = mutable_view(b);
  const Blas& functions = blas();
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  TiledBlas(functions, team).solve(op(transpose), l, rows);
}

}  // namespace

void bind_tiled_blas(py::module_& module) {
  module.def("tiled_product", &product, py::arg("a").noconvert(), py::arg("b").noconvert(), py::kw_only(),
             py::arg("transpose_a"), py::arg("transpose_b"), py::arg("n_threads"));
  module.def("tiled_gram", &gram, py::arg("a").noconvert(), py::kw_only(), py::arg("n_threads"));
  module.def("tiled_cholesky", &cholesky, py::arg("a").noconvert(), py::kw_only(), py::arg("n_threads"));
  module.def("tiled_pivoted_cholesky", &pivoted_cholesky, py::arg("a").noconvert(), py::kw_only(), py::arg("limit"),
             py::arg("n_threads"));
  module.def("tiled_solve", &solve_rows, py::arg("factor").noconvert(), py::arg("b").noconvert(), py::kw_only(),
             py::arg("transpose"), py::arg("n_threads"));
}

}  // namespace fastpu
