// The convex risk of positive and unlabelled rows: f(x) = w'x + b,
//
//     min over w, b of  R = -prior mean_p f + mean_u phi(f) + lam/2 |w|^2,    phi(f) = log(1 + e^f) or (1 + f)^2 / 4,
//
// with means over positive (p) and unlabelled (u) rows, weighted by their weights. It is what uPU minimises,
// prior mean_p l(f) + mean_u l(-f) - prior mean_p l(-f), with the logistic loss l(z) = log(1 + e^-z) or the squared one
// (1 - z)^2 / 4, for which l(z) - l(-z) = -z. b is not penalised.
//
// Newton's method with a step length that decreases R enough. For the squared loss the first step is the solution in
// closed form, and the others remove rounding errors. Up to 2000 features the system is solved by Cholesky's method,
// which takes O(n d^2); with more features by conjugate gradients, which take O(entries of X) for each product. R - min
// R is about half of Newton's decrement g'H^-1 g. The fit ends when the decrement is at most tol |R| and the gradient,
// with columns divided by their largest entries, is small: the scale of a column then matters only through lam.
//
// If rows can be separated and lam is tiny beside their squares, scores become so large that the logistic R is nearly
// piecewise linear, and Newton's method sees one linear piece at a time. Then phi is replaced by width log(1 + e^(f /
// width)), with a width that starts at the size of the scores and decreases in steps. R - min R is at most width log 2
// + |g|^2 / (2 lam) if the derivative by the intercept is 0, and the fit ends when that is within tol |R|.
//
// With lam = 0, R may have no minimum. For the logistic loss this happens if and only if some f has R <= 0: R then
// decreases without end along t f, t > 1. For the squared loss it happens only if the unlabelled rows do not differ
// along some direction.
//
// Source: du Plessis, Niu and Sugiyama, "Convex formulation for learning from positive and unlabeled data", 2015.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/risk/upu_problem.hpp"

namespace fastpu {

// Throws std::invalid_argument for labels, weights or options out of range, rows of one kind only, or sums that
// overflow.
UpuResult fit_upu(const UpuProblem& problem, const UpuOptions& options, const UpuCallback& callback, Team& team);

}  // namespace fastpu
