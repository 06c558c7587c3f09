// Grows trees on gradients, the split that gains most first.
//
// With G and H the sums of g and h over the rows of a node, in the whole numbers of newton_kernels.hpp, a split gains
//     G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2),
// and the value of a leaf is -rate G / (H + l2), from finer sums. Of splits whose gains agree to 1e-12 the first wins,
// by feature, then cut, then missing values left before right. The categories of a feature are cut in the order of what
// would be their values as leaves, largest first; those that the node does not have go with what is missing. Where
// nothing is missing in a node, missing values go to the side with the larger H, or left. What many categories gain by
// chance is taken off the gain (excess_categories in split_search.hpp).
//
// The gains need no counts of rows: only of a split that is made are the rows counted, up to as many as a leaf must
// have, and where they are too few, the codes of that feature are, and the search goes on among the splits that are
// left. As what is left gains no more, the order of the splits is that of their gains all the same.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/tree/node_rows.hpp"
#include "tree/grow_tree.hpp"
#include "tree/newton_rows.hpp"

namespace fastpu::detail {

struct NewtonOptions {
  index_t max_leaves = 8;
  index_t max_depth = -1;  // -1: any
  double min_leaf_hessian = 0;
  double l2 = 1;
  double rate = 1;
};

// A sum of words is what a split knows of its left side.
using NewtonSplit = Split<std::uint64_t>;

// The units of a tree, as TreeStart has them, and what a cut by chance gains in the mean.
struct NewtonUnits {
  double g_scale = 1;
  double h_scale = 1;
  CountUnit count;
  double chance_gain = 0;
};

class NewtonGrower {
 public:
  // `rows` are those of all trees. No rows of the features are read.
  NewtonGrower(const TreeFeatures& features, NodeRows& rows, const NewtonOptions& options, Isa isa, Team& team,
               int n_workers);

  // Grows a tree that may split the given features, ascending, and adds its values to the scores. begin(histogram)
  // begins it, and writes the histogram of the root, unless it is null.
  GrownTree grow(const std::vector<std::uint32_t>& features, const NewtonUnits& units,
                 const std::function<TreeRoot(std::uint64_t*)>& begin);

 private:
  struct Node {
    std::uint32_t number = 0;    // with the rows
    std::uint32_t children = 0;  // the number of its left child there, once it is given
    index_t n_rows = 0;
    std::uint64_t sum = 0;
    index_t depth = 0;
    int histogram = -1;  // where it is kept, or -1
    NewtonSplit split;   // the best one, if there is any
  };
  // What is known of the splits of a feature: a bound of the best gain, the best gain, or that of those which leave
  // enough rows on both sides.
  enum class Known : std::uint8_t { bound, gain, counted };
  // A node that is searched for its best split, and what is known of each feature.
  struct Search {
    Node* node = nullptr;
    std::uint64_t* bins = nullptr;
    NewtonNode sums;
    std::vector<double> best;
    std::vector<Known> known;
  };

  bool may_be_split(const Node& node) const;
  bool has_enough(const SideCounts& counts) const {
    return counts.left >= units_.count.enough && counts.right >= units_.count.enough;
  }
  // Of two nodes that may be split.
  bool is_later(std::uint32_t a, std::uint32_t b) const;
  SplitOrder order_of(Node& node, bool is_last);
  void ask_ahead(std::uint32_t next, std::vector<std::uint32_t> others, index_t n_splits);
  // Returns false, and changes nothing, if one side has too few rows.
  bool split(std::uint32_t number, bool is_last);
  void search_alone(Node& node);
  void search(Node* known, std::uint64_t* known_bins, Node* other, std::uint64_t* other_bins);
  void bound_gain(Search& search, std::size_t k) const;
  void find_gain(Search& search, std::size_t k) const;
  template <class Score>
  double best_cut(const Search& search, std::uint32_t feature, Score&& score) const;
  // Of a split that leaves too few rows on a side nothing is known here, unless is_counted_.
  void choose(Search& search);
  // Call visit(split), which may stop them by returning true, for the splits of a feature that are allowed, in order.
  // With counts of its codes these leave enough rows on both sides; counts may be empty.
  template <class Visit>
  void for_splits(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;
  template <class Visit>
  void for_cuts(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;
  template <class Visit>
  void for_sets(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;
  std::uint64_t* histogram_for(Node& node);
  void give_back(Node& node);
  void make_leaves();

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  HistogramPlaces places_;
  NewtonOptions options_;
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  NodeRows& rows_;
  NewtonUnits units_;
  GrownTree tree_;
  std::vector<Node> nodes_;    // beside those of the tree
  std::uint32_t n_given_ = 1;  // numbers of nodes that are given
  std::vector<std::uint32_t> drawn_;
  std::vector<AlignedBuffer<std::uint64_t>> histograms_;  // the last one is for nodes whose histogram is not kept
  std::vector<int> free_;
  bool is_counted_ = false;  // whether choose() counts rows
  Search searches_[2];
  std::vector<index_t> counts_;
};

}  // namespace fastpu::detail
