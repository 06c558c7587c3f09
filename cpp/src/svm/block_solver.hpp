// Sequential minimal optimisation in blocks, for many problems over the same rows: those of smo.hpp, but with working
// sets of some hundred variables, the free ones and those that violate most. A working set is solved on its own kernel
// matrix, which fits the caches of the processor: pair steps find the variables at bounds, and where they crawl, Newton
// steps move the others. Only then are the gradients of all variables updated, from kernel rows that stay cached for
// the problems that follow. No variable is shrunk, so that these rows are always whole. Where more variables are free
// than a working set has room for, pair steps are made among all.
#pragma once

#include <memory>
#include <vector>

#include "fastpu/svm/smo_problem.hpp"
#include "svm/cached_rows.hpp"

namespace fastpu::detail {

// The kernel matrix of a working set. What two successive sets have in common stays where it is.
template <class T>
class WorkingKernel {
 public:
  WorkingKernel(const Kernel<T>& kernel, const std::vector<index_t>& rows, index_t size);

  // Gives each of the variables a place, at most `size` of them. A variable is a position in `rows`.
  void hold(const std::vector<index_t>& variables, Team& team);

  index_t size() const { return static_cast<index_t>(variables_.size()); }
  // Places from this one on are empty.
  index_t n_used() const { return n_used_; }
  // The variable in a place, -1 if there is none.
  index_t variable(index_t place) const { return variables_[at(place)]; }
  // Its kernel values with those in all places; what belongs to empty ones is any number.
  const T* row(index_t place) const { return values_.data() + place * stride_; }
  index_t stride() const { return stride_; }

 private:
  static constexpr index_t kRowsAtOnce = 16;

  const Kernel<T>& kernel_;
  const std::vector<index_t>& rows_;
  index_t stride_;
  index_t n_used_ = 0;
  AlignedBuffer<T> values_;
  std::vector<index_t> variables_;
  std::vector<index_t> places_;  // of each variable, -1 if it has none
  AlignedBuffer<T> fresh_;       // kernel values on the way to their places
};

// Solves problems one after the other. The columns of the cache are the rows of all problems, in their order, and both
// must outlive the solver.
template <class T>
class BlockSolver {
 public:
  BlockSolver(KernelCache<T>& cache, const std::vector<index_t>& rows, int n_groups, const SmoOptions& options,
              Team& team);

  // `solution` holds the start and then the result.
  SmoResult solve(const SmoProblem& problem, double* solution);

 private:
  KernelCache<T>& cache_;
  SmoOptions options_;
  Team& team_;
  WorkingKernel<T> kernel_;
  PairSolver<T> pairs_;
};

}  // namespace fastpu::detail
