// Grows one tree. Rows know which of them are in a node and what their codes are, a criterion judges splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"
#include "tree/pu_rows.hpp"
#include "tree/split_search.hpp"

namespace fastpu::detail {

struct GrowOptions {
  bool random_cuts = true;   // one cut at random of each drawn feature; else all of them
  index_t max_features = 1;  // so many of the features that differ within a node are drawn
  std::uint32_t min_leaf_rows = 1;
  index_t max_depth = -1;  // -1: any
  index_t max_leaves = 0;  // 0: any; else the split that gains most is made next
};

// A tree in breadth-first order. A split by categories has the number of its set in `sets` as its threshold.
struct GrownTree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> cuts;  // beside the nodes: the cut of a split by a threshold
  std::vector<CategorySet> sets;    // of codes: code 0 is missing, v + 1 category v
  index_t depth = 0;

  index_t n_leaves() const { return (static_cast<index_t>(nodes.size()) + 1) / 2; }
};

// A set of codes as the set of their categories; what is no category is on the side of missing values.
inline CategorySet categories_of_codes(const CategorySet& codes) {
  CategorySet categories;
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (codes.has((v + 1) % 256)) categories.add(v);
  }
  return categories;
}

// The children of every node in the list lie side by side, but in any order: brings the nodes into the order in which
// TreeNode numbers them, and the sets into the order of their nodes.
inline void order_by_breadth(GrownTree& tree) {
  const std::size_t n = tree.nodes.size();
  std::vector<std::uint32_t> from;
  from.reserve(n);
  from.push_back(0);
  GrownTree ordered;
  ordered.nodes.reserve(n);
  ordered.cuts.reserve(n);
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
  tree.nodes = std::move(ordered.nodes);
  tree.cuts = std::move(ordered.cuts);
  tree.sets = std::move(ordered.sets);
}

// The scratch of one worker, for tree after tree.
template <class Rows, class Criterion>
class TreeGrower {
 public:
  using Range = typename Rows::Range;     // NOLINT(readability-redundant-typename): clang before 16 wants it
  using Sums = typename Criterion::Sums;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  TreeGrower(const TreeFeatures& features, const GrowOptions& options, Rows& rows)
      : features_(features), options_(options), rows_(rows) {}

  // `root` are the rows of the tree, as `rows` knows them. `visit(n)` is called for every node of n rows.
  template <class Visit>
  GrownTree grow(const Range& root, const Criterion& criterion, std::uint64_t key, Visit&& visit) {
    tree_ = {};
    open_.resize(1);
    open(open_[0], add_node(), root.counts(), key, 0);
    open_[0].rows = root;
    if (options_.max_leaves > 0) {
      grow_best_first(criterion, visit);
    } else {
      grow_depth_first(criterion, visit);
    }
    order_by_breadth(tree_);
    return std::move(tree_);
  }

 private:
  // A node of which it is not known yet whether it is split.
  struct OpenNode {
    std::size_t number = 0;
    index_t depth = 0;
    std::uint64_t key = 0;  // the seed of its draws
    Range rows;
    Sums sums;
  };
  struct Candidate {
    OpenNode node;
    Split<Sums> split;
  };

  std::size_t add_node() {
    tree_.nodes.emplace_back();
    tree_.cuts.push_back(0);
    return tree_.nodes.size() - 1;
  }

  void open(OpenNode& node, std::size_t number, const Sums& sums, std::uint64_t key, index_t depth) {
    node.number = number;
    node.depth = depth;
    node.key = key;
    node.sums = sums;
    tree_.nodes[number].cover = sums.rows();
    tree_.depth = std::max(tree_.depth, depth);
  }

  void set_leaf(const OpenNode& node, const Criterion& criterion) {
    tree_.nodes[node.number].threshold = criterion.value(node.sums);
  }

  // Splits the node and opens its children; `left` may be the node itself.
  void divide(const OpenNode& node, const Split<Sums>& split, OpenNode& left, OpenNode& right) {
    const std::size_t child = add_node();
    add_node();
    TreeNode& stored = tree_.nodes[node.number];
    stored.split = 4 * split.feature + (split.by_categories ? 2U : 0U) + (split.missing_right ? 1U : 0U);
    stored.gain = static_cast<float>(std::max(split.gain, 0.0));
    stored.left = static_cast<std::int32_t>(child);
    if (split.by_categories) {
      stored.threshold = static_cast<double>(tree_.sets.size());
      tree_.sets.push_back(split.left_codes);
    } else {
      stored.threshold = features_.binned().cuts->of(split.feature)[split.cut];
      tree_.cuts[node.number] = split.cut;
    }
    rows_.partition(node.rows, split, left.rows, right.rows);
    open(right, child + 1, node.sums - split.left, Random::derived(node.key, 1), node.depth + 1);
    open(left, child, split.left, Random::derived(node.key, 0), node.depth + 1);
  }

