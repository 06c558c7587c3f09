#include "path/path_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fastpu::detail {

namespace {

constexpr index_t kLeastWork = 20'000;  // with fewer products in a step, all rows are followed
constexpr std::size_t kAnchors = 8;
constexpr index_t kSpare = 64;      // room for rows that are added to the watched ones
constexpr index_t kAhead = 20;      // steps that a watch should last
constexpr index_t kFewSteps = 5;    // a watch that lasts for fewer steps was too small
constexpr double kMostShare = 0.7;  // watching a larger share of the rows does not pay
constexpr double kSafety = 1.0001;

}  // namespace

PathWatch::PathWatch(PathRows& rows, const PathPoint& point)
    : rows_(rows),
      point_(point),
      loops_(&svm_kernels(rows.isa())),
      place_(point.alpha.size(), -1),
      slot_(point.alpha.size(), -1),
      slope_(point.alpha.size(), 0.0),
      is_changed_(point.alpha.size(), 0) {}

// Chooses the moving rows that are farthest from their bounds, since they are likely to stay on the margin.
void PathWatch::choose_anchors(const Elbow& elbow) {
  anchors_ = elbow.moving();
  const auto room = [&](index_t i) { return std::min(point_.alpha[at(i)], point_.cost[at(i)] - point_.alpha[at(i)]); };
  const std::size_t n = std::min(kAnchors, anchors_.size());
  std::partial_sort(anchors_.begin(), anchors_.begin() + static_cast<std::ptrdiff_t>(n), anchors_.end(),
                    [&](index_t i, index_t j) { return room(i) > room(j) || (room(i) == room(j) && i < j); });
  anchors_.resize(n);
}

void PathWatch::learn(double step_length) {
  if (is_partial_) ++n_steps_;
  mean_step_ += (step_length - mean_step_) * 0.05;
}

bool PathWatch::start(const PathMoment& now, const Elbow& elbow, const std::vector<double>& side,
                      const std::vector<index_t>& weak, double step, double tolerance) {
  const index_t n = rows_.n();
  if (n_steps_ > 0 && n_steps_ < kFewSteps) share_ = std::min(1.0, share_ * 1.4);
  if (n_steps_ > 2 * kAhead / 3) share_ = std::max(0.05, share_ * 0.9);
  n_steps_ = 0;
  for (const index_t i : changed_) is_changed_[at(i)] = 0;
  far_.clear();
  changed_.clear();
  is_partial_ = false;
  const auto n_moving = static_cast<index_t>(elbow.moving().size());
  if (rows_.is_linear() || n * n_moving < kLeastWork) return false;
  if (mean_step_ == 0) mean_step_ = step;
  horizon_ = std::min(std::max(static_cast<double>(kAhead) * mean_step_, 4 * step), now.lam);

  choose_anchors(elbow);
  const double weight = 1 / static_cast<double>(anchors_.size());
  sums_.assign(at(n), 0.0);
  const std::vector<double> weights(anchors_.size(), weight);
  rows_.add(anchors_, weights.data(), sums_.data());
  double own = 0;
  for (const index_t i : anchors_) own += weight * sums_[at(i)];
  ratio_.clear();
  std::vector<index_t> candidates;
  for (index_t i = 0; i < n; ++i) {
    if (elbow.is_moving(i)) continue;
    const double s = side[at(i)];
    const double y = point_.label[at(i)];
    const double p = s * (y * (now.score[i] + now.a0) - now.lam);
    const double q = s * (y * (now.speed[i] + elbow.offset_slope()) + 1);
    const double gap = s == 0 ? -kInfinity : std::min(p, p + q * horizon_) - 2 * tolerance;
    const double squared = rows_.diagonal(i) - 2 * sums_[at(i)] + own;
    const double distance = std::sqrt(std::max(0.0, squared) + kRounding * (rows_.diagonal(i) + std::abs(own)));
    candidates.push_back(i);
    ratio_.push_back(gap > 0 ? gap / distance : gap);
  }
  const auto n_off = static_cast<index_t>(candidates.size());
  const auto n_wanted = static_cast<index_t>(share_ * static_cast<double>(n_off));
  if (n_wanted < 1 || n_wanted > static_cast<index_t>(kMostShare * static_cast<double>(n_off))) {
    share_ = std::max(0.05, share_ * 0.98);  // to try a watch again after some time
    return false;
  }
  std::vector<double> sorted(ratio_);
  std::nth_element(sorted.begin(), sorted.begin() + n_wanted, sorted.end());
  reach_ = sorted[at(n_wanted)];
  if (!(reach_ > 0)) {
    share_ = std::min(1.0, share_ * 1.4);
    return false;
  }
  std::vector<index_t> near;
  for (index_t k = 0; k < n_off; ++k) {
    const index_t i = candidates[at(k)];
    const bool is_near = ratio_[at(k)] < reach_ || std::ranges::find(weak, i) != weak.end();
    (is_near ? near : far_).push_back(i);
  }
  is_full_ = false;
  watch_rows(near, elbow);

  lam_ = now.lam;
  a0_ = now.a0;
  offset_slope_ = elbow.offset_slope();
  beta_.assign(now.beta, now.beta + n);
  score_.assign(now.score, now.score + n);
  speed_.assign(now.speed, now.speed + n);
  largest_ = 0;
  for (const double each : score_) largest_ = std::max(largest_, std::abs(each));
  std::ranges::fill(slope_, 0.0);
  for (std::size_t k = 0; k < elbow.moving().size(); ++k) slope_[at(elbow.moving()[k])] = elbow.slopes()[k];
  is_partial_ = true;
  return true;
}

