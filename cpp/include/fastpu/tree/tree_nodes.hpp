// Trees as they are stored: the nodes of all trees one after the other, each tree in breadth-first order.
//
// A row goes left where its value is at most the threshold (or its category is in the node's set), else right. Values
// that count as missing, NaN and -inf, have their own side: the better one where training rows had some, else that of
// the larger part of the training rows at the node. Categories are the integers 0 to 254; any other value of a
// categorical feature is missing. A category that the node did not meet when it was grown follows the larger part of
// its training rows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

// A node of 24 bytes. The root is node 0 of its tree; the children of the k-th node that is split (k = 0, 1, ...) are
// nodes 2k + 1 and 2k + 2, as level after level is numbered from left to right.
struct TreeNode {
  double threshold;     // of a leaf: its value; of a split by categories: the number of its set
  std::uint32_t split;  // 4 feature + 2 (by categories) + 1 (missing values go right); 0 in a leaf
  std::int32_t left;    // number of the left child, the right one follows it; 0 in a leaf
  std::uint32_t cover;  // training rows of the tree that reached the node, repetitions counted
  float gain;           // what the split gained by the tree's criterion; 0 in a leaf

  bool is_leaf() const { return left == 0; }
  index_t feature() const { return split >> 2U; }
  bool by_categories() const { return (split & 2U) != 0; }
  bool missing_right() const { return (split & 1U) != 0; }
  void set_missing_right(bool right) { split = (split & ~1U) | (right ? 1U : 0U); }
};
static_assert(sizeof(TreeNode) == 24);

// Most features of a tree: TreeNode::split has 30 bits for their numbers.
inline constexpr index_t kMostTreeFeatures = index_t{1} << 30;

// A bit for each of 256 categories, or codes.
struct CategorySet {
  std::array<std::uint64_t, 4> words{};

  bool has(std::uint32_t member) const { return (words[member >> 6U] >> (member & 63U) & 1U) != 0; }
  void add(std::uint32_t member) { words[member >> 6U] |= std::uint64_t{1} << (member & 63U); }
  void add(const CategorySet& members) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= members.words[w];
  }
  void remove(std::uint32_t member) { words[member >> 6U] &= ~(std::uint64_t{1} << (member & 63U)); }
  friend bool operator==(const CategorySet&, const CategorySet&) = default;
};

// Trees owned by somebody else. Nodes of tree t: nodes[tree_start[t]] .. nodes[tree_start[t + 1] - 1].
struct TreesView {
  const TreeNode* nodes = nullptr;
  index_t n_nodes = 0;
  const index_t* tree_start = nullptr;
  index_t n_trees = 0;
  const CategorySet* sets = nullptr;
  index_t n_sets = 0;
  index_t n_features = 0;
};

// Trees and the memory that they lie in.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<index_t> tree_start{0};  // one more than there are trees
  std::vector<CategorySet> sets;
};

// For trees that come from outside: throws std::invalid_argument, saying what is wrong, unless the tree starts ascend
// from 0 to n_nodes, children are numbered as above (so that there is no cycle and no node out of range), the features,
// sets and values exist, and no feature is split both by a threshold and by categories.
void check_trees(const TreesView& trees);

}  // namespace fastpu