  template <class Visit>
  void grow_depth_first(const Criterion& criterion, Visit&& visit) {
    while (!open_.empty()) {
      OpenNode& node = open_.back();  // NOLINT(misc-const-correctness): some kinds of rows settle by changing a range
      rows_.settle(node.rows);
      visit(node.sums.rows());
      find_split(node, criterion);
      if (!split_.exists) {
        set_leaf(node, criterion);
        open_.pop_back();
        continue;
      }
      open_.emplace_back();
      OpenNode& left = open_[open_.size() - 2];
      divide(left, split_, left, open_.back());
      // The larger child comes next, which can go on with the counts of the node.
      if (left.sums.rows() > open_.back().sums.rows()) std::swap(left, open_.back());
    }
  }

  template <class Visit>
  void grow_best_first(const Criterion& criterion, Visit&& visit) {
    std::vector<Candidate> heap;
    const auto is_later = [](const Candidate& a, const Candidate& b) {
      return a.split.gain != b.split.gain ? a.split.gain < b.split.gain : a.node.number > b.node.number;
    };
    index_t n_leaves = 1;
    while (true) {
      for (const OpenNode& node : open_) {
        visit(node.sums.rows());
        find_split(node, criterion);
        if (!split_.exists || n_leaves >= options_.max_leaves) {
          set_leaf(node, criterion);
        } else {
          heap.push_back({node, split_});
          std::ranges::push_heap(heap, is_later);
        }
      }
      open_.clear();
      if (heap.empty()) return;
      std::ranges::pop_heap(heap, is_later);
      const Candidate next = heap.back();
      heap.pop_back();
      if (n_leaves >= options_.max_leaves) {
        set_leaf(next.node, criterion);
        continue;
      }
      open_.resize(2);
      divide(next.node, next.split, open_[0], open_[1]);
      ++n_leaves;
    }
  }

  // Leaves the best split in split_.
  void find_split(const OpenNode& node, const Criterion& criterion) {
    split_.exists = false;
    if (node.depth == options_.max_depth || node.sums.rows() < 2 * std::uint64_t{options_.min_leaf_rows} ||
        criterion.is_leaf(node.sums)) {
      return;
    }
    rows_.find_varying(node.rows, varying_);
    draw_features(node.key);
    SplitSearch<Criterion> search(criterion, options_.min_leaf_rows, node.sums, split_);
    if (options_.random_cuts) return offer_random_cuts(node, search);
    for (const DrawnFeature& d : drawn_) {
      rows_.sum_codes(node.rows, d.feature, codes_);
      if (features_.is_categorical(d.feature)) {
        offer_all_categories(search, d.feature, codes_);
      } else {
        offer_all_cuts(search, d.feature, features_.can_be_missing(d.feature), codes_);
      }
    }
  }

  // Some of the varying features, in random order. Leaves the list of these as it was.
  void draw_features(std::uint64_t key) {
    Random random(Random::derived(key, 2));
    const std::size_t n = std::min(varying_.size(), static_cast<std::size_t>(options_.max_features));
    drawn_.resize(n);
    other_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      other_[i] = i + random.scaled(static_cast<std::uint32_t>(varying_.size() - i));
      std::swap(varying_[i], varying_[other_[i]]);
      drawn_[i].feature = varying_[i];
      drawn_[i].where = options_.random_cuts ? random.unit() : 0.0;
    }
    for (std::size_t i = n; i-- > 0;) std::swap(varying_[i], varying_[other_[i]]);
  }

  void offer_random_cuts(const OpenNode& node, SplitSearch<Criterion>& search) {
    for (DrawnFeature& d : drawn_) d.cut = random_cut(d);
    rows_.count_at_most(node.rows, drawn_);
    for (DrawnFeature& d : drawn_) d.gain = search.gain(d.at_most);  // all divisions, and then all comparisons
    for (const DrawnFeature& d : drawn_) {
      const Sums missing = rows_.missing(d.feature);
      if (features_.is_categorical(d.feature)) {
        rows_.sum_codes(node.rows, d.feature, codes_);
        offer_some_categories(search, d.feature, d.where, codes_);
      } else if (rows_.low(d.feature) == rows_.high(d.feature)) {
        search.offer_missing_alone(d.feature, missing);
      } else if (missing.rows() == 0) {
        search.offer_plain_cut(d.feature, d.cut, d.at_most, d.gain, features_.can_be_missing(d.feature));
      } else {
        search.offer_cut(d.feature, d.cut, d.at_most - missing, missing, true);
      }
    }
  }

  // The cut below a number between the values of the lowest and of the highest bin of the node's rows.
  std::uint32_t random_cut(const DrawnFeature& d) const {
    const std::uint32_t low = rows_.low(d.feature);
    const std::uint32_t high = rows_.high(d.feature);
    if (high <= low + 1) return low;
    const double drawn =
        (1.0 - d.where) * features_.bin_value(d.feature, low) + d.where * features_.bin_value(d.feature, high);
    const std::uint32_t n = features_.bins_at_most(d.feature, drawn);
    return std::clamp(n, low + 1, high) - 1;
  }

  const TreeFeatures& features_;
  GrowOptions options_;
  Rows& rows_;
  GrownTree tree_;
  std::vector<OpenNode> open_;
  Split<Sums> split_;
  std::vector<std::uint32_t> varying_;
  std::vector<std::size_t> other_;
  std::vector<DrawnFeature> drawn_;
  std::vector<CodeSums<Sums>> codes_;
};

}  // namespace fastpu::detail
