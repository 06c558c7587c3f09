// Coordinate descent for the duals of margin_task.hpp: w = sum v_i x_i is kept up to date, and one v_i after the other
// moves to its best value (Hsieh et al. 2008). A round takes time proportional to the entries of X; this suits many
// sparse features.
//
// No single v_i can change while sum v_i = 0, so the constraint is met by the method of multipliers: b0 is the
// multiplier, and gamma (sum v_i)^2 / 2 is added to the objective, as if rows had one more feature sqrt(gamma).
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"
#include "svm/xor_shift.hpp"

namespace fastpu::detail {

class CoordinateDescent {
 public:
  // Starts from v, which must be in its box.
  CoordinateDescent(const MarginData& data, const MarginTask& task, const double* v, Team& team);

  // Goes over all rows except those that are likely to stay at a bound, in a random order.
  void round();

  // P - D, summed over the rows of the last round, each with its values when its turn came; rows that were left out are
  // taken to add nothing.
  double gap() const { return gap_; }
  double dual() const { return dual_; }  // D
  // The largest difference between the projected gradients of two rows of the last round.
  double violation() const { return violation_; }
  bool is_all() const { return n_active_ == task_.n(); }
  void use_all();
  const double* v() const { return v_.data(); }

 private:
  template <class View>
  void go_over(const View& x);

  const MarginData& data_;
  const MarginTask& task_;
  Team& team_;
  AlignedBuffer<double> v_;
  AlignedBuffer<double> w_;          // sum v_i x_i, not centred
  AlignedBuffer<double> curvature_;  // |x_i - centre|^2 + gamma
  AlignedBuffer<double> along_;      // x_i'centre
  std::vector<index_t> order_;       // the active rows first
  index_t n_active_;
  double gamma_;
  double centre_squared_ = 0;
  double centre_w_ = 0;  // centre'w
  double sum_ = 0;       // sum of v
  double intercept_ = 0;
  double most_ = 0;  // bounds of projected gradients in the last round
  double least_ = 0;
  double gap_ = 0;
  double violation_ = 0;
  double dual_ = 0;
  XorShift random_;
};

}  // namespace fastpu::detail
