// The rows of a tree that is grown on gradients: which of them are in a node, and the sums that its splits are found
// by.
//
// The steps of growing are apart (start, add_histogram, partition, leaf_sums), and all that they add up are whole
// numbers: of rows that several holders have between them, each can add up its own, and the sums of all are the same
// bits however the rows are shared out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/node_rows.hpp"
#include "tree/newton_kernels.hpp"
#include "tree/pu_rows.hpp"

namespace fastpu::detail {

// The place of a node's rows in the list of all.
struct NewtonRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  std::uint32_t n_rows() const { return end - first; }
};

// Most rows whose words can be summed by one holder.
inline constexpr index_t kMostNewtonRows = ((index_t{1} << 31) - 1) / 4;
// The units of the sums of leaves are smaller than those of words by this factor.
inline constexpr double kLeafBits = 0x1p31;

// The largest power of two that keeps sums of n numbers, rounded one by one, within 31 bits after so many halvings,
// where their sum is at most `most`.
double newton_scale(double most, double n, int halvings);

// What the rows of a tree are: g and h of every row of the features, by what scale and in which way they are rounded,
// and, ascending, those that take part.
struct NewtonGradients {
  const double* g = nullptr;
  const double* h = nullptr;
  double g_scale = 1;
  double h_scale = 1;
  int halvings = 0;              // of the sums over all holders of rows
  bool are_repetitions = false;  // the weights: whole numbers of no great sum
  CountUnit unit;
  const std::vector<std::uint32_t>* rows = nullptr;
};

// Where the bins of a feature are in a histogram.
class HistogramPlaces {
 public:
  explicit HistogramPlaces(const BinnedFeatures& binned)
      : binned_(binned), has_bytes_(binned.width == CodeWidth::one_byte) {}
  index_t size() const { return has_bytes_ ? binned_.n_features * kByteBins : binned_.total_bins(); }
  index_t first_bin(index_t feature) const { return has_bytes_ ? feature * kByteBins : binned_.first_bin(feature); }

 private:
  const BinnedFeatures& binned_;
  bool has_bytes_;
};

class NewtonRows {
 public:
  // `weights` are those of the rows, or null for 1: a row counts as so many. At most n_workers are at work at once.
  NewtonRows(const TreeFeatures& features, const double* weights, Isa isa, Team& team, int n_workers);

  // Takes the rows of a tree, and those features, ascending, that it may split.
  NewtonRange start(const NewtonGradients& gradients, const std::vector<std::uint32_t>& features);
  // For every feature of sparse rows the count of those that have an entry.
  std::vector<index_t> count_entries(const std::vector<std::uint32_t>& rows, const CountUnit& unit) const;

  // Sets the histogram of a node; bins of features that the tree may not split are not to be used.
  void set_histogram(const NewtonRange& node, std::uint64_t* histogram);
  index_t histogram_size() const { return places_.size(); }
  // The sum of the words of all rows.
  std::uint64_t total() const { return total_; }
  const CountUnit& unit() const { return gradients_.unit; }

  // Counts of the rows of a node by the code that they have of a feature.
  void count_codes(const NewtonRange& node, std::uint32_t feature, std::vector<index_t>& counts);
  // Counts of the rows on both sides, up to what is enough.
  SideCounts count_sides(const NewtonRange& node, const NodeSplit& split);
  // Brings the rows that go left to the front of the node's place, both sides in their order; returns the left side.
  NewtonRange partition(const NewtonRange& node, const NodeSplit& split);

  // Says in which leaf each of the rows is: in that of the given range.
  void set_leaves(const std::vector<NewtonRange>& leaves);
  std::vector<LeafSums> leaf_sums() const;
  std::vector<LeafScores> leaf_scores(const double* scores, const std::int8_t* labels) const;
  // Adds the value of its leaf to the score of each row.
  void add(const std::vector<double>& values, double* scores) const;

  // Takes rows, ascending, which outlive their use here, to be taken down a tree with partition(). The place of those
  // that were there before is lost.
  NewtonRange take(const std::vector<std::uint32_t>& rows);

 private:
  template <class Code>
  void add_dense(const NewtonRange& node, std::uint64_t* histogram, int n_workers);
  void add_sparse(const NewtonRange& node, std::uint64_t* histogram) const;
  void make_words();
  void check_own_sums() const;
  template <class Body>
  auto with_codes(const NewtonRange& node, std::uint32_t feature, Body&& body);
  template <class Body>
  auto with_sides(const NewtonRange& node, const NodeSplit& split, Body&& body);
  // What a row counts: its weight, cut off at what is enough, so that no sum overflows.
  index_t count(std::uint32_t row, const CountUnit& unit) const {
    const double size = weights_ == nullptr ? unit.scale : weights_[row] * unit.scale;
    return static_cast<index_t>(std::min(size + 0.5, static_cast<double>(unit.enough)));
  }
  int workers(index_t work) const;
  template <class Body>
  void for_taken(index_t work, Body&& body) const;

  const BinnedFeatures& binned_;
  HistogramPlaces places_;
  const double* weights_;
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  NewtonGradients gradients_;
  std::uint64_t total_ = 0;
  AlignedBuffer<std::uint64_t> words_;
  std::vector<std::uint32_t> list_;
  const std::vector<std::uint32_t>* taken_ = nullptr;  // the same rows, ascending
  std::vector<std::uint32_t> other_;                   // scratch of partition; then the leaf of each row
  std::size_t n_leaves_ = 0;
  std::vector<std::uint32_t> features_;
  std::vector<index_t> first_bin_;                 // beside them
  std::vector<std::vector<std::uint64_t>> parts_;  // histograms of the workers but the first
  std::vector<std::uint32_t> codes_;               // of sparse features: those of one, for the rows of a node
  std::vector<std::uint32_t> feature_of_bin_;      // of sparse rows
};

}  // namespace fastpu::detail
