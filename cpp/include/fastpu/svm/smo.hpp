// Sequential minimal optimisation for the duals of support vector machines:
//
//     min_b  1/2 b'Kb + q'b    subject to  lower <= b <= upper  and  sum of b over each group = its sum at the start
//
// with a kernel matrix K and one group of variables (C-SVM, one-class SVM) or two (nu-SVM). In the usual notation
// b_i = y_i alpha_i.
//
// Pairs are chosen by second-order gain (Fan, Chen and Lin, 2005) and solved exactly; each step updates the gradient of
// all active variables, in two passes over cached kernel rows. Variables that are likely to stay at a bound are left
// out (shrinking), and their gradients are computed again when the others are optimal. Where pair steps converge slowly
// and few variables are free (strictly between their bounds), the free ones are moved together by a Newton step. The
// solver stops when no pair of variables of a group violates the optimality conditions by more than tol: max over b_i >
// lower_i of g_i <= min over b_i < upper_i of g_i + tol, where g = Kb + q.
//
// The linear kernel needs no kernel rows: w = X'b is kept, and gradients are Xw + q, which takes time proportional to
// the entries of X. A working set has some hundred variables, the free ones and those that violate most, and only its
// kernel matrix is formed. For one-class and nu-SVMs of spambase, surgical and webkb this takes 1/1.5 to 1/17 of the
// time of kernel rows (bench/benchmarks/methods.py).
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo_problem.hpp"

namespace fastpu {

// `solution` holds the start and then the result. The columns of the cache are set to the rows of the problem.
template <class T>
SmoResult smo(KernelCache<T>& cache, const SmoProblem& problem, const SmoOptions& options, const SmoCallback& callback,
              Team& team, double* solution);

// The same with kernel rows of rounded values. Steps are made by them. `exact`, a kernel over the same rows, gives the
// gradients by which the fit ends, so that the violation of the result is that of the exact problem. Only variables of
// value 0 that rounding cannot bring into a violating pair keep rounded gradients. Ends with `precision` where rounding
// hides violations of tol; then all gradients are exact.
SmoResult smo_rounded(KernelCache<float>& cache, const Kernel<double>& exact, const SmoProblem& problem,
                      const SmoOptions& options, const SmoCallback& callback, Team& team, double* solution);

// The same for K = X X', X dense or sparse.
template <template <class> class View, class T>
SmoResult smo_linear(const View<T>& x, const SmoProblem& problem, const SmoOptions& options,
                     const SmoCallback& callback, Team& team, double* solution);

}  // namespace fastpu
