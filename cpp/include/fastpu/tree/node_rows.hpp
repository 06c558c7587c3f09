// The rows of a tree that is grown on gradients, wherever they are: on this machine, or with several holders that have
// some of the rows each. Who grows the tree has no row; it asks for sums.
//
// All sums are of whole numbers. Those of several holders are added up, and are the same bits however the rows are
// shared out.
//
// Nodes have numbers: the root is 0, and those that are split give their children two consecutive ones, greater than
// all before. A histogram has for each bin of each feature the sum of the words of its rows
// (src/tree/newton_kernels.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// How the rows of a node are shared out to its children.
struct NodeSplit {
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;  // codes up to this one go left, but for that of missing values
  bool by_categories = false;
  bool missing_right = false;
  CategorySet left_codes;  // of a split by categories; code 0 stands for what is missing
};

// A node that is to be split into the children `left` and left + 1.
struct SplitOrder {
  std::uint32_t node = 0;
  std::uint32_t left = 0;
  NodeSplit split;
  bool wants_histogram = true;
};

// Counts of rows by weight, in whole units (CountUnit). They may stop at what is enough.
struct SideCounts {
  index_t left = 0;
  index_t right = 0;
};

// What came of a split.
struct SplitRows {
  SideCounts counts;  // where one of them is not enough, the rest may not be set, and the node is as it was
  index_t n_left = 0;
  index_t n_right = 0;
  bool is_left = true;  // the histogram that was written is that of the left child, not the right one
};

struct TreeRoot {
  index_t n_rows = 0;
  std::uint64_t sum = 0;  // of their words
};

// Of the rows of a leaf, in units 2^-31 of those of the words.
struct LeafSums {
  std::int64_t g = 0;
  std::int64_t h = 0;
};

// The least and the greatest score of the rows of a leaf, of N, of U and of P; infinite where it has none of them.
struct LeafScores {
  std::array<double, 3> least{kInfinity, kInfinity, kInfinity};
  std::array<double, 3> greatest{-kInfinity, -kInfinity, -kInfinity};
};

// How rows are counted by their weights: in units 1 / scale, and up to `enough`, what a leaf must have.
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
  // Counts of the rows of a node by the code that they have of a feature.
  virtual void count_codes(std::uint32_t node, std::uint32_t feature, std::vector<index_t>& counts) = 0;
  // Where a question takes time, whatever it is, ask_ahead() is called before split(), with that split, unless it was
  // asked for before, and others that are likely to follow, all of them of leaves: one answer has them all. Those that
  // are not called for in the end are forgotten. If `leaves` are given, they are those of the tree after these splits,
  // and leaf_sums() is likely to be called for them. Others than the first are of nodes with at most so many rows;
  // below 0, nothing is asked ahead.
  virtual index_t most_rows_ahead() const { return -1; }
  virtual void ask_ahead(const std::vector<SplitOrder>& /*splits*/, const std::vector<std::uint32_t>& /*leaves*/) {}
  // Of all leaves of the tree.
  virtual std::vector<LeafSums> leaf_sums(const std::vector<std::uint32_t>& leaves) = 0;
  // Adds the value of its leaf to the score of every row, after leaf_sums of the same leaves.
  virtual void add(const std::vector<std::uint32_t>& leaves, const std::vector<double>& values) = 0;

 protected:
  NodeRows() = default;
};

}  // namespace fastpu
