// Coordinate descent for the duals of margin_task.hpp: w = sum v_i x_i is kept up to date, and one v_i after the other
// moves to its best value (Hsieh et al. 2008). A round takes time proportional to the entries of X; this suits many
// sparse features.
//
// No single v_i can change while sum v_i = 0, so the constraint is met by the method of multipliers: b0 is the
// multiplier, and gamma (sum v_i)^2 / 2 is added to the objective, as if rows had one more feature sqrt(gamma).
//
// Where many rows have to move together, coordinates take hundreds of rounds for what conjugate gradients among the
// rows strictly between their bounds do in some twenty products with these rows (More and Toraldo 1991). Rounds find
// which rows these are.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"

namespace fastpu::detail {

class CoordinateDescent {
 public:
  // Starts from v, which must be in its box.
  CoordinateDescent(const MarginData& data, const MarginTask& task, const double* v, Team& team);

  // Goes over all rows except those that are likely to stay at a bound, in a random order.
  void round();

  // Moves the rows between their bounds by conjugate gradients, if the last round has hardly changed which rows these
  // are.
  void move_free();

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
  static constexpr index_t kRoundsBetween = 10;

  void shuffle(index_t n_together);
  template <class View>
  void go_over(const View& x);
  template <class View>
  void add_free(const View& x, const std::vector<double>& factors, double* sum) const;
  template <class View>
  double find_move(const View& x, std::vector<double> lack, std::vector<double>& move) const;
  template <class View>
  bool move_free(const View& x);

  const MarginData& data_;
  const MarginTask& task_;
  Team& team_;
  AlignedBuffer<double> v_;
  AlignedBuffer<double> w_;          // sum v_i x_i, not centred
  AlignedBuffer<double> curvature_;  // |x_i - centre|^2 + gamma
  AlignedBuffer<double> along_;      // x_i'centre
  std::vector<index_t> order_;       // the active rows first
  index_t n_active_;
  std::vector<index_t> free_;          // rows between their bounds
  index_t n_met_ = 0;                  // rows that met or left a bound in the last round
  index_t n_wait_ = 0;                 // rounds before conjugate gradients are tried again
  index_t patience_ = kRoundsBetween;  // rounds after a try, twice as many after each one that bounds cut short
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
  Random random_{0};
};

}  // namespace fastpu::detail
