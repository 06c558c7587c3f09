// What goes into a loss for trees and what it is computed from: its options, and sums over rows that several holders
// share (tree_loss.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fastpu/common/types.hpp"

namespace fastpu {

struct TreeLossOptions {
  std::string loss = "pnu_auc";
  double gamma = 0.5;  // in [0, 1], for "pnu_auc": the weight of the labelled pairs
  double prior = 0.5;  // in (0, 1), for "upu": the share of positives in U
};

// What a loss needs, for those who check arguments before they call it.
struct TreeLossInfo {
  const char* name;
  bool takes_negatives = false;    // labels -1
  bool needs_gamma = false;        // TreeLossOptions::gamma has an effect
  bool needs_prior = false;        // TreeLossOptions::prior has one
  bool is_by_row = false;          // g and h of a row do not depend on the scores of other rows
  bool needs_log_weights = false;  // its passes read the logarithms of sample weights
};

// Bounds that no summand exceeds.
struct TreeLossTops {
  std::array<double, 5> values{-kInfinity, -kInfinity, -kInfinity, -kInfinity, -kInfinity};

  // Takes the larger one of each bound.
  void extend(const TreeLossTops& other) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::max(values[k], other.values[k]);
  }
};

// Sums over groups and the weights of the three groups, each as two whole numbers. Sums of several holders must be
// computed from the same tops to be added.
struct TreeLossSums {
  std::array<std::int64_t, 42> values{};

  void add(const TreeLossSums& other) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += other.values[k];
  }
};

// Bounds of the sums of |g| and of h over the rows that take part, and an estimate of what a cut of these rows gains on
// average by chance: the sum of g^2, as if all rows of a group had the same g, over that of h.
struct TreeLossBounds {
  double g = 0;
  double h = 0;
  double chance_gain = 0;
};

}  // namespace fastpu
