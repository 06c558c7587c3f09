// How trees cross between Python and the core.
#pragma once

#include <vector>

#include "common/arguments.hpp"
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
  if (!py::isinstance<Array<std::uint64_t>>(array)) throw py::type_error("category_sets has the wrong type");
  const auto rows = py::reinterpret_borrow<Array<std::uint64_t>>(array);
  if (rows.ndim() != 2 || rows.shape(1) != 4) throw py::value_error("category_sets must be rows of four words");
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

}  // namespace fastpu
