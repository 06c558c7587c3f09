#include "tree/bind_trees.hpp"

#include <pybind11/pybind11.h>

#include "fastpu/tree/tree_scores.hpp"

namespace fastpu {

namespace {

void check_node_arrays(const py::object& nodes, const py::object& tree_start, const py::object& category_sets,
                       index_t n_features) {
  check_trees(view_trees(nodes, tree_start, category_sets, n_features));
}

py::array_t<double> score_trees(const py::object& features, const py::object& nodes, const py::object& tree_start,
                                const py::object& category_sets, index_t n_features, int n_threads) {
  const TreesView trees = view_trees(nodes, tree_start, category_sets, n_features);
  return scores_of(features, n_threads,
                   [&](const auto& x, double* to, Team& team) { tree_scores(trees, x, to, team); });
}

}  // namespace

void bind_trees(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(TreeNode, threshold, split, left, cover, gain);
  module.def("check_trees", &check_node_arrays, py::arg("nodes"), py::arg("tree_start"), py::arg("category_sets"),
             py::kw_only(), py::arg("n_features"));
  module.def("tree_scores", &score_trees, py::arg("matrix"), py::arg("nodes"), py::arg("tree_start"),
             py::arg("category_sets"), py::kw_only(), py::arg("n_features"), py::arg("n_threads"));
}

}  // namespace fastpu
