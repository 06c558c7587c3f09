// The whole regularisation path of the weighted SVM, with every breakpoint: for all lam > 0
//
//     min over f = <w, phi(x)> + b0 of  sum_i c_i (1 - y_i f(x_i))_+ + lam/2 |w|^2,    0 < c_i <= inf
//
// where c_i = inf (in one class only) demands y_i f(x_i) >= 1. Its dual is
//
//     min_a  1/2 a'Qa - lam 1'a   subject to  y'a = 0,  0 <= a_i <= c_i,      Q_ij = y_i y_j K(x_i, x_j)
//
// and f(x) = (sum_j a_j y_j K(x, x_j) + a0) / lam; the C-SVM of fit_svm has C_i = c_i / lam and alpha = a / lam.
// Between breakpoints a and a0 are linear in lam. c = 1 gives SvmPath, c = inf for the labelled and 1 for the
// unlabelled rows (y = -1) PU-SvmPath.
//
// Above the first breakpoint a is constant: the class with the smaller sum of costs is at its costs, and the other one
// as near to it in feature space as its own costs allow. At a breakpoint the slopes (d, d0) of a and a0 for decreasing
// lam solve
//
//     min_d  1/2 d'Q_EE d + 1'd   subject to  y'd = 0,  d_i >= 0 where a_i = 0,  d_i <= 0 where a_i = c_i
//
// over the rows E on the margin. This holds for any number of rows that arrive or leave at once, and for a singular K.
// The path continues until the next row meets the margin or a bound, and a Newton step on the rows between their bounds
// removes rounding errors. The system of these rows is kept factored.
//
// For a linear kernel with few features K is not formed. The path then keeps lam w = X'(y a) beside a, since computing
// it from a would lose small features beside large ones, and returns a0 and lam w. The duality gap of each point is
// checked before the point is returned, and a breakpoint takes time O(n d + m^2).
//
// With another kernel a breakpoint with m rows on the margin takes time O(n m + m^2), and less if many breakpoints are
// close together: only rows that may soon meet the margin are then followed from one to the next, with a bound for the
// others. Memory holds the kernel cache, m^2 / 2 values, and the values of a that change at each breakpoint.
//
// Sources: Hastie, Rosset, Tibshirani and Zhu 2004; Yao, Tang and Li, "The entire solution path for support vector
// machine in positive and unlabeled classification".
#pragma once

#include <variant>

#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "fastpu/path/path_problem.hpp"

namespace fastpu {

// The path of any kernel. Throws std::invalid_argument for labels or costs out of range, and for kernel values whose
// sums overflow or vanish.
SvmPathResult svm_path(const Kernel<double>& kernel, const SvmPathProblem& problem, const SvmPathOptions& options,
                       const PathCallback& callback, Team& team);

// The same for the linear kernel of these rows. Dense rows, and sparse ones of few features, are centred for it: f does
// not depend on the origin, but its rounding errors do. The result is that for the rows as they are given.
using LinearRows = std::variant<DenseView<double>, CsrView<double>>;
SvmPathResult linear_svm_path(const LinearRows& rows, const SvmPathProblem& problem, const SvmPathOptions& options,
                              const PathCallback& callback, Team& team);

}  // namespace fastpu
