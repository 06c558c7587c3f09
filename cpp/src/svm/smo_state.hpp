// What the solvers of smo.hpp share: which variables may move and by how much they violate the
// optimality conditions, and whether progress is only rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/to_text.hpp"
#include "fastpu/svm/smo_problem.hpp"
#include "svm/window.hpp"

namespace fastpu::detail {

// A sum that is no larger than this share of the sum of its terms' sizes counts as 0.
inline constexpr double kZeroSum = 1e-12;

// The variables of a problem with their values and bounds.
class SmoState {
 public:
  SmoState(const SmoProblem& problem, double* value) : problem_(problem), value_(value) {}

  int n_groups() const { return problem_.groups == nullptr ? 1 : 2; }
  int group(index_t i) const { return problem_.groups == nullptr ? 0 : problem_.groups[i]; }
  bool may_grow(index_t i) const { return value_[i] < problem_.upper[i]; }
  bool may_shrink(index_t i) const { return value_[i] > problem_.lower[i]; }

  // Sets the windows to those of some variables; gradients are by the number of the variable.
  void find_windows(const std::vector<index_t>& variables, const std::vector<double>& gradient) {
    windows_[0] = windows_[1] = Window{};
    for (const index_t i : variables) {
      windows_[group(i)].see(gradient[at(i)], may_grow(i), may_shrink(i));
    }
  }
  Window& window(int g) { return windows_[g]; }
  double violation() const { return std::max(windows_[0].violation(), windows_[1].violation()); }

  // Returns whether a variable at a bound has a gradient outside of the window of its group, so that it is in no
  // violating pair, and would be in none if its gradient changed by less than `slack`.
  bool is_likely_to_stay(index_t i, double gradient, double slack = 0) const {
    const Window& window = windows_[group(i)];
    if (slack > 0 && !std::isfinite(window.low_max - window.up_min)) return false;
    const bool may_pair =
        (may_grow(i) && gradient - slack <= window.low_max) || (may_shrink(i) && gradient + slack >= window.up_min);
    return !may_pair;
  }

 private:
  const SmoProblem& problem_;
  double* value_;
  Window windows_[2];
};

// Detects that the remaining violation is due to rounding: it is below the error of a gradient (which is a sum over the
// whole solution), steps change nothing any more, or neither the violation nor the objective improves.
class PrecisionWatch {
 public:
  void see_row(double diagonal, double linear) {
    largest_diagonal_ = std::max(largest_diagonal_, std::abs(diagonal));
    largest_linear_ = std::max(largest_linear_, std::abs(linear));
  }
  double largest_diagonal() const { return largest_diagonal_; }
  double largest_linear() const { return largest_linear_; }

  // Whether steps of this total length leave visible errors in gradients that were updated after each of them.
  bool has_moved_far(double moved, double tol) const {
    return std::numeric_limits<double>::epsilon() * largest_diagonal_ * moved > 0.1 * tol;
  }

  bool is_reached(double violation, double objective, bool is_stuck, const double* value, index_t n) {
    if (violation < 0.9 * best_violation_) {
      best_violation_ = violation;
      objective_then_ = objective;
      rounds_since_ = 0;
    } else {
      ++rounds_since_;
    }
    if (is_stuck) return true;
    constexpr int kPatience = 100;
    if (rounds_since_ >= kPatience && objective_then_ - objective <= 1e-14 * std::abs(objective)) return true;
    double sum = 0;
    for (index_t i = 0; i < n; ++i) sum += std::abs(value[i]);
    return violation <= 4 * std::numeric_limits<double>::epsilon() * (largest_linear_ + sum * largest_diagonal_);
  }

  // Returns whether to continue after the active variables are as optimal as rounding allows: if the violation among
  // all variables is clearly larger. At most kMostTimes, since each time may be in vain.
  bool may_go_on(double among_active, double among_all) {
    constexpr int kMostTimes = 20;
    if (!(among_all > 2 * among_active) || n_restarts_ == kMostTimes) return false;
    ++n_restarts_;
    best_violation_ = std::numeric_limits<double>::infinity();
    rounds_since_ = 0;
    return true;
  }

 private:
  double largest_diagonal_ = 0;
  double largest_linear_ = 0;
  double best_violation_ = std::numeric_limits<double>::infinity();
  double objective_then_ = 0;
  int rounds_since_ = 0;
  int n_restarts_ = 0;
};

// Checks the diagonal, which bounds all kernel values: sums of a few of them must not overflow T.
template <class T>
void check_diagonal(double diagonal, index_t row) {
  if (std::abs(diagonal) <= static_cast<double>(std::numeric_limits<T>::max()) / 16) return;
  throw std::invalid_argument("the kernel of row " + std::to_string(row) + " with itself is " + to_text(diagonal) +
                              ", more than can be computed with: scale X");
}

}  // namespace fastpu::detail
