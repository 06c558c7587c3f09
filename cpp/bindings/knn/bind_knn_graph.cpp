#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
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
  options.isa = isa_of_call();
  options.method = method_of(method);
  const MatrixView view = view_matrix(x);
  const index_t n_rows = std::visit([](const auto& matrix) { return matrix.n_rows; }, view);
  py::array_t<index_t> indices({n_rows, n_neighbors});
  py::array_t<double> squared({n_rows, n_neighbors});
  index_t* const to_indices = indices.mutable_data();
  double* const to_squared = squared.mutable_data();
  Team team(n_threads, interrupt_poll());
  unlocked([&] {
    std::visit([&](const auto& matrix) { knn_search(matrix, options, team, to_indices, to_squared); }, view);
  });
  return py::make_tuple(indices, squared);
}

// Hands the values of a vector to NumPy as an array, without a copy.
template <class T>
py::array_t<T> give_away(std::vector<T>&& values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  const std::vector<T>& kept = *owned;
  const py::capsule owner(owned.get(), [](void* pointer) { delete static_cast<std::vector<T>*>(pointer); });
  static_cast<void>(owned.release());  // the capsule owns it now
  return py::array_t<T>(static_cast<py::ssize_t>(kept.size()), kept.data(), owner);
}

// (data, indices, indptr)
py::tuple to_tuple(KnnMatrix&& matrix) {
  return py::make_tuple(give_away(std::move(matrix.values)), give_away(std::move(matrix.columns)),
                        give_away(std::move(matrix.row_start)));
}

py::tuple edges(const py::object& indices, const py::object& squared, bool is_union, int n_threads) {
  if (!py::isinstance<Array<index_t>>(indices)) throw py::type_error("indices has the wrong type for _core");
  if (!py::isinstance<Array<double>>(squared)) throw py::type_error("squared has the wrong type for _core");
  const auto rows = py::reinterpret_borrow<Array<index_t>>(indices);
  const auto lengths = py::reinterpret_borrow<Array<double>>(squared);
  if (rows.ndim() != 2 || lengths.ndim() != 2 || rows.shape(0) != lengths.shape(0) ||
      rows.shape(1) != lengths.shape(1)) {
    throw py::value_error("indices and squared must be matrices of one shape");
  }
  const KnnView view{rows.data(), lengths.data(), rows.shape(0), rows.shape(1)};
  KnnMatrix matrix;
  Team team(n_threads, interrupt_poll());
  unlocked([&] { matrix = knn_edges(view, is_union, team); });
  return to_tuple(std::move(matrix));
}

py::tuple similarity(const py::object& values, const py::object& columns, const py::object& row_start, double sigma,
                     int n_threads) {
  const auto n_entries = static_cast<index_t>(py::len(values));
  const auto n_rows = static_cast<index_t>(py::len(row_start)) - 1;
  const double* const lengths = view_1d<double>(values, "values", n_entries);
  const std::int32_t* const numbers = view_1d<std::int32_t>(columns, "columns", n_entries);
  const index_t* const starts = view_1d<index_t>(row_start, "row_start", n_rows + 1);
  if (n_rows < 0 || starts[0] != 0 || starts[n_rows] != n_entries) {
    throw py::value_error("row_start must run from 0 to the number of edges");
  }
  for (index_t i = 0; i < n_rows; ++i) {
    if (starts[i] > starts[i + 1]) throw py::value_error("row_start must not decrease");
  }
  KnnSimilarity matrices;
  Team team(n_threads, interrupt_poll());
  {
    const py::gil_scoped_release nogil;
    matrices = knn_similarity({lengths, numbers, starts, n_rows}, sigma, team);
  }
  return py::make_tuple(to_tuple(std::move(matrices.weights)), to_tuple(std::move(matrices.laplacian)));
}

}  // namespace

void bind_knn_graph(py::module_& module) {
  module.def("knn_search", &search, py::arg("x"), py::arg("n_neighbors"), py::kw_only(), py::arg("n_threads"),
             py::arg("method") = "");
  module.def("knn_edges", &edges, py::arg("indices"), py::arg("squared"), py::arg("is_union"), py::arg("n_threads"));
  module.def("knn_similarity", &similarity, py::arg("values"), py::arg("columns"), py::arg("row_start"),
             py::arg("sigma"), py::arg("n_threads"));
}

}  // namespace fastpu
