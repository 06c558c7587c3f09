// Where an SVM path begins: the heavier class as near to the lighter one, at its costs, as its own costs allow,
//
//     min over a of the heavier class  | sum a_i phi(x_i) - sum_light c_j phi(x_j) |^2,   0 <= a_i <= c_i,  sum a_i =
//     total
//
// with total the sum of the lighter costs. Sequential minimal optimisation comes near; an active-set method with Newton
// steps ends at rounding, with values at their bounds exactly, and with free rows that are independent.
#pragma once

#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/path_problem.hpp"

namespace fastpu::detail {

// The class whose costs sum to more: +1, -1, or 0 for equal sums. Throws std::invalid_argument for labels and costs
// that no path has.
int heavier_class(const SvmPathProblem& problem);

// Where a path begins. The rows of the heavier class, if there is one, become the columns of the cache.
struct PathStart {
  std::vector<double> alpha;  // of every row of the problem
  // Where the rows of a linear kernel are given: X'(y a), more exact than a plain sum over the rows, and 0 where all of
  // it is rounding.
  std::vector<double> weights;
};
PathStart start_of_path(KernelCache<double>& cache, const SvmPathProblem& problem, int heavier,
                        const SvmPathOptions& options, Team& team);

}  // namespace fastpu::detail
