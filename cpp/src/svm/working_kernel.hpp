// The kernel matrix of a working set, for a solver that takes one set after the other.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_base.hpp"

namespace fastpu::detail {

// Every variable of a set has a place, and what two successive sets have in common stays where it is. A variable is a
// position in `rows`.
template <class T>
class WorkingKernel {
 public:
  WorkingKernel(const Kernel<T>& kernel, const std::vector<index_t>& rows, index_t capacity);

  // Gives each of the variables a place, at most capacity() of them, and takes that of all others.
  void hold(const std::vector<index_t>& variables, Team& team);

  index_t capacity() const { return static_cast<index_t>(variables_.size()); }
  // Places from this one on are empty.
  index_t n_used() const { return n_used_; }
  // The variable in a place, -1 if there is none.
  index_t variable(index_t place) const { return variables_[at(place)]; }
  // Its kernel values with the variables in all places; those with empty places are any numbers.
  const T* row(index_t place) const { return values_.data() + place * stride_; }

 private:
  static constexpr index_t kRowsAtOnce = 16;

  void compute(const std::vector<index_t>& arriving, Team& team);

  const Kernel<T>& kernel_;
  const std::vector<index_t>& rows_;
  index_t stride_;
  index_t n_used_ = 0;
  AlignedBuffer<T> values_;
  std::vector<index_t> variables_;
  std::vector<index_t> places_;  // of each variable, -1 if it has none
  AlignedBuffer<T> fresh_;       // kernel values on the way to their places
};

}  // namespace fastpu::detail
