#include "tree/grown_tree.hpp"

#include <utility>

namespace fastpu::detail {

namespace {

constexpr const char* kNodes = "the nodes of a tree";

// A set of codes as the set of their categories; 255, which is no category, is on the side of missing values.
CategorySet categories_of_codes(const CategorySet& codes) {
  CategorySet categories;
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (codes.has((v + 1) % 256)) categories.add(v);
  }
  return categories;
}

}  // namespace

void order_by_breadth(GrownTree& tree) {
  const std::size_t n = tree.nodes.size();
  const auto n_nodes = static_cast<index_t>(n);
  auto from = reserve_vector<std::uint32_t>(n_nodes, kNodes);
  from.push_back(0);
  GrownTree ordered;
  ordered.nodes = reserve_vector<TreeNode>(n_nodes, kNodes);
  ordered.cuts = reserve_vector<std::uint32_t>(n_nodes, kNodes);
  for (std::size_t i = 0; i < n; ++i) {
    TreeNode node = tree.nodes[from[i]];
    if (!node.is_leaf()) {
      const auto left = static_cast<std::uint32_t>(node.left);
      node.left = static_cast<std::int32_t>(from.size());
      from.push_back(left);
      from.push_back(left + 1);
      if (node.by_categories()) {
        ordered.sets.push_back(tree.sets[static_cast<std::size_t>(node.threshold)]);
        node.threshold = static_cast<double>(ordered.sets.size() - 1);
      }
    }
    ordered.nodes.push_back(node);
    ordered.cuts.push_back(tree.cuts[from[i]]);
  }
  ordered.depth = tree.depth;
  tree = std::move(ordered);
}

void append_tree(const GrownTree& tree, const Cuts& cuts, index_t first_set, Trees& trees) {
  const auto n_sets = static_cast<double>(first_set + static_cast<index_t>(trees.sets.size()));
  reserve_more(trees.nodes, std::ssize(tree.nodes), kNodes);
  for (TreeNode node : tree.nodes) {
    if (node.by_categories()) {
      node.threshold += n_sets;
    } else if (!node.is_leaf() && !cuts.has_missing(node.feature())) {
      const auto left = static_cast<std::size_t>(node.left);
      node.set_missing_right(tree.nodes[left + 1].cover > tree.nodes[left].cover);
    }
    trees.nodes.push_back(node);
  }
  trees.tree_start.push_back(static_cast<index_t>(trees.nodes.size()));
  for (const CategorySet& codes : tree.sets) trees.sets.push_back(categories_of_codes(codes));
}

}  // namespace fastpu::detail
