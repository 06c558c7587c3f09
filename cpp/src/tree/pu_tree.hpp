// Grows a tree on a bag of positive and unlabelled rows. Rows (PuDenseRows or PuSparseRows) know which of them are in a
// node and what their codes are, a criterion (pu_criterion.hpp) judges splits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_options.hpp"
#include "tree/grown_tree.hpp"
#include "tree/pu_rows.hpp"
#include "tree/pu_split_search.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

template <class Rows, class Criterion>
class PuTreeGrower {
 public:
  PuTreeGrower(const TreeFeatures& features, const PuTreeOptions& options, Rows& rows)
      : features_(features),
        options_(options),
        min_leaf_rows_(static_cast<std::uint32_t>(std::min(options.min_leaf_rows, kMaxRows))),
        rows_(rows) {}

  // `root` are the rows of the tree in `rows`, and all draws follow from `key`. Calls visit(n) for every node, n being
  // the number of its rows.
  template <class Visit>
  GrownTree grow(const PuRange& root, const Criterion& criterion, std::uint64_t key, Visit&& visit) {
    tree_ = {};
    open_.resize(1);
    open(open_[0], tree_.add_node(0), root.counts(), key, 0);
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
  // A node that was not searched for a split yet.
  struct OpenNode {
    std::size_t number = 0;
    index_t depth = 0;
    std::uint64_t key = 0;  // the seed of its draws
    PuRange rows;
    PuCounts counts;
  };
  struct Candidate {
    OpenNode node;
    PuSplit split;
  };

  void open(OpenNode& node, std::size_t number, const PuCounts& counts, std::uint64_t key, index_t depth) {
    node.number = number;
    node.depth = depth;
    node.key = key;
    node.counts = counts;
    tree_.nodes[number].cover = counts.rows();
    tree_.depth = std::max(tree_.depth, depth);
  }

  void set_leaf(const OpenNode& node, const Criterion& criterion) {
    tree_.nodes[node.number].threshold = criterion.value(node.counts);
  }

  // Splits the node and opens its children. `left` may be the node itself.
  void divide(const OpenNode& node, const PuSplit& split, OpenNode& left, OpenNode& right) {
    const std::size_t child = tree_.add_node(0);
    tree_.add_node(0);
    tree_.split_leaf(node.number, split, child, *features_.binned().cuts);
    rows_.partition(node.rows, split, left.rows, right.rows);
    open(right, child + 1, node.counts - split.left, Random::derived(node.key, 1), node.depth + 1);
    open(left, child, split.left, Random::derived(node.key, 0), node.depth + 1);
  }

  template <class Visit>
  void grow_depth_first(const Criterion& criterion, Visit&& visit) {
    while (!open_.empty()) {
      const OpenNode& node = open_.back();
      visit(node.counts.rows());
      find_split(node, criterion);
      if (!split_.exists) {
        set_leaf(node, criterion);
        open_.pop_back();
        continue;
      }
      open_.emplace_back();
      OpenNode& left = open_[open_.size() - 2];
      divide(left, split_, left, open_.back());
      // The larger child comes next: PuSparseRows derives its counts from those of the node.
      if (left.counts.rows() > open_.back().counts.rows()) std::swap(left, open_.back());
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
        visit(node.counts.rows());
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
    if (node.depth == options_.max_depth || node.counts.rows() < 2 * std::uint64_t{min_leaf_rows_} ||
        criterion.is_leaf(node.counts)) {
      return;
    }
    rows_.find_varying(node.rows, varying_);
    draw_features(node.key);
    PuSplitSearch<Criterion> search(criterion, min_leaf_rows_, node.counts, split_);
    if (options_.random_cuts) return offer_random_cuts(node, search);
    for (const DrawnFeature& d : drawn_) {
      rows_.count_codes(node.rows, d.feature, codes_);
      if (features_.is_categorical(d.feature)) {
        offer_all_categories(search, d.feature, codes_);
      } else {
        offer_all_cuts(search, d.feature, features_.can_be_missing(d.feature), codes_);
      }
    }
  }

  // Draws some of the varying features into drawn_, in random order. Leaves the list of varying features as it was.
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

  void offer_random_cuts(const OpenNode& node, PuSplitSearch<Criterion>& search) {
    cut_at_random();
    rows_.count_at_most(node.rows, drawn_);
    for (const DrawnFeature& d : drawn_) {
      const PuCounts missing = rows_.missing(d.feature);
      if (features_.is_categorical(d.feature)) {
        rows_.count_codes(node.rows, d.feature, codes_);
        offer_some_categories(search, d.feature, d.where, codes_);
      } else if (d.low == d.high) {
        search.offer_missing_alone(d.feature, missing);
      } else {
        search.offer_cut(d.feature, d.cut, d.at_most - missing, missing, features_.can_be_missing(d.feature));
      }
    }
  }

  // Sets each cut below the number that is drawn between the values of the lowest and the highest bin of the node's
  // rows.
  void cut_at_random() {
    for (DrawnFeature& d : drawn_) {
      d.low = rows_.low(d.feature);
      d.high = rows_.high(d.feature);
      d.cut = d.low;
      if (d.high <= d.low + 1) continue;
      const double value =
          (1.0 - d.where) * features_.bin_value(d.feature, d.low) + d.where * features_.bin_value(d.feature, d.high);
      d.cut = std::clamp(features_.bins_at_most(d.feature, value), d.low + 1, d.high) - 1;
    }
  }

  const TreeFeatures& features_;
  PuTreeOptions options_;
  std::uint32_t min_leaf_rows_;
  Rows& rows_;
  GrownTree tree_;
  std::vector<OpenNode> open_;
  PuSplit split_;
  std::vector<std::uint32_t> varying_;
  std::vector<std::size_t> other_;
  std::vector<DrawnFeature> drawn_;
  std::vector<CodeCounts> codes_;
};

}  // namespace fastpu::detail
