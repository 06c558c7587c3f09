// The record of a path: its knots, stored as the changes from one to the next, and its events.
#pragma once

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
                 const std::vector<index_t>& changed, const std::vector<double>& weights);

  // Adds the events of the last knot: rows that start to move there, and rows that stop, listed by left().
  void note_events(const Elbow& elbow, const PathPoint& point);
  const std::vector<index_t>& left() const { return left_; }
  // Returns whether the last knot is the first one or has an event.
  bool is_breakpoint() const;

 private:
  SvmPathResult& result_;
  std::vector<index_t> order_;
  std::vector<index_t> moved_before_;
  std::vector<index_t> left_;
  std::vector<char> moved_;  // whether each row moved along the last segment
};

}  // namespace fastpu::detail
