// How trees are grown: parts of the options of forests and of boosted trees.
#pragma once

#include "fastpu/common/types.hpp"

namespace fastpu {

// On a bag of rows.
struct PuTreeOptions {
  bool random_cuts = true;    // whether each drawn feature offers one random cut, or all of its cuts
  index_t max_features = 1;   // how many of the features that differ within a node are drawn for it
  index_t min_leaf_rows = 1;  // rows as drawn, repetitions counted
  index_t max_depth = -1;     // -1: any
  index_t max_leaves = 0;     // 0: any; otherwise the split that gains most is made next
};

// On the derivatives of a loss.
struct NewtonOptions {
  double learning_rate = 0.05;
  index_t max_leaves = 4;
  index_t max_depth = -1;  // -1: any
  double min_leaf_hessian = 1e-3;
  double lam = 10;
};

}  // namespace fastpu
