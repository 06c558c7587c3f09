// Corrections of the points of a path: removes rounding errors, and tests whether a point is optimal.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "path/path_walk.hpp"

namespace fastpu::detail {

namespace {

constexpr double kResidual = 1e-11;  // largest residual of the margin, relative to lam, that is left uncorrected
constexpr int kMostPolishes = 3;
constexpr double kMostGap = 1e-6;        // largest relative duality gap of a point of the path
constexpr double kMostViolation = 1e-6;  // largest violation of the optimality conditions
constexpr int kMostUpdates = 100;        // calls of weights_of_alpha() from one sum over all rows to the next

}  // namespace

// Corrects a and a0 such that the moving rows are on the margin. A row that meets a bound on the way stops moving.
void PathWalk::polish(Elbow& elbow) {
  const bool is_linear = rows_->is_linear();
  std::vector<double> residual;
  std::vector<double> change;
  std::vector<double> weights;
  for (std::size_t left = is_linear ? kMostPolishes + elbow.moving().size() : 1; left > 0; --left) {
    const std::vector<index_t> moving = elbow.moving();
    if (moving.empty()) return;
    double worst = 0, offset = 0;
    residual.resize(moving.size());
    for (std::size_t k = 0; k < moving.size(); ++k) {
      residual[k] = point_.label[at(moving[k])] * lam_ - h_[at(moving[k])] - a0_;
      worst = std::max(worst, std::abs(residual[k]));
    }
    const double sum = is_linear ? 0 : loops_.dot(beta_.data(), ones_.data(), problem_.n);
    if (worst <= kResidual * lam_ && std::abs(sum) <= kRounding * sum_alpha_) break;
    elbow.correct(residual, -sum, change, offset, weights);
    if (!std::isfinite(offset) || !std::ranges::all_of(change, [](double x) { return std::isfinite(x); })) break;
    const FirstBound first = is_linear ? first_bound(moving, change) : FirstBound{};
    for (double& each : change) each *= first.length;
    for (double& each : weights) each *= first.length;
    put(moving, change);
    a0_ += first.length * offset;
    for (std::size_t f = 0; f < weights.size(); ++f) w_[f] += weights[f];
    add(moving, change, weights, h_);
    if (first.row >= 0) put_at_bound(elbow, first);
  }
}

// Returns which row meets a bound first if y a changes by `change` times a length that grows up to 1.
PathWalk::FirstBound PathWalk::first_bound(const std::vector<index_t>& rows, const std::vector<double>& change) const {
  FirstBound first;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double slope = change[k] * point_.label[at(rows[k])];
    const double room = room_along(rows[k], slope);
    if (room < first.length) first = {room, rows[k], slope > 0};
  }
  return first;
}

void PathWalk::put_at_bound(Elbow& elbow, const FirstBound& reached) {
  set_alpha(reached.row, reached.is_cost ? point_.cost[at(reached.row)] : 0);
  release(elbow, reached.row);
}

double PathWalk::room_along(index_t i, double slope) const {
  if (slope == 0) return kInfinity;
  return slope < 0 ? point_.alpha[at(i)] / -slope : (point_.cost[at(i)] - point_.alpha[at(i)]) / slope;
}

// Adds changes to y a, clipped at the bounds; `change` then holds the changes actually made.
void PathWalk::put(const std::vector<index_t>& rows, std::vector<double>& change) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::size_t i = at(rows[k]);
    const double value = std::clamp(point_.alpha[i] + change[k] * point_.label[i], 0.0, point_.cost[i]);
    change[k] = (value - point_.alpha[i]) * point_.label[i];
    set_alpha(rows[k], value);
  }
}

void PathWalk::set_alpha(index_t row, double value) {
  const std::size_t i = at(row);
  sum_alpha_ += value - point_.alpha[i];
  point_.alpha[i] = value;
  beta_[i] = value * point_.label[i];
  if (rows_->is_linear()) unweighed_.push_back(row);
}

// Returns X'(y a). Only a few rows have changed since the last call, so their changes are added to what it returned;
// now and then all rows are summed, or rounding errors would grow.
const std::vector<double>& PathWalk::weights_of_alpha() {
  if (alpha_weights_.empty() || ++n_updates_ >= kMostUpdates) {
    n_updates_ = 0;
    alpha_weights_.assign(w_.size(), 0.0);
    weighed_beta_.assign(at(problem_.n), 0.0);
    unweighed_.resize(at(problem_.n));
    std::iota(unweighed_.begin(), unweighed_.end(), index_t{0});
  }
  for (const index_t i : unweighed_) {
    if (beta_[at(i)] == weighed_beta_[at(i)]) continue;
    loops_.add(alpha_weights_.data(), beta_[at(i)] - weighed_beta_[at(i)], rows_->features(i), rows_->n_features());
    weighed_beta_[at(i)] = beta_[at(i)];
  }
  unweighed_.clear();
  return alpha_weights_;
}

// If the path keeps weights, compares the primal objective with the dual: both are accurate to many digits even where
// X'(y a) differs from the weights.
bool PathWalk::is_optimal(const PathCheck& check) {
  if (!rows_->is_linear()) return true;
  if (!(check.worst <= kMostViolation * lam_)) return false;
  double loss = check.loss;
  for (const index_t i : unlimited_) {
    loss += point_.alpha[at(i)] * std::max(0.0, lam_ - point_.label[at(i)] * (h_[at(i)] + a0_));
  }
  const std::vector<double>& weights = weights_of_alpha();
  const double dual = lam_ * sum_alpha_ - loops_.dot(weights.data(), weights.data(), rows_->n_features()) / 2;
  const double primal = loss + loops_.dot(w_.data(), w_.data(), rows_->n_features()) / 2;
  const double sum = loops_.dot(beta_.data(), ones_.data(), problem_.n);
  return std::abs(primal - dual) <= kMostGap * std::abs(primal) && std::abs(sum) <= kMostGap * sum_alpha_;
}

// Takes a row at a bound out of the moving rows, until a later direction makes it move.
void PathWalk::release(Elbow& elbow, index_t i) {
  elbow.leave(i);
  set_side(i, false);
  forced_.push_back(i);
  speed_is_known_ = false;
}

}  // namespace fastpu::detail
