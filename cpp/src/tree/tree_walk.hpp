// Sends rows of codes down trees. The rows of a block go together: at every node they are split into those that go left
// and those that go right, so that a node and the column of its feature are read once for many rows.
//
// A row goes left where its code is at most the node's cut. Where missing values go right, code 0 stands for them
// alone. Codes lie in columns, one for each feature.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"
#include "tree/code_kernels.hpp"
#include "tree/split_list.hpp"

namespace fastpu::detail {

// Most rows of a block: their numbers have two bytes. Blocks begin at multiples of 64 rows.
inline constexpr index_t kMostBlockRows = 65536;

// The rows of a block that go down a tree, a bit for each, and scratch.
class WalkedRows {
 public:
  // Returns the words that have the bits of n rows, for the caller to fill.
  std::uint64_t* words(index_t n) {
    n_words_ = count_blocks(n, 64);
    sets_.resize(std::max(sets_.size(), at(n_words_)));
    for (auto& list : lists_) list.resize(std::max(list.size(), at(n + kPastList)));
    return sets_.data();
  }
  void fill(index_t n) {
    std::uint64_t* words_of_rows = words(n);
    std::fill_n(words_of_rows, n_words_, ~std::uint64_t{0});
    clear_from(n);
  }
  // Takes out the rows from n on.
  void clear_from(index_t n) {
    if (n % 64 != 0) sets_[at(n / 64)] &= ~(~std::uint64_t{0} << static_cast<unsigned>(n % 64));
  }

 private:
  friend class WalkTrees;
  // The words of a set of rows. Set 0 has the rows that go down the tree, the others are scratch.
  std::uint64_t* set(std::size_t number) {
    const auto n = at(n_words_);
    if (sets_.size() < (number + 1) * n) sets_.resize(2 * (number + 1) * n);
    return sets_.data() + number * n;
  }

  index_t n_words_ = 0;
  std::vector<std::uint64_t> sets_;
  std::array<std::vector<std::uint16_t>, 2> lists_;
};

class WalkTrees {
 public:
  explicit WalkTrees(Isa isa) : kernels_(code_kernels(isa)) {}

  // Adds a tree of n nodes. column_of(node) is the column that has the codes of its feature, cut_of(k) the CodeCut of
  // node k, and left_codes(node) the codes that go left where it splits by categories.
  template <class ColumnOf, class CutOf, class LeftCodes>
  void add(const TreeNode* nodes, index_t n, ColumnOf&& column_of, CutOf&& cut_of, LeftCodes&& left_codes) {
    tree_start_.push_back(static_cast<index_t>(nodes_.size()));
    const std::size_t n_sets = sets_.size();
    reserve_more(nodes_, n, "the nodes of the trees");
    for (index_t k = 0; k < n; ++k) {
      const TreeNode& node = nodes[k];
      Node walked;
      walked.left = static_cast<std::uint32_t>(node.left);
      if (node.is_leaf()) {
        walked.value = node.threshold;
      } else {
        walked.column = static_cast<std::uint32_t>(column_of(node));
        if (node.by_categories()) {
          walked.cut = {static_cast<std::uint32_t>(sets_.size()), kBySet};
          sets_.push_back(left_codes(node));
        } else {
          const CodeCut cut = cut_of(k);
          const std::uint32_t shift = cut.missing_right ? 1 : 0;
          walked.cut = {static_cast<std::uint32_t>(cut.cut) - shift, shift};
        }
      }
      nodes_.push_back(walked);
    }
    const bool is_small = n <= kSmallTree && sets_.size() == n_sets;
    first_value_.push_back(is_small ? static_cast<index_t>(values_.size()) : kNotSmall);
    if (is_small) add_values_of_leaves(nodes_.data() + tree_start_.back(), n);
  }

  index_t n_trees() const { return static_cast<index_t>(tree_start_.size()); }

  // Sends rows of a block of n down tree t, and perhaps down some of the next trees before `end`, and adds the values
  // of these trees to the rows' scores, in order. Returns the first tree that was not done.
  template <class Code>
  index_t add_values(index_t t, index_t end, const Code* columns, index_t stride, WalkedRows& rows, index_t n,
                     double* scores) const {
    if constexpr (sizeof(Code) <= 2) {
      SmallTree small[kTreesAtOnce];
      index_t n_small = 0;
      for (; t < end && n_small < kTreesAtOnce && first_value_[at(t)] != kNotSmall; ++t, ++n_small) {
        small[n_small] = {nodes_.data() + tree_start_[at(t)], n_nodes(t), values_.data() + first_value_[at(t)]};
      }
      if (n_small > 0) {
        kernels_.template of<Code>().add_small_trees(small, n_small, columns, stride, n, rows.set(0), scores);
        return t;
      }
    }
    walk(t, columns, stride, rows, [scores](std::uint16_t row, double value) { scores[row] += value; });
    return t + 1;
  }

