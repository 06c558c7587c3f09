// The start of an SVM path: the point of the heavier class that is nearest to the lighter one, which is at its costs,
//
//     min over a of the heavier class  | sum a_i phi(x_i) - sum_light c_j phi(x_j) |^2
//     subject to  0 <= a_i <= c_i,  sum a_i = total
//
// with total the sum of the lighter costs. Sequential minimal optimisation comes close; an active-set method with
// Newton steps then solves up to rounding, with values exactly at their bounds and independent free rows.
#pragma once

#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/path_problem.hpp"

namespace fastpu::detail {

// Returns the class whose costs have the larger sum: +1, -1, or 0 for equal sums. Throws std::invalid_argument for
// labels and costs that have no path.
int heavier_class(const SvmPathProblem& problem);

// Where a path begins. The rows of the heavier class, if there is one, become the columns of the cache.
struct PathStart {
  std::vector<double> alpha;  // of every row of the problem
  // X'(y a), if rows are used in place of kernel rows: more accurate than a plain sum over the rows, and 0 if it is
  // only rounding.
  std::vector<double> weights;
};
PathStart start_of_path(KernelCache<double>& cache, const DenseView<double>* linear, const SvmPathProblem& problem,
                        int heavier, Team& team);

}  // namespace fastpu::detail
