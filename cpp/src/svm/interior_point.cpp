#include "svm/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fastpu::detail {

// The optimality conditions, with alpha = t v, room = cost - alpha and lack = t (y - f), are
//
//     high - low = lack,   w = sum v_i x_i,   sum v_i = 0,   alpha low = 0,   room high = 0,   all four >= 0.
//
// A step solves them linearised, with mu in place of the last two zeros. Elimination leaves for the rows
// d_alpha = theta (q - t d_f), 1 / theta = low / alpha + high / room, and with rows x^ = (x, 1)
//
//     (diag(1, .., 1, 0) + sum theta x^ x^') d_w^ = sum theta t q x^ + (sum v x^ - (w, 0)).

namespace {

constexpr int kValues = 4;  // most sums that a pass computes for each group of rows

}  // namespace

InteriorPoint::InteriorPoint(RowPass& pass, const MarginTask& task, double size, const FixedRows& fixed)
    : pass_(pass),
      task_(task),
      n_(task.n()),
      p_(pass.n_features()),
      fixed_(fixed),
      unit_(std::sqrt(size)),
      kernels_(point_kernels(pass.team().isa())),
      normal_(p_ + 1, pass.team().isa(), "the normal equations"),
      best_mu_(std::numeric_limits<double>::infinity()) {
  for (AlignedBuffer<double>* of_rows : {&alpha_, &room_, &low_, &high_, &f_, &per_alpha_, &per_room_, &theta_,
                                         &d_alpha_, &d_low_, &d_high_, &d_f_, &best_alpha_, &best_lack_}) {
    *of_rows = AlignedBuffer<double>(n_, "the interior point");
  }
  for (AlignedBuffer<double>* of_features : {&w_, &dual_w_, &right_, &second_, &centring_, &d_w_, &best_w_}) {
    *of_features = AlignedBuffer<double>::zeros(pass.width(), "the interior point");
  }
  partial_ = AlignedBuffer<double>::zeros(pass.n_groups() * kValues, "the interior point");
  pass.keep_packed();
  start();
  save();
}

void InteriorPoint::save() {
  best_gap_ = gap_;
  best_objective_ = objective_;
  std::copy_n(alpha_.data(), n_, best_alpha_.data());
  for (index_t i = 0; i < n_; ++i) best_lack_[i] = task_.lack(i, f_[i]);
  std::copy_n(w_.data(), pass_.width(), best_w_.data());
}

void InteriorPoint::add_fixed() {
  if (fixed_.sum == nullptr) return;
  for (index_t f = 0; f <= p_; ++f) dual_w_[f] += unit_ * fixed_.sum[f];
}

// Puts every alpha in the middle of its box, times a factor that gives both sides the same weight (unless rows are
// fixed), w = 0, b0 = 0, and the multipliers such that all products equal mu: those of a row with the mean alpha are 2.
void InteriorPoint::start() {
  const double unit_of_cost = unit_ * unit_;
  const double pos = task_.cost_of_side(1);
  const double neg = task_.cost_of_side(-1);
  const bool is_balanced = fixed_.sum == nullptr;
  const double share_pos = is_balanced ? 0.5 * std::min(1.0, neg / pos) : 0.5;
  const double share_neg = is_balanced ? 0.5 * std::min(1.0, pos / neg) : 0.5;
  const double mean = (share_pos * pos + share_neg * neg) * unit_of_cost / static_cast<double>(n_);
  const double product = 2 * mean;
  double* const sums[] = {dual_w_.data()};
  pass_.run(nullptr, 1, sums, [&](const RowBlock& block) {
    for (index_t k = 0; k < block.n; ++k) {
      const index_t i = block.first + k;
      const double side = task_.side()[i];
      const double cost = task_.cost()[i] * unit_of_cost;
      alpha_[i] = (side > 0 ? share_pos : share_neg) * cost;
      room_[i] = cost - alpha_[i];
      low_[i] = product / alpha_[i];
      high_[i] = product / room_[i];
      f_[i] = 0;
      block.weights[0][k] = side * alpha_[i] / unit_;
      d_alpha_[i] = d_low_[i] = d_high_[i] = d_f_[i] = 0;
    }
  });
  add_fixed();
  advance(0);
}

