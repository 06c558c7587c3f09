// When a fit stops early: the one rule for stumps, trees, folds, rows on several machines, and networks.
#pragma once

#include <cmath>

#include "fastpu/common/types.hpp"

namespace fastpu {

// Follows a value that is known after each round, and should be large: an AUC, or a risk times -1.
class EarlyStopping {
 public:
  // The fit is over after `patience` rounds without a better value; 0: never. A value is better if it exceeds the best
  // one so far by more than `least_gain` times the size of that one.
  explicit EarlyStopping(index_t patience, double least_gain = 0) : patience_(patience), least_gain_(least_gain) {}

  // Takes the value after the next round.
  void add(double value) {
    ++n_rounds_;
    if (n_rounds_ > 1 && !(value > best_value_ + least_gain_ * std::fabs(best_value_))) return;
    best_value_ = value;
    best_round_ = n_rounds_;
  }

  // The first round with the best value so far, counted from 1; 0 before the first round.
  index_t best_round() const { return best_round_; }
  bool is_over() const { return patience_ > 0 && n_rounds_ - best_round_ >= patience_; }

 private:
  index_t patience_;
  double least_gain_;
  index_t n_rounds_ = 0;
  index_t best_round_ = 0;
  double best_value_ = 0;
};

}  // namespace fastpu
