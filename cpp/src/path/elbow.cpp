#include "path/elbow.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fastpu::detail {

namespace {

constexpr double kNoSlope = 1e-10;        // a multiplier this small, relative to max(|d0|, 1), is rounding
constexpr double kNoSlopeOfRows = 1e-13;  // the same with known rows, which have smaller rounding errors
constexpr double kNegative = -1e-10;      // a pivot below this is negative beyond rounding

}  // namespace

Elbow::Elbow(PathRows& rows, const PathPoint& point, double shift)
    : rows_(rows),
      point_(point),
      factor_(shift, rows.isa(), rows.n_features()),
      place_(point.alpha.size(), -1),
      reached_(point.alpha.size(), 0.0) {}

double Elbow::enter(index_t i) {
  const double pivot = rows_.add_to_factor(factor_, moving_, i, point_.label[at(i)]);
  if (!ElbowFactor::is_dependent(pivot)) {
    place_[at(i)] = static_cast<index_t>(moving_.size());
    moving_.push_back(i);
  }
  return pivot;
}

void Elbow::leave(index_t i) {
  const index_t k = place_[at(i)];
  factor_.remove(k);
  moving_.erase(moving_.begin() + k);
  for (std::size_t j = at(k); j < moving_.size(); ++j) --place_[at(moving_[j])];
  place_[at(i)] = -1;
}

// If no row moves, one row of each class with a = c has to start moving together.
bool Elbow::enter_pair(const std::vector<index_t>& weak) {
  index_t pair[2] = {-1, -1};
  for (const index_t i : weak) {
    index_t& first = pair[point_.label[at(i)] > 0 ? 0 : 1];
    if (point_.bound(i) < 0 && (first < 0 || i < first)) first = i;
  }
  if (pair[0] < 0 || pair[1] < 0) return false;
  for (const index_t i : pair) {
    start_from_bound(i);
    enter(i);
  }
  if (moving_.size() == 2) return true;
  while (!moving_.empty()) leave(moving_.back());
  return false;
}

void Elbow::start_from_bound(index_t i) {
  reached_[at(i)] = 0;
  if (std::ranges::find(bounded_, i) == bounded_.end()) bounded_.push_back(i);
}

// Goes from the slopes reached so far towards the new ones, until the slope of a row at a bound would change its sign;
// returns that row, or -1 if there is none.
index_t Elbow::find_blocked() {
  index_t blocked = -1;
  double length = 1;
  double slack = -1;  // not known yet
  for (const index_t i : bounded_) {
    if (!is_moving(i)) continue;
    const int bound = point_.bound(i);
    const double slope = slope_of(i) * point_.label[at(i)];
    if (bound * slope >= 0) continue;
    if (slack < 0) {
      slack = 0;
      for (const double each : slopes_) slack = std::max(slack, 1e-13 * std::abs(each));
    }
    if (bound * slope >= -slack) continue;
    const double here = bound * reached_[at(i)];
    const double ratio = here / (here - bound * slope);
    if (blocked < 0 || ratio < length || (ratio == length && i < blocked)) {
      blocked = i;
      length = ratio;
    }
  }
  for (const index_t i : bounded_) {
    if (is_moving(i)) reached_[at(i)] += length * (slope_of(i) * point_.label[at(i)] - reached_[at(i)]);
  }
  return blocked;
}

// Returns the rate at which the slack of a row grows.
double Elbow::rate(index_t i, const double* speed) {
  double v = 0;
  if (speed != nullptr) {
    v = speed[i];
  } else if (rows_.is_linear()) {
    for (std::size_t f = 0; f < slope_weights_.size(); ++f) v += rows_.features(i)[f] * slope_weights_[f];
  } else {
    column_.resize(moving_.size());
    rows_.take(i, moving_, column_.data());
    for (std::size_t k = 0; k < moving_.size(); ++k) v += column_[k] * slopes_[k];
  }
  return 1 + point_.label[at(i)] * (v + offset_slope_);
}

Elbow::Outcome Elbow::find_direction(std::vector<index_t>& weak, const double* speed) {
  std::vector<index_t> dependent;
  const auto has = [](const std::vector<index_t>& rows, index_t i) { return std::ranges::find(rows, i) != rows.end(); };
  is_unchanged_ = false;
  bounded_.clear();
  for (const index_t i : moving_) {
    reached_[at(i)] = 0;
    if (point_.bound(i) != 0) bounded_.push_back(i);
  }
  // Every row starts and stops a few times at most; more changes are a cycle caused by rounding.
  for (std::size_t left = 50 + 8 * (weak.size() + 1); left > 0; --left) {
    if (moving_.empty()) {
      if (!enter_pair(weak)) return Outcome::nothing_moves;
      speed = nullptr;
    }
    if (speed == nullptr) solve();
    const index_t blocked = find_blocked();
    if (blocked >= 0) {
      leave(blocked);
      if (!has(weak, blocked)) weak.push_back(blocked);
      dependent.clear();
      speed = nullptr;
      continue;
    }
    const double slack = (rows_.is_linear() ? kNoSlopeOfRows : kNoSlope) * std::max(1.0, std::abs(offset_slope_));
    index_t worst = -1;
    double most = slack;
    for (const index_t i : weak) {
      if (is_moving(i) || has(dependent, i)) continue;
      const double grows = rate(i, speed);
      const int bound = point_.bound(i);
      const double wrong = bound == 0 ? std::abs(grows) : -bound * grows;
      if (wrong > most || (wrong == most && worst >= 0 && i < worst)) {
        worst = i;
        most = wrong;
      }
    }
    if (worst < 0) {
      is_unchanged_ = speed != nullptr;
      return Outcome::found;
    }
    start_from_bound(worst);
    const double pivot = enter(worst);
    if (pivot < kNegative) return Outcome::indefinite;
    if (is_moving(worst)) {
      speed = nullptr;
    } else {
      dependent.push_back(worst);
    }
  }
  if (speed == nullptr && !moving_.empty()) solve();
  return moving_.empty() ? Outcome::nothing_moves : Outcome::found;
}

void Elbow::solve() {
  slopes_.resize(moving_.size());
  if (rows_.is_linear()) slope_weights_.resize(at(rows_.n_features()));
  factor_.solve_labels(slopes_.data(), offset_slope_, rows_.is_linear() ? slope_weights_.data() : nullptr);
}

void Elbow::correct(const std::vector<double>& residual, double total, std::vector<double>& change, double& offset,
                    std::vector<double>& weights) const {
  change.resize(moving_.size());
  if (rows_.is_linear()) weights.resize(at(rows_.n_features()));
  factor_.solve(residual.data(), total, change.data(), offset, rows_.is_linear() ? weights.data() : nullptr);
}

void Elbow::refine(const std::vector<double>& residual) {
  std::vector<double> change;
  std::vector<double> weights;
  double offset = 0;
  double sum = 0;
  for (const double each : slopes_) sum += each;
  std::vector<double> wanted(residual);
  for (double& each : wanted) each = -each;
  correct(wanted, -sum, change, offset, weights);
  for (std::size_t k = 0; k < slopes_.size(); ++k) slopes_[k] += change[k];
  for (std::size_t f = 0; f < weights.size(); ++f) slope_weights_[f] += weights[f];
  offset_slope_ += offset;
}

}  // namespace fastpu::detail
