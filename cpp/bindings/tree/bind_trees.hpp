// How trees, and the rows that they are grown on, cross between Python and the core.
#pragma once

#include <vector>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// Sets of categories as rows of four words.
inline py::array_t<std::uint64_t> sets_to_array(const std::vector<CategorySet>& sets) {
  py::array_t<std::uint64_t> array({static_cast<py::ssize_t>(sets.size()), py::ssize_t{4}});
  std::uint64_t* to = array.mutable_data();
  for (const CategorySet& set : sets) to = std::copy(set.words.begin(), set.words.end(), to);
  return array;
}

// Their number, and a view of them.
inline index_t view_sets(const py::object& array, const CategorySet*& sets) {
  const auto rows = check_2d<std::uint64_t>(array, "category_sets");
  if (rows.shape(1) != 4) throw py::value_error("category_sets must be rows of four words");
  static_assert(sizeof(CategorySet) == 4 * sizeof(std::uint64_t));
  sets = reinterpret_cast<const CategorySet*>(rows.data());
  return rows.shape(0);
}

// Trees as a model holds them, viewed.
inline TreesView view_trees(const py::object& nodes, const py::object& tree_start, const py::object& category_sets,
                            index_t n_features) {
  TreesView trees;
  trees.nodes = view_1d<TreeNode>(nodes, "nodes");
  trees.n_nodes = static_cast<index_t>(py::len(nodes));
  trees.tree_start = view_1d<index_t>(tree_start, "tree_start");
  trees.n_trees = static_cast<index_t>(py::len(tree_start)) - 1;
  if (trees.n_trees < 0) throw py::value_error("tree_start must have an element more than there are trees");
  trees.n_sets = view_sets(category_sets, trees.sets);
  trees.n_features = n_features;
  return trees;
}

// A training set of binned features; labels are None where the rows are elsewhere.
template <class TrainingSet>
TrainingSet view_training_set(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                              const py::object& categorical, const py::object& clusters = py::none()) {
  TrainingSet train;
  train.features = &features;
  train.labels = view_or_null<std::int8_t>(labels, "labels", features.n_rows);
  train.sample_weight = view_or_null<double>(sample_weight, "sample_weight", features.n_rows);
  train.categorical = view_or_null<std::uint8_t>(categorical, "categorical", features.n_features);
  train.clusters = view_or_null<std::int32_t>(clusters, "clusters", features.n_rows);
  return train;
}

// A result with trees. The nodes are not copied: they are a read-only array that keeps the result alive.
template <class Result>
void bind_tree_result(const py::module_& module, const char* name) {
  auto bound = bind_result<Result>(module, name);
  bound.def_property_readonly("nodes", [](const py::object& result) {
    const auto& nodes = result.cast<const Fields<Result>&>().nodes;
    py::array_t<TreeNode> view(static_cast<py::ssize_t>(nodes.size()), nodes.data(), result);
    view.attr("setflags")(false);
    return view;
  });
  bound.def_property_readonly("category_sets", [](const Fields<Result>& result) { return sets_to_array(result.sets); });
}

}  // namespace fastpu
