// The rows on the margin that move along a path, and the direction in which they do: see svm_path.hpp.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"
#include "linalg/elbow_factor.hpp"
#include "path/path_rows.hpp"

namespace fastpu::detail {

// Where the dual variables stand; all by position among the columns of the cache.
struct PathPoint {
  std::vector<double> label;  // +1, -1
  std::vector<double> cost;
  std::vector<double> alpha;

  // +1 at 0, -1 at the cost, 0 between.
  int bound(index_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return alpha[k] <= 0 ? 1 : alpha[k] >= cost[k] ? -1 : 0;
  }
};

class Elbow {
 public:
  enum class Outcome { found, nothing_moves, indefinite };

  Elbow(PathRows& rows, const PathPoint& point, double shift, Isa isa);

  const std::vector<index_t>& moving() const { return moving_; }
  bool is_moving(index_t i) const { return place_[static_cast<std::size_t>(i)] >= 0; }

  // u = y d of the moving rows, and d0.
  const std::vector<double>& slopes() const { return slopes_; }
  double offset_slope() const { return offset_slope_; }
  // X'u, where K is linear: that of the sum has lost what the parts cancel.
  const std::vector<double>& slope_weights() const { return slope_weights_; }
  double slope_of(index_t i) const {
    const index_t k = place_[static_cast<std::size_t>(i)];
    return k < 0 ? 0 : slopes_[static_cast<std::size_t>(k)];
  }

  // Lets a row move, unless it depends on those that do. Returns the pivot of ElbowFactor::add.
  double enter(index_t i);
  void leave(index_t i);

  // The slopes for the rows that move and those of `weak`, which are on the margin too; some enter, some leave. Those
  // with a free variable that depend on the others stay in `weak`, those that leave go there. `speed` is v = K u of all
  // rows for the slopes of before where these belong to the rows that move now; null where not.
  Outcome find_direction(std::vector<index_t>& weak, const double* speed);
  // Whether the last call of find_direction has left rows and slopes as they were.
  bool is_unchanged() const { return is_unchanged_; }

  // Corrects the slopes by their residual, K u + d0 + y of the moving rows.
  void refine(const std::vector<double>& residual);
  // The change of u and a0 that adds `residual` to K beta + a0 of the moving rows and `total` to the sum of beta; of
  // X'u too, where K is linear.
  void correct(const std::vector<double>& residual, double total, std::vector<double>& change, double& offset,
               std::vector<double>& weights) const;

  // The change of u that comes nearest to adding `weights` to X'beta and `total` to the sum of beta; K is linear.
  void fit(const std::vector<double>& weights, double total, std::vector<double>& change) const {
    change.resize(moving_.size());
    factor_.fit(weights.data(), total, change.data());
  }

  // The combination of the moving rows, with sum 1, that the row is which has just been found to depend on them.
  void express_last(std::vector<double>& factors) const {
    factors.resize(moving_.size());
    factor_.express_last(factors.data());
  }

  // Factors the system afresh. False if some row depends on the others by now: then all is left as it was.
  bool refactor();

 private:
  bool enter_pair(const std::vector<index_t>& weak);
  index_t find_blocked();
  double rate(index_t i, const double* speed);
  void solve();

  PathRows& rows_;
  const PathPoint& point_;
  double shift_;
  Isa isa_;
  ElbowFactor factor_;
  std::vector<index_t> moving_;
  std::vector<index_t> place_;  // of each row among those, -1 if it does not move
  std::vector<double> slopes_;
  std::vector<double> slope_weights_;
  double offset_slope_ = 0;
  bool is_unchanged_ = false;
  std::vector<double> reached_;  // d of rows at a bound, while the active set is looked for
  std::vector<double> column_;
};

}  // namespace fastpu::detail
