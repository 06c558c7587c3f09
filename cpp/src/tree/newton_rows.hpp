// The rows of a tree that is grown on gradients, as far as one holder has them: which of them are in a node, and the
// sums that splits and leaf values are found by. All sums are of whole numbers, so that adding up those of several
// holders gives the same bits however the rows are shared out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/node_rows.hpp"
#include "tree/newton_kernels.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

// The rows of a node are those at the places [first, end) of a list of all rows, in ascending or descending order.
struct NewtonRange {
  const std::uint32_t* list = nullptr;
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  std::uint32_t n_rows() const { return end - first; }
};

// The largest sum that one half of a word can hold.
inline constexpr index_t kMostWordSum = (index_t{1} << 31) - 1;
// Most rows of one holder.
inline constexpr index_t kMostNewtonRows = kMostWordSum / 4;

// The largest power of two that n numbers with a sum of at most `most` can be multiplied by: each is then rounded to a
// whole number, and the sum of these, halved so many times, is at most kMostWordSum.
double newton_scale(double most, double n, int halvings);

// Writes g and h of n rows from number `first` on. They are computed anew wherever they are used: from memory they
// would take longer than from the scores, which are half as many numbers.
using DeriveRows = std::function<void(index_t first, index_t n, double* g, double* h)>;

// The gradients of all rows of the features, how they become words, and which rows the tree is grown on.
struct NewtonGradients {
  DeriveRows derive;
  double g_scale = 1;
  double h_scale = 1;
  int halvings = 0;     // how often the sums over all holders are halved to fit a word
  double repeated = 0;  // if > 0, rows are rounded as if each was a row of this weight, repeated
  CountUnit unit;
  const std::vector<std::uint32_t>* rows = nullptr;  // ascending
};

class NewtonRows {
 public:
  // `weights` are those of the rows, or null where all are 1. At most n_workers are at work at once.
  NewtonRows(const TreeFeatures& features, const double* weights, Team& team, int n_workers);

  // Begins a tree that may split the given features, ascending; returns the root.
  NewtonRange start(const NewtonGradients& gradients, const std::vector<std::uint32_t>& split_features);
  // For every sparse feature the count of the rows that have an entry.
  std::vector<index_t> count_entries(const std::vector<std::uint32_t>& rows, const CountUnit& unit) const;

  // Writes the histogram of a node. The bins of features that the tree may not split are not to be used.
  void set_histogram(const NewtonRange& node, std::uint64_t* histogram);
  index_t histogram_size() const { return layout_.size(); }
  // The sum of the words of all rows.
  std::uint64_t total() const { return total_; }
  const CountUnit& unit() const { return gradients_.unit; }

  // Counts the rows of a node by their code of a feature.
  void count_codes(const NewtonRange& node, std::uint32_t feature, std::vector<index_t>& counts);
  // Counts the rows on both sides of a split, until both have enough.
  SideCounts count_sides(const NewtonRange& node, const NodeSplit& split);
  // Lists the rows of a node that go left and those that go right. The list of the node itself stays as it is until one
  // of its children is split.
  std::pair<NewtonRange, NewtonRange> partition(const NewtonRange& node, const NodeSplit& split);

  // Tells which nodes are the leaves, for the functions below.
  void set_leaves(std::vector<NewtonRange> leaves) { leaves_ = std::move(leaves); }
  std::vector<LeafSums> leaf_sums() const;
  // Adds the value of its leaf to the score of each row.
  void add(const std::vector<double>& values, double* scores) const;

  // The root for rows, ascending, that are to be sent down the tree with partition(). The vector must live as long as
  // they are used.
  static NewtonRange root_of(const std::vector<std::uint32_t>& rows);

 private:
  template <class Add>
  void add_blocks(const NewtonRange& node, double row_work, std::uint64_t* histogram, Add&& add);
  template <class Code>
  void add_dense(const NewtonRange& node, std::uint64_t* histogram);
  void set_sparse(const NewtonRange& node, std::uint64_t* histogram);
  void make_words();
  void check_own_sums() const;
  template <class Body>
  auto with_codes(const NewtonRange& node, std::uint32_t feature, Body&& body);
  template <class Body>
  auto with_split(const NewtonRange& node, const NodeSplit& split, Body&& body);
  // The weight of a row in whole units, at most `enough`, so that no sum overflows.
  index_t count(std::uint32_t row, const CountUnit& unit) const {
    const double size = weights_ == nullptr ? unit.scale : weights_[row] * unit.scale;
    return static_cast<index_t>(std::min(size + 0.5, static_cast<double>(unit.enough)));
  }
  int workers(index_t work) const;
  template <class Begin, class Visit>
  void for_leaf_rows(Begin&& begin, Visit&& visit) const;

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  HistogramLayout layout_;
  const double* weights_;
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  NewtonGradients gradients_;
  std::uint64_t total_ = 0;
  AlignedBuffer<std::uint64_t> words_;
  std::vector<std::uint32_t>
      lists_[2];  // the rows of a node are in one of these, and those of its children in the other
  std::vector<NewtonRange> leaves_;
  std::vector<std::uint32_t> split_features_;
  std::vector<index_t> first_bin_;                 // of each of them
  std::vector<std::vector<std::uint64_t>> parts_;  // the histograms of the workers other than worker 0
  std::vector<std::uint32_t> codes_;               // of sparse features: the codes of one, for the rows of a node
};

}  // namespace fastpu::detail
