// The rows of a tree that is grown on gradients: which of them are in a node, and the sums that its splits are found
// by.
//
// The steps of growing are apart (start, add_histogram, partition, leaf_sums), and all that they add up are whole
// numbers: of rows that several holders have between them, each can add up its own, and the sums of all are the same
// bits however the rows are shared out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "tree/newton_kernels.hpp"
#include "tree/pu_rows.hpp"
#include "tree/split_search.hpp"

namespace fastpu::detail {

// The place of a node's rows in the list of all.
struct NewtonRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  std::uint32_t n_rows() const { return end - first; }
};

// A sum of words is what a split knows of its left side.
using NewtonSplit = Split<std::uint64_t>;

// What the rows of a tree are: g and h of every row of the features, and, ascending, those that take part.
struct NewtonGradients {
  const double* g = nullptr;
  const double* h = nullptr;
  const std::vector<std::uint32_t>* rows = nullptr;
};

// Sums of g and h over a leaf.
struct LeafSums {
  double g = 0;
  double h = 0;
};

class NewtonRows {
 public:
  // `weights` are those of the rows, or null for 1: a row counts as so many. At most n_workers are at work at once.
  NewtonRows(const TreeFeatures& features, const double* weights, Isa isa, Team& team, int n_workers);

  // Takes the rows of a tree, and those features, ascending, that it may split.
  NewtonRange start(const NewtonGradients& gradients, const std::vector<std::uint32_t>& features);
  // Those of the features that may leave `least` rows on both sides of a split. Of sparse features most may not: one
  // side holds only rows with an entry.
  std::vector<std::uint32_t> splittable(const std::vector<std::uint32_t>& features,
                                        const std::vector<std::uint32_t>& rows, double least) const;

  // Words of a histogram, and where the bins of a feature begin in it.
  index_t histogram_size() const { return has_bytes_ ? binned_.n_features * kByteBins : binned_.total_bins(); }
  index_t first_bin(index_t feature) const { return has_bytes_ ? feature * kByteBins : binned_.first_bin(feature); }
  // Sets the histogram of a node; bins of features that the tree may not split are not to be used.
  void set_histogram(const NewtonRange& node, std::uint64_t* histogram);
  // The sum of the words of all rows.
  std::uint64_t total() const { return total_; }
  double g_unit() const { return 1.0 / g_scale_; }
  double h_unit() const { return 1.0 / h_scale_; }

  // Counts of the rows of a node by the code that they have of a feature.
  void count_codes(const NewtonRange& node, std::uint32_t feature, std::vector<double>& counts);
  // Whether both sides of a split have so many rows.
  bool has_rows_on_both_sides(const NewtonRange& node, const NewtonSplit& split, double n);
  // Brings the rows that go left to the front of the node's place, both sides in their order; returns the left side.
  NewtonRange partition(const NewtonRange& node, const NewtonSplit& split);

  LeafSums leaf_sums(const NewtonRange& node) const;
  void add(const NewtonRange& node, double value, double* scores) const;

  // Takes further rows, ascending, to be taken down a tree with partition(). The place of the rows of the tree is lost.
  NewtonRange take(const std::vector<std::uint32_t>& rows);

 private:
  template <class Code>
  void add_dense(const NewtonRange& node, std::uint64_t* histogram, int n_workers);
  void add_sparse(const NewtonRange& node, std::uint64_t* histogram) const;
  void make_words(const NewtonGradients& gradients);
  template <class Body>
  auto with_codes(const NewtonRange& node, std::uint32_t feature, Body&& body);
  template <class Body>
  auto with_sides(const NewtonRange& node, const NewtonSplit& split, Body&& body);
  double weight(std::uint32_t row) const { return weights_ == nullptr ? 1.0 : weights_[row]; }
  int workers(index_t work) const;

  const BinnedFeatures& binned_;
  bool has_bytes_;
  const double* weights_;
  bool are_repetitions_ = false;  // the weights: whole numbers of no great sum
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  NewtonGradients gradients_;
  double g_scale_ = 1;
  double h_scale_ = 1;
  std::uint64_t total_ = 0;
  AlignedBuffer<std::uint64_t> words_;
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> other_;  // scratch of partition
  std::vector<std::uint32_t> features_;
  std::vector<index_t> first_bin_;                 // beside them
  std::vector<std::vector<std::uint64_t>> parts_;  // histograms of the workers but the first
  std::vector<std::uint32_t> codes_;               // of sparse features: those of one, for the rows of a node
  std::vector<std::uint32_t> feature_of_bin_;      // of sparse rows
};

}  // namespace fastpu::detail