 private:
  // Sends the rows down tree t, and calls add(row, value of its leaf) for each. Row r of column c has the code
  // columns[c * stride + r]; codes up to a multiple of 64 rows can be read. Nodes that many of the rows reach split
  // them as sets of bits, many rows at a time; the others split them as lists.
  template <class Code, class Add>
  void walk(index_t t, const Code* columns, index_t stride, WalkedRows& rows, Add&& add) const {
    const Node* tree = nodes_.data() + tree_start_[at(t)];
    const auto n_words = rows.n_words_;
    std::vector<WaitingSet> waiting{{0, count_bits(rows.set(0), n_words)}};
    rows.set(1);
    while (!waiting.empty()) {
      const WaitingSet part = waiting.back();
      waiting.pop_back();
      const std::size_t number = waiting.size();
      const Node& node = tree[part.node];
      if (node.left == 0) {
        for_bits(rows.set(number), n_words, [&](std::uint16_t row) { add(row, node.value); });
        continue;
      }
      if constexpr (sizeof(Code) <= 2) {
        if (part.n_rows * kernels_.rows_per_listed > 64 * n_words && node.cut.shift != kBySet) {
          std::uint64_t* left = rows.set(number + 1);  // first: it may move the others
          std::uint64_t* set = rows.set(number);
          const index_t n_left = kernels_.template of<Code>().split_bits(
              columns + static_cast<index_t>(node.column) * stride, static_cast<Code>(node.cut.shift),
              static_cast<Code>(node.cut.most), n_words, set, left, set);
          waiting.push_back({node.left + 1, part.n_rows - n_left});
          waiting.push_back({node.left, n_left});
          continue;
        }
      }
      const std::uint32_t n = kernels_.list_bits(rows.set(number), n_words, rows.lists_[0].data());
      walk_list(tree, {part.node, 0, n, 0}, columns, stride, rows, add);
    }
  }
  using Node = WalkedNode;
  static constexpr std::uint32_t kBySet = Node::kBySet;
  static constexpr index_t kNotSmall = -1;
  static constexpr index_t kTreesAtOnce = 128;

  index_t n_nodes(index_t t) const {
    return (t + 1 < n_trees() ? tree_start_[at(t) + 1] : static_cast<index_t>(nodes_.size())) - tree_start_[at(t)];
  }
  void add_values_of_leaves(const Node* tree, index_t n) {
    const index_t n_leaves = (n + 1) / 2;
    for (index_t k = 0; k < n; ++k) {
      if (tree[k].left == 0) values_.push_back(tree[k].value);
    }
    values_.resize(values_.size() + at(SmallTree::n_read(n_leaves) - n_leaves));
  }

  // Rows that wait at a node, at these places of one of the two lists.
  struct WaitingList {
    std::uint32_t node;
    std::uint32_t first;
    std::uint32_t end;
    std::uint32_t list;
  };
  // Rows that wait at a node as a set. Its number is that of the sets waiting before it.
  struct WaitingSet {
    std::uint32_t node;
    index_t n_rows;
  };

  static index_t count_bits(const std::uint64_t* words, index_t n_words) {
    index_t n = 0;
    for (index_t w = 0; w < n_words; ++w) n += std::popcount(words[w]);
    return n;
  }

  template <class Visit>
  static void for_bits(const std::uint64_t* words, index_t n_words, Visit&& visit) {
    for (index_t w = 0; w < n_words; ++w) {
      for (std::uint64_t word = words[w]; word != 0; word &= word - 1) {
        visit(static_cast<std::uint16_t>(64 * w + std::countr_zero(word)));
      }
    }
  }

  template <class Code, class Add>
  void walk_list(const Node* tree, WaitingList part, const Code* columns, index_t stride, WalkedRows& rows,
                 Add&& add) const {
    std::vector<WaitingList> waiting;
    while (true) {
      const Node& node = tree[part.node];
      std::uint16_t* list = rows.lists_[part.list].data() + part.first;
      const std::uint32_t n = part.end - part.first;
      if (node.left == 0 || n == 0) {
        for (std::uint32_t i = 0; i < n; ++i) add(list[i], node.value);
        if (waiting.empty()) return;
        part = waiting.back();
        waiting.pop_back();
        continue;
      }
      const Code* codes = columns + static_cast<index_t>(node.column) * stride;
      std::uint16_t* right = rows.lists_[1 - part.list].data() + part.first;
      const std::uint32_t middle = part.first + split_node(node, codes, list, n, right);
      if (middle < part.end) waiting.push_back({node.left + 1, middle, part.end, 1 - part.list});
      part = {node.left, part.first, middle, part.list};
    }
  }

  template <class Code>
  std::uint32_t split_node(const Node& node, const Code* codes, std::uint16_t* list, std::uint32_t n,
                           std::uint16_t* right) const {
    if (node.cut.shift == kBySet) {
      const CategorySet& set = sets_[node.cut.most];
      return split_list(list, n, list, right, [&](std::uint16_t row) { return set.has(codes[row]); });
    }
    const auto shift = static_cast<Code>(node.cut.shift);
    const auto most = static_cast<Code>(node.cut.most);
    return split_list(list, n, list, right,
                      [=](std::uint16_t row) { return static_cast<Code>(codes[row] - shift) <= most; });
  }

  const CodeKernels& kernels_;
  std::vector<Node> nodes_;
  std::vector<index_t> tree_start_;
  std::vector<index_t> first_value_;  // of each tree that kSmallTree allows, else kNotSmall
  std::vector<double> values_;        // of the leaves of these trees
  std::vector<CategorySet> sets_;
};

}  // namespace fastpu::detail
