// Forests of trees on bags of positive and unlabelled rows.
//
// Every tree is grown on a bag of its own: rows of P drawn with replacement, and rows of U drawn without replacement or
// with it (BagOptions). In every node max_features of the features that differ among its rows are drawn. Each offers
// one cut at random (extra trees) or all of its cuts, and the split that gains most by the criterion is made; of equal
// ones that of the feature drawn first.
//
// For a random cut, a number is drawn uniformly between the values (Cuts::bin_value) of the lowest and of the highest
// bin of the node's rows. The cut is that below the bin which the number falls into, or above it if it is the lowest.
//
// Every draw is a function of the seed, the tree, the place of the node in the tree and the number of the draw, so that
// the same forest comes from any number of threads, and trees that are added later are those that more trees at once
// would have been.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"
#include "fastpu/tree/tree_options.hpp"

namespace fastpu {

// In a node with shares p of the bag's positive rows and u of its unlabelled ones:
enum class ForestLoss : std::uint8_t {
  gini,  // Gini impurity of two groups of equal mass; a leaf's value is p / (p + u)
  nnpu,  // squared-loss risk of non-negative PU learning; a leaf's value is its minimiser in [-1, 1]
  upu,   // that of unbiased PU learning
};

struct ForestTrainingSet {
  const BinnedFeatures* features = nullptr;
  const std::int8_t* labels = nullptr;  // 1 or 0 a row, both of them present
  // The relative chance of each row to be drawn within its group, or null where all are the same. A row of weight 0
  // counts as absent, but is scored out of bag.
  const double* sample_weight = nullptr;
  const std::uint8_t* categorical = nullptr;  // for every feature whether it is categorical (binned as such), or null
  // The cluster of each row, from 0 on, or null. Bags leave whole clusters out, and a row is out of bag if all rows of
  // its cluster are.
  const std::int32_t* clusters = nullptr;
};

struct ForestOptions : PuTreeOptions, BagOptions {
  ForestLoss loss = ForestLoss::gini;
  double prior = 0.5;  // of nnpu and upu: the share of positives among U
  index_t n_trees = 500;
  index_t first_tree = 0;                   // number of the first new tree in the forest
  index_t first_set = 0;                    // number of the first new set of categories in the forest
  const double* oob_sum = nullptr;          // of the trees before the new ones, as in the result, or null
  const std::int32_t* oob_count = nullptr;  // the same
  std::uint64_t seed = 0;
};

// A tree that is done, as a callback sees it.
struct ForestTree {
  index_t tree;  // its number in the forest
  index_t n_leaves;
  index_t depth;
};

// Called on the caller's thread for tree after tree; true stops, and drops the trees after it that are grown already.
using ForestCallback = std::function<bool(const ForestTree&)>;

enum class ForestStatus : std::uint8_t { n_trees, callback };

struct ForestResult : Trees {
  std::vector<double> oob_sum;          // for every row the sum of its values in the trees whose bags leave it out
  std::vector<std::int32_t> oob_count;  // for every row the number of these trees
  ForestStatus status = ForestStatus::n_trees;
};

// Time of a tree: O(bag log(bag) (d / 16 + max_features)) for dense codes of d features, in operations on vectors, and
// O(entries of the bag log(bag)) for sparse ones; each out-of-bag row takes O(log(bag)). Memory beside the result: n /
// 8 bytes and the nodes of each of some tens of trees, and for each thread 12 bytes a row of a bag and, for dense
// codes, at most 300 kB. Throws std::invalid_argument for options out of range.
ForestResult grow_forest(const ForestTrainingSet& train, const ForestOptions& options, const ForestCallback& callback,
                         Team& team);

// ---- For rows that lie on many machines: bags are drawn by numbers, and trees grown on gathered rows ----

// The rows that bags are drawn from. A row stands by its number: those of P from 0 on, and then those of U.
struct BagGroups {
  index_t n_pos = 0;
  index_t n_unl = 0;
  const double* sample_weight = nullptr;   // their chances, as in ForestTrainingSet, all positive, or null
  const std::int32_t* clusters = nullptr;  // as in ForestTrainingSet, or null
  index_t n_clusters = 0;  // their number; rows of weight 0, which are not counted here, may be in others
};

// The bags of some trees: of tree after tree the rows of P as they were drawn, then those of U.
struct ForestBags {
  index_t n_pos = 0;           // in each bag
  std::vector<index_t> start;  // where the rows of each bag begin, and the end of the last
  std::vector<std::uint32_t> rows;
};

// The bags that grow_forest draws for these trees. Time and memory of a tree are O(bag), with weights O(n_unl), and
// with clusters O(n_pos + n_unl + n_clusters). Of the options n_trees, first_tree, seed, repeats_pos, bag_unl and
// replace_unl are read. Throws std::invalid_argument for groups or options out of range.
ForestBags draw_bags(const BagGroups& groups, const ForestOptions& options, Team& team);

// The trees that grow_forest grows on these bags, whose rows are those of `features`, and no out-of-bag scores. Throws
// std::invalid_argument for bags or options out of range.
ForestResult grow_on_bags(const BinnedFeatures& features, const std::uint8_t* categorical, const ForestBags& bags,
                          const ForestOptions& options, Team& team);

}  // namespace fastpu
