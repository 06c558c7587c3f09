// A primal-dual interior point for the duals of large_margin.hpp: Mehrotra's predictor and corrector.
#pragma once

#include "fastpu/common/aligned_buffer.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/row_pass.hpp"
#include "svm/margin_task.hpp"
#include "svm/point_kernels.hpp"

namespace fastpu::detail {

// The contribution of rows outside of the task, whose v is fixed at bounds: sum v_i (x_i, 1), with the width of the
// pass, and sum v_i y_i. Null if there are no such rows.
struct FixedRows {
  const double* sum = nullptr;
  double value = 0;
};

class InteriorPoint {
 public:
  // The pass must go over the rows of the task and has_gram(); `size` is the mean squared norm of its rows. The arrays
  // that `fixed` points to must outlive this object.
  InteriorPoint(RowPass& pass, const MarginTask& task, double size, const FixedRows& fixed = {});

  index_t n_steps() const { return n_steps_; }
  // P, and P - D, of the best point so far, computed as if it were feasible.
  double objective() const { return best_objective_; }
  double gap() const { return best_gap_; }
  // Returns whether steps are so short, or the gap has not improved for so long, that only rounding errors are left.
  bool is_stuck() const { return n_idle_ >= kPatience; }

  void step();
  // Copies v of the best point; its sum may differ from zero. Values that a step along their own coordinate would bring
  // to a bound are put there, since they make up most of a point's gap.
  void copy_v(double* v) const;
  void copy_f(double* f) const;  // the scores of the best point
  void copy_w(double* w) const;  // w and b0 of the best point, with the width of the pass

 private:
  static constexpr int kPatience = 10;

  struct Aim {
    double mu;
    double second_order;  // factor of the terms of second order
  };

  void start();
  void add_fixed();
  void save();
  void factor();
  Aim predict();
  double correct(const Aim& aim);
  void advance(double length);
  PointRows rows(index_t first, index_t n);
  double sum_over_groups(int which) const;

  RowPass& pass_;
  const MarginTask& task_;
  index_t n_;
  index_t p_;
  FixedRows fixed_;
  double unit_;  // rows are divided by this, so that they have a length of about 1; costs are multiplied by its square
  const PointKernels& kernels_;

  // For each row alpha = t v in [0, cost], room = cost - alpha, and the multipliers of the two bounds. The multiplier
  // of the upper bound minus that of the lower one is t (y - f), the row's lack of margin.
  AlignedBuffer<double> alpha_;
  AlignedBuffer<double> room_;
  AlignedBuffer<double> low_;
  AlignedBuffer<double> high_;
  AlignedBuffer<double> f_;
  AlignedBuffer<double> per_alpha_;  // 1 / alpha
  AlignedBuffer<double> per_room_;
  AlignedBuffer<double> theta_;  // the derivative of alpha by the row's lack of margin
  AlignedBuffer<double> d_alpha_;
  AlignedBuffer<double> d_low_;  // between predictor and corrector these hold the products of second order
  AlignedBuffer<double> d_high_;
  AlignedBuffer<double> d_f_;

  AlignedBuffer<double> w_;  // with the intercept last
  // sum v_i x_i and sum v_i; at a feasible point equal to w_ with 0 in place of the intercept
  AlignedBuffer<double> dual_w_;
  AlignedBuffer<double> right_;
  AlignedBuffer<double> second_;
  AlignedBuffer<double> centring_;
  AlignedBuffer<double> d_w_;
  Cholesky normal_;
  AlignedBuffer<double> partial_;  // partial sums of each group

  index_t n_steps_ = 0;
  int n_idle_ = 0;
  AlignedBuffer<double> best_alpha_;
  AlignedBuffer<double> best_lack_;
  AlignedBuffer<double> best_w_;
  double best_gap_ = 0;
  double best_objective_ = 0;
  double best_mu_;
  double objective_ = 0;
  double gap_ = 0;
  double mu_ = 0;
};

}  // namespace fastpu::detail
