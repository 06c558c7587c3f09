#include "fastpu/path/svm_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "path/path_start.hpp"
#include "path/path_walk.hpp"

namespace fastpu {

namespace detail {

namespace {

constexpr double kTrivial = 1e-9;          // a first breakpoint below this share of reach() is 0
constexpr double kVanishing = 1e-290;      // below such a first breakpoint 1 / lam overflows, now or soon
constexpr double kPrecision = 1e-8;        // below this share of reach(), lam is too small to tell the margin
constexpr double kOnMarginOfRows = 1e-12;  // kOnMargin with known rows, whose scores have smaller rounding errors
constexpr double kAtBound = 1e-11;         // a value this close to a bound, as a share of its box, is at the bound
constexpr double kSlopeResidual = 1e-9;    // a larger residual of the slopes, relative to max(|d0|, 1), is corrected
constexpr int kMostPauses = 12;            // most successive pauses within one segment
constexpr double kLongestStep = 0.999;     // with known rows, the longest step but the last, as a share of lam
constexpr double kNoStep = 1e-13;          // a shorter step, as a share of lam, is no progress
constexpr int kMostNoSteps = 20;           // after more steps without progress a path is stalled
constexpr double kRecompute = 20;          // h is computed anew when updates have cost so many times as much
constexpr double kLeastWatched = 1e-4;     // rows are watched only while lam exceeds this share of reach()

}  // namespace

void PathWalk::find_start() {
  const index_t n = problem_.n;
  result_.heavier = heavier_class(problem_);
  auto start = start_of_path(cache_, linear_, problem_, result_.heavier, team_);
  result_.start_alpha = std::move(start.alpha);
  w_ = std::move(start.weights);
  cache_.set_columns(problem_.rows, n, team_);
  auto position = make_vector<index_t>(cache_.kernel().n_rows(), "rows of the path");
  for (index_t i = 0; i < n; ++i) position[at(problem_.rows[i])] = i;
  std::vector<index_t> order;  // position in the problem of each column of the cache
  for (const index_t row : cache_.columns()) {
    const index_t i = position[at(row)];
    order.push_back(i);
    point_.label.push_back(problem_.labels[i]);
    point_.cost.push_back(problem_.costs[i]);
    point_.alpha.push_back(result_.start_alpha[at(i)]);
    beta_.push_back(result_.start_alpha[at(i)] * problem_.labels[i]);
    box_ = std::max(box_, result_.start_alpha[at(i)]);
  }
  for (auto* values : {&h_, &v_, &weight_, &side_}) values->resize(at(n));
  ones_.assign(at(n), 1.0);
  loss_cost_ = point_.cost;
  for (index_t i = 0; i < n; ++i) {
    if (std::isfinite(point_.cost[at(i)])) continue;
    loss_cost_[at(i)] = 0;
    unlimited_.push_back(i);
  }
  near_.resize(at(n));
  record_.set_order(std::move(order));
}

// Computes h = K (y a) and what depends on it. If the path keeps weights, h comes from them, since y a is less
// accurate.
void PathWalk::recompute(bool with_reach) {
  std::vector<index_t> support;
  std::vector<double> factors;
  for (index_t i = 0; i < problem_.n; ++i) {
    if (point_.alpha[at(i)] == 0) continue;
    support.push_back(i);
    factors.push_back(point_.alpha[at(i)] * point_.label[at(i)]);
  }
  std::ranges::fill(h_, 0.0);
  if (rows_->is_linear()) {
    rows_->add_weighted(w_.data(), h_.data());
  } else {
    rows_->add(support, factors.data(), h_.data());
  }
  sum_alpha_ = 0;
  for (const double factor : factors) sum_alpha_ += std::abs(factor);
  work_ = 0;
  lam_of_scores_ = lam_;
  if (!with_reach) return;
  first_sum_ = sum_alpha_;
  if (rows_->is_linear()) return;
  for (double& factor : factors) factor = std::abs(factor);
  reach_ = rows_->reach(support, factors.data());
}

// Adds K times the factors to the sums of all rows; if K is linear, X'factors is given.
void PathWalk::add(const std::vector<index_t>& rows, const std::vector<double>& factors,
                   const std::vector<double>& weights, std::vector<double>& sums) {
  if (rows_->is_linear()) {
    rows_->add_weighted(weights.data(), sums.data());
  } else {
    rows_->add(rows, factors.data(), sums.data());
  }
  work_ += static_cast<double>(rows.size());
}

void PathWalk::set_side(index_t i, bool moves) {
  const int bound = moves ? 0 : point_.bound(i);
  side_[at(i)] = bound;
  weight_[at(i)] = bound * point_.label[at(i)];
}

// Returns false if the path is trivial.
bool PathWalk::find_first_breakpoint() {
  recompute(true);
  double top = -kInfinity;    // the largest h of positive rows with a > 0
  double bottom = kInfinity;  // the least h of negative rows with a > 0
  for (index_t i = 0; i < problem_.n; ++i) {
    if (point_.alpha[at(i)] <= 0) continue;
    if (point_.label[at(i)] > 0) top = std::max(top, h_[at(i)]);
    if (point_.label[at(i)] < 0) bottom = std::min(bottom, h_[at(i)]);
  }
  lam_ = (top - bottom) / 2;
  a0_ = lam_ - top;
  const bool is_trivial = rows_->is_linear() ? !(lam_ > 0) : lam_ <= kTrivial * reach_;
  if (!std::isfinite(lam_) || (!is_trivial && lam_ < kVanishing))
    throw std::invalid_argument("sums of kernel values overflow or vanish; scale X");
  return !is_trivial;
}

void PathWalk::note_knot(const std::vector<index_t>& changed) {
  if (rows_->is_linear()) {
    norm_ = loops_.dot(w_.data(), w_.data(), rows_->n_features());
  } else if (!watch_->is_partial()) {
    norm_ = std::max(0.0, loops_.dot(beta_.data(), h_.data(), problem_.n));
  }
  record_.note_knot(lam_, a0_, sum_alpha_, norm_, point_, changed, w_);
}

// Lists the rows on the margin that are not moving.
void PathWalk::find_weak(const Elbow& elbow) {
  std::vector<index_t> held;
  for (const index_t i : weak_) {
    if (!elbow.is_moving(i) && point_.bound(i) == 0) held.push_back(i);
  }
  weak_ = held;
  for (const index_t i : forced_) {
    if (!elbow.is_moving(i) && std::ranges::find(weak_, i) == weak_.end()) weak_.push_back(i);
  }
  forced_.clear();
  const index_t n_near = loops_.list_near(slacks(), a0_, lam_, tolerance(), near_.data());
  const std::size_t n_listed = weak_.size();
  for (index_t k = 0; k < n_near; ++k) {
    const auto end = weak_.begin() + static_cast<std::ptrdiff_t>(n_listed);
    if (std::find(weak_.begin(), end, near_[at(k)]) == end) weak_.push_back(near_[at(k)]);
  }
}

// Computes the scores of all rows at this point if only some have been watched, and their speeds if the slopes are
// known.
void PathWalk::look_at_all(const Elbow& elbow, bool with_speed) {
  if (!watch_->is_partial()) return;
  watch_->end();
  if (work_ > kRecompute * static_cast<double>(problem_.n)) {
    recompute(false);
  } else {
    const auto& before = watch_->first_beta();
    std::vector<index_t> changed;
    std::vector<double> by;
    std::vector<double> slopes;
    for (index_t i = 0; i < problem_.n; ++i) {
      if (beta_[at(i)] == before[at(i)] && !elbow.is_moving(i)) continue;
      changed.push_back(i);
      by.push_back(beta_[at(i)] - before[at(i)]);
      slopes.push_back(elbow.slope_of(i));
    }
    h_ = watch_->first_scores();
    if (with_speed) {
      std::ranges::fill(v_, 0.0);
      rows_->add_two(changed, by.data(), slopes.data(), h_.data(), v_.data());
      has_new_speed_ = true;
    } else {
      rows_->add(changed, by.data(), h_.data());
    }
    work_ += static_cast<double>(changed.size());
  }
  norm_ = std::max(0.0, loops_.dot(beta_.data(), h_.data(), problem_.n));
  for (const index_t i : watch_->far()) set_side(i, elbow.is_moving(i));
  speed_is_known_ = false;
}

// Computes v = K u, and corrects the slopes if K shows that they are not accurate.
void PathWalk::find_speed(Elbow& elbow) {
  speed_is_known_ = true;
  if (watch_->is_partial()) {
    watch_->find_speed(elbow, v_.data());
    return;
  }
  const auto& moving = elbow.moving();
  std::vector<double> residual(moving.size());
  for (int time = 0; time < 3; ++time) {
    if (!has_new_speed_) {
      std::ranges::fill(v_, 0.0);
      add(moving, elbow.slopes(), elbow.slope_weights(), v_);
    }
    has_new_speed_ = false;
    double worst = 0;
    for (std::size_t k = 0; k < moving.size(); ++k) {
      residual[k] = v_[at(moving[k])] + elbow.offset_slope() + point_.label[at(moving[k])];
      worst = std::max(worst, std::abs(residual[k]));
    }
    if (worst <= kSlopeResidual * std::max(1.0, std::abs(elbow.offset_slope())) || time == 2) break;
    elbow.refine(residual);
  }
}

// Moves on by `step`; moving rows that reach a bound stop there.
void PathWalk::move(Elbow& elbow, double step, index_t first_exit) {
  const std::vector<index_t> moving = elbow.moving();
  const std::vector<double>& slopes = elbow.slopes();
  std::vector<index_t> exits;
  std::vector<double> rounded;  // the difference between each y a and the bound that it is put at
  for (std::size_t k = 0; k < moving.size(); ++k) {
    const std::size_t i = at(moving[k]);
    const double slope = slopes[k] * point_.label[i];
    double value = point_.alpha[i] + step * slope;
    const double near = kAtBound * (std::isfinite(point_.cost[i]) ? std::min(point_.cost[i], first_sum_) : box_);
    const bool is_first = moving[k] == first_exit;
    const bool falls_out = slope < 0 && (value <= near || is_first);
    if (falls_out || (slope > 0 && (value >= point_.cost[i] - near || is_first))) {
      const double bound = falls_out ? 0 : point_.cost[i];
      exits.push_back(moving[k]);
      rounded.push_back((bound - value) * point_.label[i]);
      value = bound;
    }
    set_alpha(moving[k], value);
  }
  double slope_sum = 0;  // the sum of the slopes of a
  for (std::size_t k = 0; k < moving.size(); ++k) slope_sum += slopes[k] * point_.label[at(moving[k])];
  norm_ = std::max(0.0, norm_ + step * slope_sum * (2 * lam_ - step));
  watch_->learn(step);
  loops_.add(h_.data(), step, v_.data(), problem_.n);
  if (rows_->is_linear()) loops_.add(w_.data(), step, elbow.slope_weights().data(), rows_->n_features());
  if (!rows_->is_linear()) rows_->add(exits, rounded.data(), h_.data());
  a0_ += step * elbow.offset_slope();
  lam_ -= step;
  for (const index_t i : exits) release(elbow, i);
  watch_->note(elbow, exits);
}

// Only a0 can move, within an interval that closes where a row of either class with a = c meets the margin.
void PathWalk::cross_gap(const Elbow& elbow) {
  look_at_all(elbow, false);
  index_t top = -1;
  index_t bottom = -1;
  for (index_t i = 0; i < problem_.n; ++i) {
    if (point_.bound(i) >= 0 || elbow.is_moving(i)) continue;
    if (point_.label[at(i)] > 0) {
      if (top < 0 || h_[at(i)] > h_[at(top)]) top = i;
    } else if (bottom < 0 || h_[at(i)] < h_[at(bottom)]) {
      bottom = i;
    }
  }
  double next = 0;
  double offset = 0;
  if (top >= 0 && bottom >= 0) {
    next = std::min(lam_, (h_[at(top)] - h_[at(bottom)]) / 2);
    offset = next - h_[at(top)];
    forced_ = {top, bottom};
  }
  const double stop = std::max(next, options_.lam_min);
  if (next < lam_) a0_ += (offset - a0_) * ((lam_ - stop) / (lam_ - next));
  lam_ = stop;
  speed_is_known_ = false;
}

// Finds the next event: a row meets the margin (its position is in the result), or a bound (its position is in `exit`).
PathStep PathWalk::find_step(const Elbow& elbow, index_t& exit) {
  for (const index_t i : weak_) side_[at(i)] = weight_[at(i)] = 0;
  PathStep next = loops_.nearest(slacks(), v_.data(), a0_, elbow.offset_slope(), lam_);
  for (const index_t i : weak_) set_side(i, elbow.is_moving(i));
  exit = -1;
  for (std::size_t k = 0; k < elbow.moving().size(); ++k) {
    const index_t row = elbow.moving()[k];
    const std::size_t i = at(row);
    const double slope = elbow.slopes()[k] * point_.label[i];
    if (point_.bound(row) * slope < 0) continue;
    const double room = room_along(row, slope);
    if (room < next.step) {
      next.step = room;
      exit = row;
    }
  }
  return next;
}

// Returns whether the weights of all features go to 0 together with lam, up to rounding.
bool PathWalk::is_last_segment(const Elbow& elbow) const {
  if (elbow.moving().empty()) return false;
  const double most = reach();
  for (std::size_t f = 0; f < w_.size(); ++f) {
    const double largest = rows_->largest(static_cast<index_t>(f));
    const double size = std::min(first_sum_ * largest, most / largest);
    const double left = std::abs(w_[f] + lam_ * elbow.slope_weights()[f]);
    if (left > kOnMargin * std::abs(w_[f]) + kRounding * size) return false;
  }
  return true;
}

// Chooses the step to the next breakpoint and the row that meets a bound there. Returns true if the step ends at the
// least lam that precision allows.
bool PathWalk::choose_step(Elbow& elbow, double& step, index_t& exit) {
  if (!speed_is_known_) find_speed(elbow);
  PathStep next = find_step(elbow, exit);
  const auto moment = [&] { return PathMoment{lam_, a0_, beta_.data(), h_.data(), v_.data()}; };
  if (watch_->is_partial() && !watch_->covers(moment(), elbow, std::min(next.step, lam_))) {
    look_at_all(elbow, true);
    polish(elbow);
  }
  if (!watch_->is_partial()) {
    if (!speed_is_known_) {
      find_speed(elbow);
      next = find_step(elbow, exit);
    }
    // Where rounding errors matter, every step computes the scores of all rows and polishes the point.
    if (lam_ > kLeastWatched * reach() &&
        watch_->start(moment(), elbow, side_, weak_, std::min(next.step, lam_), tolerance())) {
      for (const index_t i : watch_->far()) side_[at(i)] = weight_[at(i)] = v_[at(i)] = 0;
    }
  }
  step = next.step;
  const bool is_linear = rows_->is_linear();
  bool is_last = step >= lam_ * (1 - kOnMargin) - 10 * kRounding * reach();
  if (is_linear && step > kLongestStep * lam_) {
    // Far above a breakpoint its place is inaccurate, so only a part of the way is made first.
    is_last = is_last_segment(elbow);
    step = kLongestStep * lam_;
    next.row = exit = -1;
    ++n_pauses_;
  } else {
    n_pauses_ = 0;
  }
  // On the last segment f stays the same down to lam = 0, and a small remaining lam is only rounding: the path is known
  // to its end, wherever lam_min lies. Below the floor rounding hides the margin.
  const double floor = is_linear ? 0 : kPrecision * reach();
  if (is_last) {
    step = lam_;
    exit = -1;
  } else if (lam_ - std::min(step, lam_) < floor && options_.lam_min < floor) {
    step = std::max(0.0, lam_ - floor);
    exit = -1;
    return true;
  } else if (step > lam_ - options_.lam_min) {
    step = lam_ - options_.lam_min;
    exit = -1;
  } else if (exit < 0 && next.row >= 0) {
    forced_.push_back(next.row);
  }
  return false;
}

// Follows one segment; returns false where the path ends.
bool PathWalk::take_step(Elbow& elbow) {
  if (lam_ <= options_.lam_min) return finish(lam_ > 0 ? PathStatus::lam_min : PathStatus::zero);
  if (lam_ < kPrecision * reach()) return finish(PathStatus::precision);
  find_weak(elbow);
  const auto outcome = elbow.find_direction(weak_, speed_is_known_ ? v_.data() : nullptr);
  if (outcome == Elbow::Outcome::indefinite) return finish(PathStatus::indefinite);
  speed_is_known_ = speed_is_known_ && elbow.is_unchanged();
  for (const index_t i : elbow.moving()) set_side(i, true);
  for (const index_t i : weak_) set_side(i, elbow.is_moving(i));
  record_.note_events(elbow, point_);
  const auto n_events = static_cast<index_t>(result_.event_row.size());
  // Rounding may end a step without an event. Such steps are counted as well: they must not go on for ever.
  if (!record_.is_breakpoint() && n_pauses_ == 0) ++n_eventless_;
  if (n_events + n_eventless_ >= options_.max_events) return finish(PathStatus::max_events);
  if (callback_ && record_.is_breakpoint()) {
    const auto n_breakpoints = static_cast<index_t>(result_.knots.size());
    const PathRound round{n_breakpoints, n_events, lam_, result_.n_margin.back(), result_.objective.back()};
    if (callback_(round)) return finish(PathStatus::callback);
  }
  const double before = lam_;
  std::vector<index_t> changed;
  bool is_at_floor = false;
  if (outcome == Elbow::Outcome::nothing_moves) {
    cross_gap(elbow);
  } else {
    watch_->note(elbow, record_.left());
    double step = 0;
    index_t exit = -1;
    is_at_floor = choose_step(elbow, step, exit);
    if (n_pauses_ > kMostPauses) return finish(PathStatus::stalled);
    changed = elbow.moving();
    const bool ends_at_lam_min = step < lam_ && step == lam_ - options_.lam_min;
    const double target = ends_at_lam_min ? options_.lam_min : lam_ - step;
    move(elbow, step, exit);
    lam_ = target;
    if (lam_ == 0 && rows_->is_linear()) {  // what is left of w is rounding
      std::ranges::fill(w_, 0.0);
      a0_ = 0;
    }
    if (!watch_->is_partial()) {
      const bool has_lost = rows_->is_linear() && lam_ < lam_of_scores_ / 2;  // the digits that sums far larger had
      if (lam_ > 0 && (has_lost || work_ > kRecompute * static_cast<double>(problem_.n))) recompute(false);
      polish(elbow);
    }
  }
  if (lam_ > 0 && !watch_->is_partial()) {
    const PathCheck check = check_rows();
    if (!is_optimal(check)) return finish(PathStatus::stalled);  // the path ends at the breakpoint before this one
    result_.violation = std::max(result_.violation, check.worst / lam_);
  }
  note_knot(changed);
  if (is_at_floor) return finish(PathStatus::precision);
  n_no_steps_ = before - lam_ > kNoStep * before ? 0 : n_no_steps_ + 1;
  return n_no_steps_ <= kMostNoSteps || finish(PathStatus::stalled);
}

SvmPathResult PathWalk::run() {
  find_start();
  PathRows rows(cache_, linear_, team_);
  rows_ = &rows;
  PathWatch watch(rows, point_);
  watch_ = &watch;
  result_.status = PathStatus::trivial;
  if (!find_first_breakpoint()) return std::move(result_);
  double shift = 0;
  for (index_t i = 0; i < problem_.n; ++i) shift += rows.diagonal(i) / static_cast<double>(problem_.n);
  if (!(shift > 0)) shift = 1;
  if (rows.is_linear()) on_margin_ = kOnMarginOfRows;
  Elbow elbow(rows, point_, shift);
  for (index_t i = 0; i < problem_.n; ++i) {
    set_side(i, false);
    if (point_.bound(i) != 0) continue;
    elbow.enter(i);
    if (!elbow.is_moving(i)) weak_.push_back(i);
  }
  lam_of_scores_ = lam_;
  if (rows.is_linear()) polish(elbow);
  note_knot({});
  if (lam_ > 0) result_.violation = check_rows().worst / lam_;
  while (take_step(elbow)) team_.poll();
  if (result_.knots.back() == lam_ && lam_ > 0) {
    recompute(false);  // the scores of all rows certify the end
    for (index_t i = 0; i < problem_.n; ++i) set_side(i, elbow.is_moving(i));
    result_.violation = std::max(result_.violation, check_rows().worst / lam_);
  }
  return std::move(result_);
}

void check_finite(const SvmPathResult& result) {
  const auto is_finite = [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  if (is_finite(result.knots) && is_finite(result.offsets) && is_finite(result.weights) &&
      std::isfinite(result.violation)) {
    return;
  }
  throw std::invalid_argument(
      "X must have entries so small that kernel values do not overflow; scale X or use another kernel");
}

}  // namespace detail

SvmPathResult svm_path(const Kernel<double>& kernel, const SvmPathProblem& problem, const SvmPathOptions& options,
                       const PathCallback& callback, Team& team) {
  KernelCache<double> cache(kernel, options.cache_bytes);
  SvmPathResult result = detail::PathWalk(cache, nullptr, problem, options, callback, team).run();
  detail::check_finite(result);
  return result;
}

}  // namespace fastpu