index_t PathWatch::new_slot(index_t i) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<index_t>(pack_.size()));
    pack_.emplace_back();
  }
  const index_t slot = free_slots_.back();
  free_slots_.pop_back();
  slot_[at(i)] = slot;
  packed_.push_back(i);
  auto& values = pack_[at(slot)];
  if (static_cast<index_t>(values.size()) < capacity_) values.resize(at(capacity_));
  return slot;
}

// Watches these rows from here on. Most were watched before, and most moving rows moved then: their kernel values stay
// where they are, and those of new rows take the places of rows that are watched no longer.
void PathWatch::watch_rows(const std::vector<index_t>& near, const Elbow& elbow) {
  std::vector<index_t> kept;
  for (const index_t i : elbow.moving()) {
    if (slot_[at(i)] >= 0) kept.push_back(i);
  }
  for (const index_t i : packed_) {
    if (slot_[at(i)] < 0 || elbow.is_moving(i)) continue;
    free_slots_.push_back(slot_[at(i)]);
    slot_[at(i)] = -1;
  }
  packed_ = std::move(kept);

  std::vector<char> is_near(at(rows_.n()));
  for (const index_t i : near) is_near[at(i)] = 1;
  std::vector<std::size_t> gaps;  // among the watched rows
  for (std::size_t k = 0; k < watched_.size(); ++k) {
    if (is_near[at(watched_[k])] != 0) continue;
    place_[at(watched_[k])] = -1;
    gaps.push_back(k);
  }
  std::vector<index_t> fresh;
  for (const index_t i : near) {
    if (place_[at(i)] >= 0) continue;
    const std::size_t place = fresh.size() < gaps.size() ? gaps[fresh.size()] : watched_.size();
    if (place == watched_.size()) watched_.emplace_back();
    watched_[place] = i;
    place_[at(i)] = static_cast<index_t>(place);
    fresh.push_back(i);
  }
  for (std::size_t g = gaps.size(); g > fresh.size(); --g) {  // the last row moves to the gap
    const std::size_t place = gaps[g - 1];
    watched_[place] = watched_.back();
    if (place + 1 < watched_.size()) place_[at(watched_[place])] = static_cast<index_t>(place);
    for (const index_t i : packed_) {
      std::vector<double>& values = pack_[at(slot_[at(i)])];
      values[place] = values[watched_.size() - 1];
    }
    watched_.pop_back();
  }
  const auto needed = static_cast<index_t>(watched_.size()) + kSpare;
  if (needed > capacity_) capacity_ = needed + needed / 4;
  for (const index_t i : packed_) pack_[at(slot_[at(i)])].resize(at(capacity_));
  pack(fresh);
}

