// What boosting of trees is given: the rows to learn from, and the options.
#pragma once

#include <cstdint>

#include "fastpu/boosting/tree_loss.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"
#include "fastpu/tree/tree_options.hpp"

namespace fastpu {

struct BoostedTreesTrainingSet {
  const BinnedFeatures* features = nullptr;
  const std::int8_t* labels = nullptr;        // +1, 0, -1
  const double* sample_weight = nullptr;      // or null for 1: a row of weight 2 counts as two, one of weight 0 as none
  const std::uint8_t* categorical = nullptr;  // for every feature whether it is categorical (binned as such), or null
  const std::int32_t* clusters = nullptr;     // with bags: as in ForestTrainingSet
};

// The instruction-set level of the loss is that of the whole fit.
struct BoostedTreesOptions : TreeLossOptions, NewtonOptions, BagOptions {
  index_t n_rounds = 100;
  double min_leaf_rows = 20;  // by weight
  double subsample_unl = 1;   // in (0, 1]: the share of U that a tree is grown on, drawn anew for each tree
  index_t max_features = 0;   // the features that a tree may split, drawn anew for each tree; 0: all
  index_t n_bags = 0;         // 0: one booster on all rows
  std::uint64_t seed = 0;
  index_t early_stopping_rounds = 0;     // 0: never; otherwise there must be an evaluation set
  TreesView init;                        // trees that the fit goes on from, bag after bag as in the result, or none
  const double* init_oob_sum = nullptr;  // with bags: BoostedTreesResult::oob_sum of these trees
};

}  // namespace fastpu
