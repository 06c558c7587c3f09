// The rows on the margin that move along a path, and the direction in which they do: see svm_path.hpp.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"
#include "linalg/elbow_factor.hpp"
#include "path/path_rows.hpp"

namespace fastpu::detail {

// The dual variables at a point of the path, all by position among the columns of the cache.
struct PathPoint {
  std::vector<double> label;  // +1, -1
  std::vector<double> cost;
  std::vector<double> alpha;

  // Returns +1 if a is 0, -1 if it is the cost, 0 if it is between.
  int bound(index_t i) const { return alpha[at(i)] <= 0 ? 1 : alpha[at(i)] >= cost[at(i)] ? -1 : 0; }
};

class Elbow {
 public:
  enum class Outcome { found, nothing_moves, indefinite };

  Elbow(PathRows& rows, const PathPoint& point, double shift);

  const std::vector<index_t>& moving() const { return moving_; }
  bool is_moving(index_t i) const { return place_[at(i)] >= 0; }

  // u = y d of the moving rows, and d0: the slopes of y a and a0.
  const std::vector<double>& slopes() const { return slopes_; }
  double offset_slope() const { return offset_slope_; }
  // X'u, if K is linear. It is more accurate than the sum over the rows, whose terms may cancel.
  const std::vector<double>& slope_weights() const { return slope_weights_; }
  double slope_of(index_t i) const {
    const index_t k = place_[at(i)];
    return k < 0 ? 0 : slopes_[at(k)];
  }

  // Makes a row move, unless it depends on the moving rows. Returns the pivot of ElbowFactor::add.
  double enter(index_t i);
  void leave(index_t i);

  // Computes the slopes at a breakpoint, from the moving rows and those in `weak`, which are on the margin but not
  // moving; some start to move, others stop. Rows between their bounds that depend on the moving ones stay in `weak`,
  // and rows that stop are added to it. `speed` is v = K u of all rows for the old slopes, if these belong to the
  // present moving rows; else null.
  Outcome find_direction(std::vector<index_t>& weak, const double* speed);
  // Returns whether the last call of find_direction left rows and slopes unchanged.
  bool is_unchanged() const { return is_unchanged_; }

  // Corrects the slopes by their residual, K u + d0 + y of the moving rows.
  void refine(const std::vector<double>& residual);
  // Computes the change of beta = y a and a0 that adds `residual` to K beta + a0 of the moving rows and `total` to the
  // sum of beta; also the change of X'beta, if K is linear.
  void correct(const std::vector<double>& residual, double total, std::vector<double>& change, double& offset,
               std::vector<double>& weights) const;

 private:
  void start_from_bound(index_t i);
  bool enter_pair(const std::vector<index_t>& weak);
  index_t find_blocked();
  double rate(index_t i, const double* speed);
  void solve();

  PathRows& rows_;
  const PathPoint& point_;
  ElbowFactor factor_;
  std::vector<index_t> moving_;
  std::vector<index_t> place_;  // of each row among the moving ones, -1 if it does not move
  std::vector<double> slopes_;
  std::vector<double> slope_weights_;
  double offset_slope_ = 0;
  bool is_unchanged_ = false;
  std::vector<double> reached_;   // d of rows at a bound during the search for the active set
  std::vector<index_t> bounded_;  // those rows, and others that have stopped
  std::vector<double> column_;
};

}  // namespace fastpu::detail
