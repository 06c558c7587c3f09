// How trees are grown: parts of the options of forests and of boosted trees.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

// What bags of P and U hold. Bag t has bag_unl[t % bag_unl.size()] draws of U: its size follows from its number alone,
// and bags that come later, or are drawn elsewhere, have the sizes that they would have had.
struct BagOptions {
  index_t repeats_pos = 1;  // how often each draw of P is in the bag: there are as many draws as rows, with replacement
  std::vector<index_t> bag_unl{1};
  bool replace_unl = false;  // whether U is drawn with replacement
};

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
