// The inner loop of sequential minimal optimisation: pairs of variables chosen by second-order gain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

struct PairProgress {
  index_t n_steps = 0;
  double decrease = 0;      // of the objective
  double distance = 0;      // sum of the absolute changes
  bool is_optimal = false;  // within the tolerance
  bool is_stuck = false;    // the last step was too small to change anything
  index_t missing = -1;     // the variable whose kernel row go_on() waits for, -1 if none
};

// The variables of a working set, by position. T is the type of kernel values.
template <class T>
class PairSolver {
 public:
  PairSolver(index_t capacity, int n_groups, Team& team);

  // To fill it, call clear(), then add() for each variable, then close().
  void clear() { size_ = 0; }
  void add(int group, double gradient, double value, double lower, double upper, double diagonal);
  void close();

  index_t size() const { return size_; }
  double value(index_t i) const { return value_[i]; }
  // Sets a value within its bounds; the caller has to update the gradients.
  void set_value(index_t i, double value) {
    value_[i] = value;
    set_walls(i);
  }
  double* gradient() { return gradient_.data(); }
  // The gradient of a variable that may grow, or its negative for one that may shrink; infinite for others.
  double pull(index_t i, bool upwards) {
    const int g = group_[at(i)];
    return upwards ? gradient_[i] + up_wall(g)[i] : -(gradient_[i] + low_wall(g)[i]);
  }
  bool may_grow(index_t i) const { return value_[i] < upper_[i]; }
  bool may_shrink(index_t i) const { return value_[i] > lower_[i]; }

  // Returns, for a group, the least gradient of variables that may grow and the largest of those that may shrink.
  SmoFirst window(int group);

  // Solves pairs until none violates the conditions by more than tol, or for max_steps. row(i) returns the kernel
  // values of a variable with all others, readable up to the next multiple of kSmoLane and valid until the call after
  // the next.
  template <class Row>
  PairProgress solve(double tol, index_t max_steps, Row&& row) {
    PairProgress progress;
    start();
    go_on(progress, tol, max_steps, std::forward<Row>(row));
    return progress;
  }
  // The same in parts: start() once, then go_on() until no row is missing, which it is where row(i) returns null.
  // max_steps counts the steps of all parts.
  void start();
  template <class Row>
  void go_on(PairProgress& progress, double tol, index_t max_steps, Row&& row);

 private:
  // The least number of variables in a block of a pass; smaller blocks are not worth another thread.
  static constexpr index_t kPassBlock = 8192;
  // The least curvature used along a pair, as a share of the largest diagonal entry: the curvature is zero for equal
  // rows, and negative for some pairs if the kernel is not positive definite.
  static constexpr double kLeastCurvature = 1e-12;

  double* up_wall(int group) { return up_wall_.data() + group * stride_; }
  double* low_wall(int group) { return low_wall_.data() + group * stride_; }
  void set_walls(index_t i) {
    up_wall(group_[at(i)])[i] = may_grow(i) ? 0.0 : kInfinity;
    low_wall(group_[at(i)])[i] = may_shrink(i) ? 0.0 : -kInfinity;
  }
  template <class Pass>
  SmoFirst in_blocks(Pass&& pass);
  SmoFirst move(int group, double step, const T* row_up, const T* row_low);
  SmoSecond second(int group, const SmoFirst& from, const T* row_up);

  const SvmKernels& kernels_;
  const TypedKernels<T>& loops_;
  Team& team_;
  int n_groups_;
  index_t stride_;
  index_t size_ = 0;
  index_t padded_size_ = 0;
  index_t pass_block_ = 0;
  double least_curvature_ = kLeastCurvature;
  std::vector<std::uint8_t> group_;
  AlignedBuffer<double> gradient_;
  AlignedBuffer<double> up_wall_;  // for each group: infinite where a variable is of another group or may not grow
  AlignedBuffer<double> low_wall_;
  AlignedBuffer<double> value_;
  AlignedBuffer<double> lower_;
  AlignedBuffer<double> upper_;
  AlignedBuffer<T> diagonal_;
  SmoFirst first_[2];
  std::vector<SmoFirst> block_first_;
  std::vector<SmoSecond> block_second_;
};

template <class T>
template <class Row>
void PairSolver<T>::go_on(PairProgress& progress, double tol, index_t max_steps, Row&& row) {
  const auto violation = [&](int g) { return first_[g].up < 0 ? 0.0 : first_[g].low_max - first_[g].up_min; };
  progress.missing = -1;
  for (;;) {
    const int g = violation(1) > violation(0) ? 1 : 0;
    if (!(violation(g) > tol)) {
      progress.is_optimal = true;
      return;
    }
    if (progress.n_steps >= max_steps) return;
    const index_t up = first_[g].up;
    const T* row_up = row(up);
    if (row_up == nullptr) {
      progress.missing = up;
      return;
    }
    const index_t low = second(g, first_[g], row_up).low;
    if (low < 0) {  // rounding makes every gain zero or less
      progress.is_stuck = true;
      return;
    }
    const T* row_low = row(low);
    if (row_low == nullptr) {
      progress.missing = low;
      return;
    }
    // The step goes to the minimum along the pair, or to the first bound.
    const double slope = gradient_[low] - gradient_[up];
    const double curvature =
        static_cast<double>(diagonal_[up]) + static_cast<double>(diagonal_[low]) - 2 * static_cast<double>(row_up[low]);
    const double room_up = upper_[up] - value_[up];
    const double room_low = value_[low] - lower_[low];
    const double step = std::min({slope / std::max(curvature, least_curvature_), room_up, room_low});
    const double old_up = std::exchange(value_[up], step >= room_up ? upper_[up] : value_[up] + step);
    const double old_low = std::exchange(value_[low], step >= room_low ? lower_[low] : value_[low] - step);
    if (value_[up] == old_up && value_[low] == old_low) {
      progress.is_stuck = true;
      return;
    }
    progress.decrease += step * (slope - 0.5 * curvature * step);
    set_walls(up);
    set_walls(low);
    ++progress.n_steps;
    progress.distance += step;
    first_[0] = move(0, step, row_up, row_low);
    if (n_groups_ > 1) first_[1] = window(1);
  }
}

}  // namespace fastpu::detail
