// A tree as it is grown, node by node, and the splits that are made in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/node_rows.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu::detail {

// Of splits whose gains agree to this, relative to the larger one, the first one wins.
inline constexpr double kGainTie = 1e-12;

// The best split that a search has found. Sums is the type of what is known of the rows of a node.
template <class Sums>
struct Split : NodeSplit {
  bool exists = false;
  double gain = 0;
  Sums left{};  // of the rows that go left
};

// What is taken off the gain of a split by n categories, in multiples of what a single cut gains on average by chance.
// If a feature tells nothing, the best set of its categories gains up to n - 1 times as much as a single cut, and the
// best cut of a numeric feature 4 to 5 times as much.
inline double excess_categories(std::size_t n) {
  constexpr std::size_t kLikeNumbers = 5;
  return static_cast<double>(std::max(n, kLikeNumbers) - kLikeNumbers);
}

// The same for splits that send one of n categories left, where a number has a single cut: the best of them gains by
// chance from log n to 2 log n times as much. What is taken off is log2 n, rounded down.
inline double excess_of_one(std::size_t n) { return static_cast<double>(std::bit_width(n)) - 1.0; }

// Where the codes go that are no category of a node.
struct OtherCodes {
  bool missing_right = false;  // code 0
  bool unmet_right = false;    // categories that no row of the node has
};

// The codes that go left where the first n_left of a node's categories do.
template <class Category>
CategorySet codes_to_left(const std::vector<Category>& categories, std::size_t n_left, const OtherCodes& others) {
  CategorySet codes;
  if (!others.unmet_right) codes.words.fill(~std::uint64_t{0});
  others.missing_right ? codes.remove(0) : codes.add(0);
  for (std::size_t i = 0; i < categories.size(); ++i) {
    if (i < n_left) {
      codes.add(categories[i].code);
    } else {
      codes.remove(categories[i].code);
    }
  }
  return codes;
}

// The same where a single category goes left.
template <class Category>
CategorySet one_code_to_left(const std::vector<Category>& categories, std::size_t one, const OtherCodes& others) {
  CategorySet codes = codes_to_left(categories, 0, others);
  codes.add(categories[one].code);
  return codes;
}

// Calls body(goes_left), where goes_left(code) says whether a split sends rows of this code of its feature left.
template <class Code, class Body>
auto with_sides(const NodeSplit& split, Body&& body) {
  if (split.by_categories) return body([&split](Code code) { return split.left_codes.has(code); });
  const Code shift = split.missing_right ? 1 : 0;  // as an unsigned number, code 0 less 1 is the largest of all
  const Code most = static_cast<Code>(split.cut - shift);
  return body([=](Code code) { return static_cast<Code>(code - shift) <= most; });
}

// The threshold of a split by categories is the number of its set in `sets`.
struct GrownTree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> cuts;  // for every node: the cut of a split by a threshold, else 0
  std::vector<CategorySet> sets;    // of codes: code 0 is missing, v + 1 category v
  index_t depth = 0;

  index_t n_leaves() const { return (static_cast<index_t>(nodes.size()) + 1) / 2; }

  // Adds a leaf of value 0 that `cover` training rows reach, and returns its number.
  std::size_t add_node(std::uint32_t cover) {
    reserve_more(nodes, 1, "the nodes of a tree");
    reserve_more(cuts, 1, "the nodes of a tree");
    nodes.push_back({0.0, 0, 0, cover, 0.0F});
    cuts.push_back(0);
    return nodes.size() - 1;
  }

  // Splits a leaf; its children are the nodes `left` and left + 1.
  template <class Sums>
  void split_leaf(std::size_t leaf, const Split<Sums>& split, std::size_t left, const Cuts& cuts_of_features) {
    TreeNode& node = nodes[leaf];
    node.split = 4 * split.feature + (split.by_categories ? 2U : 0U) + (split.missing_right ? 1U : 0U);
    node.gain = static_cast<float>(std::clamp<double>(split.gain, 0.0, std::numeric_limits<float>::max()));
    node.left = static_cast<std::int32_t>(left);
    if (split.by_categories) {
      node.threshold = static_cast<double>(sets.size());
      sets.push_back(split.left_codes);
    } else {
      node.threshold = cuts_of_features.of(split.feature)[split.cut];
      cuts[leaf] = split.cut;
    }
  }
};

// Brings the nodes of a tree whose children lie side by side, but in any order, into the order of TreeNode, and the
// sets into the order of their nodes.
void order_by_breadth(GrownTree& tree);

// Adds a tree to those of a model, whose first set of categories has the number first_set. Where no training row has a
// missing value of a feature, later rows may: they follow the larger part of the training rows at each node, as their
// value tells nothing.
void append_tree(const GrownTree& tree, const Cuts& cuts, index_t first_set, Trees& trees);

}  // namespace fastpu::detail