// Fills in the kernel values of these watched rows with the moving rows that have a place.
void PathWatch::pack(const std::vector<index_t>& fresh) {
  constexpr std::size_t kAtOnce = 8;  // a cache line of each moving row, where they are neighbours
  const std::size_t n = packed_.size();
  std::vector<double> values(kAtOnce * n);
  for (std::size_t first = 0; first < fresh.size(); first += kAtOnce) {
    const std::size_t n_now = std::min(kAtOnce, fresh.size() - first);
    for (std::size_t r = 0; r < n_now; ++r) rows_.take(fresh[first + r], packed_, values.data() + r * n);
    for (std::size_t k = 0; k < n; ++k) {
      double* to = pack_[at(slot_[at(packed_[k])])].data();
      for (std::size_t r = 0; r < n_now; ++r) to[place_[at(fresh[first + r])]] = values[r * n + k];
    }
  }
}

// Returns the kernel values of a moving row with the watched rows.
double* PathWatch::row_of(index_t i) {
  index_t slot = slot_[at(i)];
  if (slot < 0) {
    slot = new_slot(i);
    rows_.take(i, watched_, pack_[at(slot)].data());
  }
  return pack_[at(slot)].data();
}

void PathWatch::note(const Elbow& elbow, const std::vector<index_t>& left) {
  if (!is_partial_) return;
  const auto change = [&](index_t i) {
    if (is_changed_[at(i)] != 0) return;
    is_changed_[at(i)] = 1;
    changed_.push_back(i);
  };
  for (const index_t i : left) {
    change(i);
    if (std::ranges::find(anchors_, i) != anchors_.end()) is_full_ = true;  // a new watch has to start
    if (slot_[at(i)] >= 0) {
      free_slots_.push_back(slot_[at(i)]);
      slot_[at(i)] = -1;
    }
    if (place_[at(i)] >= 0) continue;
    if (static_cast<index_t>(watched_.size()) == capacity_) {
      is_full_ = true;
      continue;
    }
    place_[at(i)] = static_cast<index_t>(watched_.size());
    std::vector<index_t> rows;
    for (const index_t j : packed_) {
      if (slot_[at(j)] >= 0) rows.push_back(j);
    }
    std::vector<double> values(rows.size());
    rows_.take(i, rows, values.data());
    for (std::size_t k = 0; k < rows.size(); ++k) pack_[at(slot_[at(rows[k])])][watched_.size()] = values[k];
    watched_.push_back(i);
  }
  for (const index_t i : elbow.moving()) {
    if (slope_[at(i)] == 0) change(i);
  }
}

void PathWatch::find_speed(const Elbow& elbow, double* speed) {
  const auto& moving = elbow.moving();
  const auto width = static_cast<index_t>(watched_.size());
  pointers_.clear();
  for (const index_t i : moving) pointers_.push_back(row_of(i));
  // Computing rows does not move the earlier ones: each has memory of its own.
  sums_.assign(at(width), 0.0);
  loops_->f64.add_rows(sums_.data(), pointers_.data(), elbow.slopes().data(), static_cast<index_t>(moving.size()),
                       width);
  for (index_t k = 0; k < width; ++k) speed[watched_[at(k)]] = sums_[at(k)];
  for (const index_t i : moving) speed[i] = -point_.label[at(i)] - elbow.offset_slope();
}

bool PathWatch::covers(const PathMoment& now, const Elbow& elbow, double step) const {
  if (is_full_) return false;
  const double way = lam_ - now.lam + step;
  if (way > horizon_) return false;
  const double e0 = now.a0 + step * elbow.offset_slope() - a0_ - way * offset_slope_;
  double squared = 0;
  double mass = 0;
  for (const index_t i : changed_) {
    const double u = elbow.slope_of(i);
    const double e = now.beta[i] + step * u - beta_[at(i)] - way * slope_[at(i)];
    const double moved = now.score[i] + step * now.speed[i] - score_[at(i)] - way * speed_[at(i)];
    squared += e * (moved + e0);
    mass += std::abs(e);
  }
  return std::sqrt(std::max(0.0, squared) + kRounding * largest_ * mass) * kSafety <= reach_;
}

}  // namespace fastpu::detail
