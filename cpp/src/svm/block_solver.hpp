// Sequential minimal optimisation in blocks, for many problems over the same rows: those of smo.hpp, but with working
// sets of some hundred variables, the free ones and those that violate most. A working set is solved on its own kernel
// matrix, which fits the caches of the processor: pair steps find the variables at bounds, and where these converge
// slowly, Newton steps move the others. Only then are the gradients of all variables updated, from kernel rows that
// stay cached for the problems that follow. No variable is shrunk, so that these rows are always whole. Where more
// variables are free than a working set has room for, pair steps are made among all.
#pragma once

#include <vector>

#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo_problem.hpp"
#include "svm/pair_solver.hpp"
#include "svm/working_kernel.hpp"

namespace fastpu::detail {

// Solves problems one after the other. The columns of the cache are `rows`, the rows of all problems, in their order;
// cache and rows must outlive the solver.
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
