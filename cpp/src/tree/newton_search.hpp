// The search for the best split of a node, for trees that are grown on gradients.
//
// With G and H the sums of g and h over the rows of a node, in the whole numbers of newton_kernels.hpp, a split gains
//     G_L^2 / (H_L + lam) + G_R^2 / (H_R + lam) - G^2 / (H + lam).
// Of ties (kGainTie) the first wins, by feature, then cut, then missing values left before right. The categories of a
// feature are cut in the order of the values that they would have as leaves, largest first, after each of them was
// tried against all others; those that the node does not have go with missing values. Where nothing is missing in a
// node, or only rows of no gradient are, missing values go to the side with the larger H, or left; to the other one if
// else a side has too few rows. What many categories gain by chance is taken off the gain of a cut (excess_categories).
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/tree/node_rows.hpp"
#include "tree/grown_tree.hpp"
#include "tree/newton_kernels.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

// The rows on the left of a split are known by the sum of their words.
using NewtonSplit = Split<std::uint64_t>;

// The units of the words of a tree, and what a cut gains on average by chance.
struct NewtonUnits {
  double g_scale = 1;
  double h_scale = 1;
  CountUnit count;
  double chance_gain = 0;
};

class NewtonSearch {
 public:
  // A node, and its histogram where it is known.
  struct Node {
    std::uint32_t number = 0;
    std::uint64_t sum = 0;  // of the words of its rows
    std::uint64_t* bins = nullptr;
    NewtonSplit* best = nullptr;  // where its best split goes, if there is one; null for a node that is not searched
  };

  NewtonSearch(const TreeFeatures& features, NodeRows& rows, double lam, double min_leaf_hessian, Team& team,
               int n_workers);

  // Begins a tree that may split the given features, ascending.
  void start(const std::vector<std::uint32_t>& split_features, const NewtonUnits& units);
  // With counts the best split is one that leaves enough rows on both sides; without, any.
  void search(const Node& node, bool with_counts);
  // Searches two children, the second of which has the histogram of their parent and gets its own.
  void search_children(const Node& first, const Node& second);

  bool has_enough(const SideCounts& counts) const {
    return counts.left >= units_.count.enough && counts.right >= units_.count.enough;
  }

 private:
  // What is known of the gains of a feature: a bound of them, the largest one, or the largest one of the splits that
  // leave enough rows on both sides.
  enum class Known : std::uint8_t { bound, gain, counted };
  struct Search {
    Node node;
    NewtonNode sums;
    std::vector<double> most;  // of each feature that may be split, by what is known of it
    std::vector<Known> known;
  };

  void set(Search& search, const Node& node) const;
  void find_bounds(const std::uint64_t* subtracted, std::uint64_t* from);
  void bound_gain(Search& search, std::size_t k) const;
  void find_gain(Search& search, std::size_t k) const;
  template <class Score>
  double best_cut(const Search& search, std::uint32_t feature, Score&& score) const;
  void choose(Search& search, bool with_counts);
  // These call visit(split) for the splits of a feature that are allowed, in order, until it returns true. With counts
  // of the rows by their codes (or empty) they leave out splits with too few rows on a side.
  template <class Visit>
  void for_splits(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;
  template <class Visit>
  void for_cuts(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;
  template <class Visit>
  void for_sets(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts, Visit&& visit) const;

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  HistogramLayout layout_;
  NodeRows& rows_;
  double lam_;
  double min_leaf_hessian_;
  const NewtonKernels& kernels_;
  Team& team_;
  int n_workers_;
  std::vector<std::uint32_t> split_features_;
  NewtonUnits units_;
  Search searches_[2];
  std::vector<index_t> counts_;
};

}  // namespace fastpu::detail
