#include <pybind11/pybind11.h>

#include <string>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/knn/knn_graph.hpp"

namespace fastpu {

FASTPU_WORDS(KnnMethod, "", "tree", "blocks")

namespace {

py::tuple search(const py::object& x, index_t n_neighbors, int n_threads, const std::string& method) {
  KnnOptions options;
  options.n_neighbors = n_neighbors;
  options.method = value_of<KnnMethod>(method, "method");
  const RowsView view = view_matrix(x);
  py::array_t<index_t> indices({n_rows(view), n_neighbors});
  py::array_t<double> squared({n_rows(view), n_neighbors});
  index_t* const to_indices = indices.mutable_data();
  double* const to_squared = squared.mutable_data();
  Team team = team_of_call(n_threads);
  unlocked([&] {
    std::visit([&](const auto& matrix) { knn_search(matrix, options, team, to_indices, to_squared); }, view);
  });
  return py::make_tuple(indices, squared);
}

}  // namespace

void bind_knn_graph(py::module_& module) {
  module.def("knn_search", &search, py::arg("x"), py::arg("n_neighbors"), py::kw_only(), py::arg("n_threads"),
             py::arg("method") = "");
}

}  // namespace fastpu
