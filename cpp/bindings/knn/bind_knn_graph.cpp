#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "common/arguments.hpp"
#include "fastpu/knn/knn_graph.hpp"

namespace fastpu {

namespace {

KnnMethod method_of(const std::string& name) {
  constexpr std::pair<const char*, KnnMethod> kMethods[] = {
      {"", KnnMethod::automatic}, {"tree", KnnMethod::tree}, {"blocks", KnnMethod::blocks}};
  for (const auto& [known, method] : kMethods) {
    if (name == known) return method;
  }
  throw py::value_error("method has no value '" + name + "'");
}

py::tuple search(const py::object& x, index_t n_neighbors, int n_threads, const std::string& method) {
  KnnOptions options;
  options.n_neighbors = n_neighbors;
  options.method = method_of(method);
  const MatrixView view = view_matrix(x);
  const index_t n_rows = std::visit([](const auto& matrix) { return matrix.n_rows; }, view);
  py::array_t<index_t> indices({n_rows, n_neighbors});
  py::array_t<double> squared({n_rows, n_neighbors});
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
