// A primal-dual interior point for the duals of large_margin.hpp: Mehrotra's predictor and corrector.
#pragma once

#include "fastpu/common/aligned_buffer.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/row_pass.hpp"
#include "margin/margin_task.hpp"
#include "margin/point_kernels.hpp"

namespace fastpu::detail {

// What rows outside of the task add to its problem, with v fixed at bounds: sum v_i (x_i, 1), as long as the width of
// the pass, and sum v_i y_i. Null where there are none.
struct FixedRows {
  const double* sum = nullptr;
  double value = 0;
};

class InteriorPoint {
 public:
  // The pass goes over the rows of the task and has_gram(); `size` is the mean squared norm of its rows. What `fixed`
  // points to must outlive this.
  InteriorPoint(RowPass& pass, const MarginTask& task, double size, const FixedRows& fixed = {});

  index_t n_steps() const { return n_steps_; }
  // P, and P - D, of the best point so far, as if it were feasible.
  double objective() const { return best_objective_; }
  double gap() const { return best_gap_; }
  // Whether steps have become so short, or the gap has been as it is for so long, that rounding must be what is left.
  bool is_stuck() const { return n_idle_ >= kPatience; }

  void step();
  // The v of that point, but perhaps not of sum zero. Rows that a step along their own v would bring to a bound are
  // there: they are what most of a point's gap comes from.
  void copy_v(double* v) const;
  // Its w and b0, as long as the width of the pass.
  void copy_f(double* f) const;
  void copy_w(double* w) const;

 private:
  static constexpr int kPatience = 10;

  struct Aim {
    double mu;
    double second_order;  // how much of the terms of second order to use
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
  double unit_;  // rows are measured in this, so that they have a length of about 1; costs in its inverse square
  const PointKernels& kernels_;

  // A row's alpha = t v in [0, cost] with what is left of it, and the multipliers of the two bounds. That of the upper
  // bound less that of the lower one is t (y - f), what the row lacks of its margin.
  AlignedBuffer<double> alpha_;
  AlignedBuffer<double> room_;
  AlignedBuffer<double> low_;
  AlignedBuffer<double> high_;
  AlignedBuffer<double> f_;
  AlignedBuffer<double> per_alpha_;  // 1 / alpha
  AlignedBuffer<double> per_room_;
  AlignedBuffer<double> theta_;  // how alpha answers to a change of what the row lacks
  AlignedBuffer<double> d_alpha_;
  AlignedBuffer<double> d_low_;  // between predictor and corrector: the products of second order
  AlignedBuffer<double> d_high_;
  AlignedBuffer<double> d_f_;

  AlignedBuffer<double> w_;       // and the intercept
  AlignedBuffer<double> dual_w_;  // sum v_i x_i and sum v_i: w_ without its intercept, and 0, at a feasible point
  AlignedBuffer<double> right_;
  AlignedBuffer<double> second_;
  AlignedBuffer<double> centring_;
  AlignedBuffer<double> d_w_;
  Cholesky normal_;
  AlignedBuffer<double> partial_;  // a few values for each group

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