PointRows InteriorPoint::rows(index_t first, index_t n) {
  return {n,
          task_.side() + first,
          task_.label() + first,
          alpha_.data() + first,
          room_.data() + first,
          low_.data() + first,
          high_.data() + first,
          f_.data() + first,
          per_alpha_.data() + first,
          per_room_.data() + first,
          theta_.data() + first,
          d_alpha_.data() + first,
          d_low_.data() + first,
          d_high_.data() + first,
          d_f_.data() + first};
}

double InteriorPoint::sum_over_groups(int which) const {
  double sum = 0;
  for (index_t g = 0; g < pass_.n_groups(); ++g) sum += partial_[g * kValues + which];
  return sum;
}

void InteriorPoint::step() {
  factor();
  const double length = correct(predict());
  ++n_steps_;
  if (!std::isfinite(length)) {  // rounding errors have made the step infinite or NaN
    n_idle_ = kPatience;
    return;
  }
  advance(length);
  // As long as mu is not negligible, a decrease of mu counts as progress.
  const double unit_of_cost = unit_ * unit_;
  const bool has_mu = mu_ * static_cast<double>(n_) > 1e-16 * objective_ * unit_of_cost;
  const bool is_progress = gap_ < 0.9 * best_gap_ || (has_mu && mu_ < 0.9 * best_mu_);
  if (gap_ < best_gap_) save();
  best_mu_ = std::min(best_mu_, mu_);
  n_idle_ = is_progress ? 0 : n_idle_ + 1;
}

// Computes theta, the normal matrix and the part of the right-hand side that predictor and corrector share, where q is
// the row's lack. f and dual_w_ are computed anew, since updating them from step to step would accumulate rounding
// errors.
void InteriorPoint::factor() {
  for (index_t f = 0; f <= p_; ++f) d_w_[f] = w_[f] / unit_;
  double* const sums[] = {right_.data(), dual_w_.data()};
  pass_.gram(d_w_.data(), normal_.matrix(), 2, sums, [&](const RowBlock& block) {
    kernels_.factor(rows(block.first, block.n), block.products, unit_, block.weights);
    for (index_t k = 0; k < block.n; ++k) block.scale[k] = std::sqrt(theta_[block.first + k]) / unit_;
  });
  add_fixed();
  for (index_t f = 0; f < p_; ++f) normal_.matrix()[f * normal_.stride() + f] += 1;
  normal_.factor();
  for (index_t f = 0; f <= p_; ++f) right_[f] += dual_w_[f] - (f < p_ ? w_[f] : 0.0);
}

// The predictor: the step to mu = 0. How far that step may go determines the mu to aim at, and whether its terms of
// second order are of use.
InteriorPoint::Aim InteriorPoint::predict() {
  std::copy_n(right_.data(), p_ + 1, d_w_.data());
  normal_.solve(d_w_.data());
  for (index_t f = 0; f <= p_; ++f) d_w_[f] /= unit_;
  double* const sums[] = {second_.data(), centring_.data()};
  std::fill_n(partial_.data(), partial_.size(), 0.0);
  pass_.run(d_w_.data(), 2, sums, [&](const RowBlock& block) {
    double* to = partial_.data() + block.group * kValues;
    kernels_.predict(rows(block.first, block.n), block.products, unit_, block.weights, to[0], to[1]);
  });
  double fastest = 1;
  for (index_t g = 0; g < pass_.n_groups(); ++g) fastest = std::max(fastest, partial_[g * kValues]);
  const double length = 1 / fastest;
  const double reached = mu_ * (1 - length) + length * length * sum_over_groups(1) / (2 * static_cast<double>(n_));
  const double share = std::max(reached, 0.0) / mu_;
  constexpr double kLong = 0.1;
  return {mu_ * share * share * share, length > kLong ? 1.0 : 0.0};
}

