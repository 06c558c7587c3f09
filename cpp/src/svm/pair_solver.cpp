#include "svm/pair_solver.hpp"

#include <cmath>

namespace fastpu::detail {

template <class T>
PairSolver<T>::PairSolver(index_t capacity, int n_groups, Team& team)
    : kernels_(svm_kernels(team.isa())),
      loops_(kernels_.of<T>()),
      team_(team),
      n_groups_(n_groups),
      stride_(round_up(capacity, kSmoLane)),
      group_(make_vector<std::uint8_t>(stride_, "groups of variables")),
      gradient_(stride_, "gradients"),
      up_wall_(stride_ * n_groups, "bounds of variables"),
      low_wall_(stride_ * n_groups, "bounds of variables"),
      value_(stride_, "variables"),
      lower_(stride_, "bounds of variables"),
      upper_(stride_, "bounds of variables"),
      diagonal_(stride_, "the diagonal of a kernel") {
  const auto n_blocks = at(count_blocks(stride_, kPassBlock));
  block_first_.resize(n_blocks);
  block_second_.resize(n_blocks);
}

template <class T>
void PairSolver<T>::add(int group, double gradient, double value, double lower, double upper, double diagonal) {
  const index_t i = size_++;
  group_[at(i)] = static_cast<std::uint8_t>(group);
  gradient_[i] = gradient;
  value_[i] = value;
  lower_[i] = lower;
  upper_[i] = upper;
  diagonal_[i] = static_cast<T>(diagonal);
  for (int g = 0; g < n_groups_; ++g) {
    up_wall(g)[i] = kInfinity;
    low_wall(g)[i] = -kInfinity;
  }
  set_walls(i);
}

// Fills the last lanes up with variables that can neither grow nor shrink.
template <class T>
void PairSolver<T>::close() {
  const index_t n = size_;
  while (size_ % kSmoLane != 0) add(0, 0.0, 0.0, 0.0, 0.0, 0.0);
  padded_size_ = std::exchange(size_, n);
  // An even number of blocks of equal size, so that no thread waits for a last one.
  const index_t n_blocks = std::max<index_t>(1, padded_size_ / (2 * kPassBlock) * 2);
  pass_block_ = round_up(count_blocks(padded_size_, n_blocks), kSmoLane);
  double largest = 0;
  for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(diagonal_[i])));
  least_curvature_ = std::max(kLeastCurvature * largest, std::numeric_limits<double>::min());
}

// Calls pass(first, n) for every block. Ties go to the lowest position, whatever the blocks.
template <class T>
template <class Pass>
SmoFirst PairSolver<T>::in_blocks(Pass&& pass) {
  if (padded_size_ <= pass_block_) return pass(0, padded_size_);
  const index_t n_blocks = count_blocks(padded_size_, pass_block_);
  team_.for_each(n_blocks, [&](index_t block, int) {
    const index_t first = block * pass_block_;
    SmoFirst& out = block_first_[at(block)];
    out = pass(first, std::min(pass_block_, padded_size_ - first));
    if (out.up >= 0) out.up += first;
  });
  SmoFirst best = block_first_[0];
  for (index_t block = 1; block < n_blocks; ++block) {
    const SmoFirst& other = block_first_[at(block)];
    if (other.up_min < best.up_min) {
      best.up_min = other.up_min;
      best.up = other.up;
    }
    best.low_max = std::max(best.low_max, other.low_max);
  }
  return best;
}

template <class T>
SmoFirst PairSolver<T>::window(int group) {
  return in_blocks([&](index_t first, index_t n) {
    return kernels_.first(gradient_.data() + first, up_wall(group) + first, low_wall(group) + first, n);
  });
}

template <class T>
void PairSolver<T>::start() {
  first_[0] = window(0);
  first_[1] = n_groups_ > 1 ? window(1) : SmoFirst{kInfinity, -kInfinity, -1};
}

template <class T>
SmoFirst PairSolver<T>::move(int group, double step, const T* row_up, const T* row_low) {
  return in_blocks([&](index_t first, index_t n) {
    return loops_.move(gradient_.data() + first, up_wall(group) + first, low_wall(group) + first, n, step,
                       row_up + first, row_low + first);
  });
}

template <class T>
SmoSecond PairSolver<T>::second(int group, const SmoFirst& from, const T* row_up) {
  const auto pass = [&](index_t first, index_t n) {
    return loops_.second(gradient_.data() + first, low_wall(group) + first, n, from.up_min,
                         static_cast<double>(diagonal_[from.up]), least_curvature_, row_up + first,
                         diagonal_.data() + first);
  };
  if (padded_size_ <= pass_block_) return pass(0, padded_size_);
  const index_t n_blocks = count_blocks(padded_size_, pass_block_);
  team_.for_each(n_blocks, [&](index_t block, int) {
    const index_t first = block * pass_block_;
    SmoSecond& out = block_second_[at(block)];
    out = pass(first, std::min(pass_block_, padded_size_ - first));
    if (out.low >= 0) out.low += first;
  });
  SmoSecond best = block_second_[0];
  for (index_t block = 1; block < n_blocks; ++block) {
    const SmoSecond& other = block_second_[at(block)];
    if (other.gain > best.gain) best = other;
  }
  return best;
}

template class PairSolver<float>;
template class PairSolver<double>;

}  // namespace fastpu::detail
