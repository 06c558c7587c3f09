// Grows trees on gradients, the split that gains most first (newton_search.hpp). With G and H the sums of g and h over
// the rows of a leaf, in finer units than those that splits are searched by, its value is -learning_rate G / (H + lam).
//
// Gains need no counts of rows, so the rows of a node are counted only when it is to be split. If one side has too few,
// the node is searched again, this time with counts, and waits with its new split: as that gains no more, the splits
// are still made in the order of their gains.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/tree/node_rows.hpp"
#include "fastpu/tree/tree_options.hpp"
#include "tree/grown_tree.hpp"
#include "tree/newton_search.hpp"

namespace fastpu::detail {

class NewtonGrower {
 public:
  // `rows` are those of all trees to come. Of `features` the cuts are read, but no codes.
  NewtonGrower(const TreeFeatures& features, NodeRows& rows, const NewtonOptions& options, Team& team, int n_workers);

  // Grows a tree that may split the given features, ascending, and adds its values to the scores of the rows.
  // begin(histogram) begins the tree on the rows, and writes the histogram of the root unless it is null.
  GrownTree grow(const std::vector<std::uint32_t>& split_features, const NewtonUnits& units,
                 const std::function<TreeRoot(std::uint64_t*)>& begin);

 private:
  // Beside each node of the tree. NodeRows gives nodes other numbers, for some splits are asked for in vain.
  struct Node {
    std::uint32_t number = 0;  // in NodeRows
    index_t n_rows = 0;
    std::uint64_t sum = 0;  // of the words of the rows
    index_t depth = 0;
    int histogram = -1;  // the slot where its histogram is kept, or -1
    NewtonSplit split;   // the best one, if there is any
  };

  bool may_be_split(const Node& node) const;
  bool is_later(std::uint32_t a, std::uint32_t b) const;
  bool split(std::uint32_t place, bool is_last);
  NewtonSearch::Node searched(Node& node, std::uint64_t* bins) const;
  void search_alone(Node& node, bool with_counts);
  std::uint64_t* histogram_for(Node& node);
  void give_back(Node& node);
  void make_leaves();

  const BinnedFeatures& binned_;
  NewtonOptions options_;
  Team& team_;
  NodeRows& rows_;
  NewtonSearch search_;
  NewtonUnits units_;
  GrownTree tree_;
  std::vector<Node> nodes_;
  std::uint32_t n_given_ = 1;                             // numbers that nodes were given in NodeRows
  std::vector<AlignedBuffer<std::uint64_t>> histograms_;  // the last slot is for histograms that are not kept
  std::vector<int> free_slots_;
};

}  // namespace fastpu::detail
