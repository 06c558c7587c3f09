#include "fastpu/tree/tree_nodes.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu {

namespace {

[[noreturn]] void refuse(index_t node, const std::string& why) {
  throw std::invalid_argument("not valid trees: node " + std::to_string(node) + " " + why);
}

enum class FeatureKind : std::uint8_t { unknown, numeric, categorical };

void check_split(const TreesView& trees, index_t number, std::vector<FeatureKind>& kinds) {
  const TreeNode& node = trees.nodes[number];
  if (node.feature() >= trees.n_features) {
    refuse(number, "splits feature " + std::to_string(node.feature()) + " of " + std::to_string(trees.n_features));
  }
  const double threshold = node.threshold;
  if (std::isnan(threshold)) refuse(number, "has the threshold NaN");
  if (node.by_categories() &&
      (threshold < 0 || threshold >= static_cast<double>(trees.n_sets) || std::floor(threshold) != threshold)) {
    refuse(number, "has the set of categories " + std::to_string(threshold) + " of " + std::to_string(trees.n_sets));
  }
  if (!node.by_categories() && node.missing_right() && threshold == -kInfinity) {
    refuse(number, "has no value that goes left");
  }
  const auto kind = node.by_categories() ? FeatureKind::categorical : FeatureKind::numeric;
  FeatureKind& known = kinds[at(node.feature())];
  if (known != FeatureKind::unknown && known != kind) {
    refuse(number, "splits feature " + std::to_string(node.feature()) + " unlike the others: by " +
                       (node.by_categories() ? "categories" : "a threshold"));
  }
  known = kind;
}

void check_tree(const TreesView& trees, index_t first, index_t end, std::vector<FeatureKind>& kinds) {
  index_t next_child = 1;
  for (index_t number = first; number < end; ++number) {
    const TreeNode& node = trees.nodes[number];
    if (!(node.gain >= 0) || std::isinf(node.gain)) refuse(number, "has a gain that is no finite number >= 0");
    if (node.is_leaf()) {
      if (node.split != 0 || node.gain != 0) refuse(number, "is a leaf that splits");
      if (!std::isfinite(node.threshold)) refuse(number, "is a leaf of a value that is not finite");
      continue;
    }
    if (node.left != next_child || next_child <= number - first || next_child + 1 >= end - first) {
      refuse(number, "has the left child " + std::to_string(node.left) + " in a tree of " +
                         std::to_string(end - first) + " nodes, where " + std::to_string(next_child) + " is next");
    }
    next_child += 2;
    check_split(trees, number, kinds);
  }
  if (next_child != end - first) {
    refuse(first + next_child, "and those after it in its tree are no children of any node");
  }
}

}  // namespace

void check_trees(const TreesView& trees) {
  if (trees.n_features < 1 || trees.n_features > kMostTreeFeatures) {
    throw std::invalid_argument("not valid trees: they have " + std::to_string(trees.n_features) + " features");
  }
  if (trees.tree_start[0] != 0 || trees.tree_start[trees.n_trees] != trees.n_nodes) {
    throw std::invalid_argument("not valid trees: their starts run from " + std::to_string(trees.tree_start[0]) +
                                " to " + std::to_string(trees.tree_start[trees.n_trees]) + ", not from 0 to " +
                                std::to_string(trees.n_nodes));
  }
  for (index_t t = 0; t < trees.n_trees; ++t) {
    if (trees.tree_start[t] < trees.tree_start[t + 1]) continue;
    throw std::invalid_argument("not valid trees: tree " + std::to_string(t) + " has no node");
  }
  auto kinds = make_vector<FeatureKind>(trees.n_features, "the kinds of the features");
  for (index_t t = 0; t < trees.n_trees; ++t) {
    const index_t first = trees.tree_start[t];
    const index_t end = trees.tree_start[t + 1];
    if (end - first > std::numeric_limits<std::int32_t>::max()) refuse(first, "begins a tree of too many nodes");
    check_tree(trees, first, end, kinds);
  }
}

}  // namespace fastpu
