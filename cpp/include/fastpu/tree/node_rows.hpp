// The rows of a tree that is grown on gradients, wherever they are: on this machine, or shared out over several holders
// (machines, processes). The code that grows the tree has no row; it asks for sums.
//
// All sums are of whole numbers, so that adding up the sums of several holders gives the same bits however the rows are
// shared out.
//
// Nodes have numbers: the root is 0, and a node that is split gives its children two consecutive numbers, greater than
// all before. A histogram has for each bin of each feature the sum of the words of its rows
// (src/tree/newton_kernels.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// Where the bins of the features are in a histogram: a feature whose codes are bytes has room for all of them.
class HistogramLayout {
 public:
  explicit HistogramLayout(const BinnedFeatures& features)
      : features_(features), has_bytes_(features.width == CodeWidth::one_byte) {}
  index_t size() const { return has_bytes_ ? features_.n_features * kByteBins : features_.total_bins(); }
  index_t first_bin(index_t feature) const { return has_bytes_ ? feature * kByteBins : features_.first_bin(feature); }

 private:
  const BinnedFeatures& features_;
  bool has_bytes_;
};

// Most bytes of the histograms that are kept at a time, of nodes that may be split later.
inline constexpr index_t kKeptHistogramBytes = index_t{1} << 27;

// Which rows of a node go to its left child.
struct NodeSplit {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  // rows whose code is at most the cut go left, but for those whose value is missing
  bool by_categories = false;
  bool missing_right = false;  // whether rows whose value is missing go right
  CategorySet left_codes;      // of a split by categories; code 0 stands for missing values
};

// The rows that go to each side, counted by their weights in the units of CountUnit. Counting may stop where a side has
// enough.
struct SideCounts {
  index_t left = 0;
  index_t right = 0;
};

struct SplitRows {
  SideCounts counts;  // where a side does not have enough, the node may be left as it was, and the rest unset
  index_t n_left = 0;
  index_t n_right = 0;
  bool is_left = true;  // whether the histogram that was written is that of the left child
};

struct TreeRoot {
  index_t n_rows = 0;
  std::uint64_t sum = 0;  // of the words of the rows
};

// Sums of g and h over the rows of a leaf, in units smaller than those of the words by the factor kLeafBits.
struct LeafSums {
  std::int64_t g = 0;
  std::int64_t h = 0;
};
inline constexpr double kLeafBits = 0x1p31;

// Rows are counted by their weights, in units of 1 / scale; a leaf must have `enough` units.
struct CountUnit {
  double scale = 1;
  index_t enough = 1;
};

class NodeRows {
 public:
  NodeRows(const NodeRows&) = delete;
  NodeRows& operator=(const NodeRows&) = delete;
  virtual ~NodeRows() = default;

  // Splits a node into the children `left` and left + 1, and writes the histogram of one of them, unless it is null.
  virtual SplitRows split(std::uint32_t node, std::uint32_t left, const NodeSplit& split, std::uint64_t* histogram) = 0;
  virtual void set_histogram(std::uint32_t node, std::uint64_t* histogram) = 0;
  virtual SideCounts count_sides(std::uint32_t node, const NodeSplit& split) = 0;
  // Counts the rows of a node by their code of a feature.
  virtual void count_codes(std::uint32_t node, std::uint32_t feature, std::vector<index_t>& counts) = 0;
  // `leaves` are all leaves of the tree.
  virtual std::vector<LeafSums> leaf_sums(const std::vector<std::uint32_t>& leaves) = 0;
  // Adds the value of its leaf to the score of every row, after leaf_sums() of the same leaves.
  virtual void add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) = 0;

 protected:
  NodeRows() = default;
};

}  // namespace fastpu
