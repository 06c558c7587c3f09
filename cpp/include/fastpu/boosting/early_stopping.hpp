// When boosting stops early: the one rule for stumps, for trees, for folds and for rows on several machines.
#pragma once

#include "fastpu/common/types.hpp"

namespace fastpu {

// Follows a value, the AUC, that is known after each round, and should be large.
class EarlyStopping {
 public:
  // The fit is over after `patience` rounds without a better value; 0: never.
  explicit EarlyStopping(index_t patience) : patience_(patience) {}

  // Takes the value after the next round.
  void add(double value) {
    ++n_rounds_;
    if (n_rounds_ > 1 && !(value > best_value_)) return;
    best_value_ = value;
    best_round_ = n_rounds_;
  }

  // The first round with the largest value so far, counted from 1; 0 before the first round.
  index_t best_round() const { return best_round_; }
  bool is_over() const { return patience_ > 0 && n_rounds_ - best_round_ >= patience_; }

 private:
  index_t patience_;
  index_t n_rounds_ = 0;
  index_t best_round_ = 0;
  double best_value_ = 0;
};

}  // namespace fastpu