// The corrector: the step to the given mu, with the terms of second order. Returns the largest feasible length, or NaN
// if the step is not finite.
double InteriorPoint::correct(const Aim& aim) {
  for (index_t f = 0; f <= p_; ++f) d_w_[f] = right_[f] + aim.second_order * second_[f] + aim.mu * centring_[f];
  normal_.solve(d_w_.data());
  for (index_t f = 0; f <= p_; ++f) d_w_[f] /= unit_;
  std::fill_n(partial_.data(), partial_.size(), 0.0);
  pass_.run(d_w_.data(), 0, nullptr, [&](const RowBlock& block) {
    double* to = partial_.data() + block.group * kValues;
    kernels_.correct(rows(block.first, block.n), block.products, aim.mu, aim.second_order, to[0], to[1]);
  });
  double fastest = 0;
  for (index_t g = 0; g < pass_.n_groups(); ++g) fastest = std::max(fastest, partial_[g * kValues]);
  constexpr double kShort = 0.999;  // share of the way to the boundary that a step may go
  return std::min(1.0, kShort / std::max(fastest, kShort)) + sum_over_groups(1);
}

// Moves along the step, and computes mu and the duality gap of the new w and v as if sum v_i = 0 and w = sum v_i x_i
// held. Both are linear equations, so their residuals shrink by the factor 1 - length.
void InteriorPoint::advance(double length) {
  std::fill_n(partial_.data(), partial_.size(), 0.0);
  pass_.rows([&](index_t first, index_t end, index_t group) {
    kernels_.advance(rows(first, end - first), length, partial_.data() + group * kValues);
  });
  mu_ = sum_over_groups(0) / (2 * static_cast<double>(n_));
  double squared_norm = 0;
  double infeasible = 0;
  for (index_t f = 0; f < p_; ++f) {
    infeasible += (dual_w_[f] - w_[f]) * (dual_w_[f] - w_[f]);
    w_[f] += length * unit_ * d_w_[f];
    squared_norm += w_[f] * w_[f];
  }
  w_[p_] += length * unit_ * d_w_[p_];
  infeasible *= (1 - length) * (1 - length);
  const double unbalanced = (1 - length) * dual_w_[p_];
  const double unit_of_cost = unit_ * unit_;
  objective_ = (0.5 * squared_norm + sum_over_groups(1)) / unit_of_cost + task_.constant();
  if (fixed_.sum != nullptr) {
    objective_ += fixed_.value;
    for (index_t f = 0; f <= p_; ++f) objective_ -= fixed_.sum[f] * w_[f] / unit_;
  }
  gap_ = (sum_over_groups(2) + 0.5 * infeasible + std::abs(w_[p_] * unbalanced)) / unit_of_cost;
}

void InteriorPoint::copy_v(double* v) const {
  const double unit_of_cost = unit_ * unit_;
  for (index_t i = 0; i < n_; ++i) {
    const double cost = task_.cost()[i] * unit_of_cost;
    const double aim = best_alpha_[i] + best_lack_[i];
    const double alpha = aim <= 0 ? 0.0 : aim >= cost ? cost : best_alpha_[i];
    v[i] = task_.side()[i] * alpha / unit_of_cost;
  }
}

void InteriorPoint::copy_f(double* f) const {
  for (index_t i = 0; i < n_; ++i) f[i] = task_.label()[i] - task_.side()[i] * best_lack_[i];
}

void InteriorPoint::copy_w(double* w) const {
  for (index_t f = 0; f < pass_.width(); ++f) w[f] = best_w_[f] / unit_;
}

}  // namespace fastpu::detail
