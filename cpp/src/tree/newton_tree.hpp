// Grows trees on gradients, the split that gains most first.
//
// With G and H the sums of g and h over the rows of a node, in the whole numbers of newton_kernels.hpp, a split gains
//     G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2),
// and the value of a leaf is -rate G / (H + l2), from finer sums. Of splits whose gains agree to 1e-12 the first wins,
// by feature, then cut, then missing values left before right. The categories of a feature are cut in the order of what
// would be their values as leaves, largest first; those that the node does not have go with what is missing. Where
// nothing is missing in a node, missing values go to the side with the larger H, or left.
//
// The gains need no counts of rows: only of the best split are the rows counted, up to as many as a leaf must have, and
// where they are too few, the codes of that feature are, and the search goes on among the splits that are left.
#pragma once

#include <cstdint>
#include <vector>

#include "tree/grow_tree.hpp"
#include "tree/newton_rows.hpp"

namespace fastpu::detail {

struct NewtonOptions {
  index_t max_leaves = 8;
  index_t max_depth = -1;    // -1: any
  double min_leaf_rows = 1;  // by weight
  double min_leaf_hessian = 0;
  double l2 = 1;
  double rate = 1;
};

class NewtonGrower {
 public:
  NewtonGrower(const TreeFeatures& features, const double* weights, const NewtonOptions& options, Isa isa, Team& team,
               int n_workers);

  // Grows a tree that may split the given features, ascending. Adds its values to the scores of its rows, and to those
  // of `others`, ascending.
  GrownTree grow(const NewtonGradients& gradients, const std::vector<std::uint32_t>& features,
                 const std::vector<std::uint32_t>& others, double* scores);

 private:
  struct Node {
    NewtonRange rows;
    std::uint64_t sum = 0;
    index_t depth = 0;
    int histogram = -1;  // where it is kept, or -1
    NewtonSplit split;   // the best one, if there is any
  };
  // A node that is searched for its best split, and the best gain of each feature.
  struct Search {
    Node* node = nullptr;
    std::uint64_t* bins = nullptr;
    NewtonNode sums;
    std::vector<double> best;
  };

  bool may_be_split(const Node& node) const;
  void split(std::uint32_t number);
  void search_children(Node& parent, Node& left, Node& right);
  void search(Node* smaller, std::uint64_t* smaller_bins, Node* larger, std::uint64_t* larger_bins);
  double best_gain(const Search& search, std::uint32_t feature) const;
  void choose(Search& search);
  // Call visit(split), which may stop them by returning true, for the splits of a feature that are allowed, in order.
  // With counts of its codes these leave enough rows on both sides; counts may be empty.
  template <class Visit>
  void for_splits(const Search& search, std::uint32_t feature, const std::vector<double>& counts, Visit&& visit) const;
  template <class Visit>
  void for_cuts(const Search& search, std::uint32_t feature, const std::vector<double>& counts, Visit&& visit) const;
  template <class Visit>
  void for_sets(const Search& search, std::uint32_t feature, const std::vector<double>& counts, Visit&& visit) const;
  std::uint64_t* histogram_for(Node& node);
  void give_back(Node& node);
  void make_leaf(std::uint32_t number, double* scores);
  void add_others(const std::vector<std::uint32_t>& others, double* scores);

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  NewtonOptions options_;
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  NewtonRows rows_;
  GrownTree tree_;
  std::vector<Node> nodes_;  // beside those of the tree
  std::vector<std::uint32_t> drawn_;
  std::vector<AlignedBuffer<std::uint64_t>> histograms_;  // the last one is for nodes whose histogram is not kept
  std::vector<int> free_;
  Search searches_[2];
  std::vector<double> counts_;
};

}  // namespace fastpu::detail
