// Sequential minimal optimisation for the duals of support vector machines:
//
//     min_b  1/2 b'Kb + q'b    subject to  lower <= b <= upper  and  sum of b over each group = its sum at the start
//
// with a kernel matrix K and one group of variables (C-SVM, one-class SVM) or two (nu-SVM). In the usual notation
// b_i = y_i alpha_i.
//
// Pairs are chosen by second-order gain (Fan, Chen and Lin, 2005) and solved exactly, and the gradient of all active
// variables follows, in two passes a step over cached kernel rows. Variables that are likely to stay at a bound are
// left out (shrinking), and their gradients are rebuilt when the others are optimal. Where pairs crawl and few
// variables are at no bound, these are moved together by a Newton step. The end is reached when no pair of variables of
// a group violates the conditions by more than tol: max over b_i > lower_i of g_i <= min over b_i < upper_i of g_i +
// tol, g = Kb + q.
//
// The linear kernel needs no rows: w = X'b is kept, and gradients are Xw + q, in time of the entries of X. Variables
// are taken some hundred at a time, those at no bound and those that violate most; the kernel matrix of such a working
// set is all that is formed.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo_problem.hpp"

namespace fastpu {

// `solution` holds the start and then the result. The cache's columns are set to the problem's rows.
template <class T>
SmoResult smo(KernelCache<T>& cache, const SmoProblem& problem, const SmoOptions& options, const SmoCallback& callback,
              Team& team, double* solution);

// The same for K = X X', X dense or sparse.
template <template <class> class View, class T>
SmoResult smo_linear(const View<T>& x, const SmoProblem& problem, const SmoOptions& options,
                     const SmoCallback& callback, Team& team, double* solution);

}  // namespace fastpu
