// The record of a path: its knots, stored as the changes from one to the next, and its events.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/path/path_problem.hpp"
#include "path/elbow.hpp"

namespace fastpu::detail {

class PathRecord {
 public:
  explicit PathRecord(SvmPathResult& result) : result_(result) {}

  // Sets the position in the problem of each column of the cache.
  void set_order(std::vector<index_t> order) {
    order_ = std::move(order);
    moved_.assign(order_.size(), 0);
  }

  // Adds a knot, with the rows whose a has changed since the last one. If the last one is at the same lam, or turned
  // out to be no breakpoint, it becomes this knot instead. norm = (y a)'K(y a); weights = X'(y a), or empty.
  void note_knot(double lam, double a0, double sum_alpha, double norm, const PathPoint& point,
                 const std::vector<index_t>& changed, const std::vector<double>& weights) {
    if (result_.knots.empty() || (lam < result_.knots.back() && is_breakpoint())) {
      result_.knots.emplace_back();
      result_.offsets.push_back(a0);
      result_.objective.push_back(0);
      result_.norm.push_back(0);
      result_.n_margin.push_back(0);
      if (result_.change_start.empty()) result_.change_start.push_back(0);
      result_.change_start.push_back(result_.change_start.back());
      result_.weights.resize(result_.weights.size() + weights.size());
    }
    result_.knots.back() = lam;
    std::ranges::copy(weights, result_.weights.end() - static_cast<std::ptrdiff_t>(weights.size()));
    result_.offsets.back() = a0;
    if (lam > 0) {
      result_.objective.back() = sum_alpha - norm / (2 * lam);
      result_.norm.back() = norm / (lam * lam);
    }
    const std::size_t n_before = result_.change_row.size();
    result_.change_row.resize(n_before + changed.size());
    result_.change_alpha.resize(n_before + changed.size());
    for (std::size_t k = 0; k < changed.size(); ++k) {
      result_.change_row[n_before + k] = static_cast<std::int32_t>(order_[at(changed[k])]);
      result_.change_alpha[n_before + k] = point.alpha[at(changed[k])];
    }
    result_.change_start.back() = static_cast<index_t>(result_.change_row.size());
  }

  // Adds the events of the last knot: rows that start to move there, and rows that stop, listed by left().
  void note_events(const Elbow& elbow, const PathPoint& point) {
    const auto knot = static_cast<index_t>(result_.knots.size()) - 1;
    const auto note = [&](index_t i, PathEvent kind) {
      result_.event_knot.push_back(knot);
      result_.event_kind.push_back(static_cast<std::uint8_t>(kind));
      result_.event_row.push_back(static_cast<std::int32_t>(order_[at(i)]));
    };
    left_.clear();
    for (const index_t i : moved_before_) {
      if (elbow.is_moving(i)) continue;
      left_.push_back(i);
      moved_[at(i)] = 0;
      const int bound = point.bound(i);
      if (bound != 0) note(i, bound > 0 ? PathEvent::to_right : PathEvent::to_left);
    }
    for (const index_t i : elbow.moving()) {
      if (moved_[at(i)] != 0) continue;
      moved_[at(i)] = 1;
      const int bound = point.bound(i);
      note(i, bound == 0 ? PathEvent::start : bound > 0 ? PathEvent::from_right : PathEvent::from_left);
    }
    moved_before_ = elbow.moving();
    result_.n_margin.back() = static_cast<index_t>(elbow.moving().size());
  }

  const std::vector<index_t>& left() const { return left_; }
  // Returns whether the last knot is the first one or has an event.
  bool is_breakpoint() const {
    const auto last = static_cast<index_t>(result_.knots.size()) - 1;
    return last == 0 || (!result_.event_knot.empty() && result_.event_knot.back() == last);
  }

 private:
  SvmPathResult& result_;
  std::vector<index_t> order_;
  std::vector<index_t> moved_before_;
  std::vector<index_t> left_;
  std::vector<char> moved_;  // whether each row moved along the last segment
};

}  // namespace fastpu::detail
