// The linear system behind PUAL, GLLC and the biased LS-SVM, and the minima of PUAL that share one.
//
// Z are features of all rows, z'z = K, shifted such that the weighted mean of the unlabelled ones is 0. With them the
// intercept goes out of every problem of the family, and beta of f(x) = z(x)'beta + offset solves a system with
//
//     A = lam I + 2 C_unl Z_u'Z_u + 2 Z'RZ  (+ the squared loss of the positives, for GLLC and the biased LS-SVM)
//
// For PUAL A = L L' gives the matrix of its dual (pual.hpp),
//
//     Q = H H',   H = [Z_p L^-T, 1 / sqrt(2 C_unl n_unl)],   L'beta = (Z_p L^-T)'alpha
//
// and C_pos occurs in the box of the dual alone: points that differ in C_pos share A, L and H.
//
// Source: Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", (9) to (21).
#pragma once

#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"
#include "fastpu/pual/pual.hpp"

namespace fastpu {

struct PualSystem {
  BlasMatrix<const double> curvature;  // 2 C_unl Z_u'Z_u + 2 Z'RZ, of which the lower triangle is read
  double C_unl;
  double lam;
};

// Writes the Cholesky factor of A to the lower triangle of `factor`, of the shape of the curvature; the other triangle
// is not touched. `more` is added to the last rows and columns of A; it may have none. If float64 cannot tell A from a
// matrix that is not positive definite, a share of each diagonal entry is added, the same share whatever the scale of a
// column. Throws std::invalid_argument if squares overflow, or no such share helps.
//
// Takes n^3 / 3 multiplications for n features. `blas` must be limited to one thread.
void factor_system(const PualSystem& system, BlasMatrix<const double> more, BlasMatrix<double> factor, const Blas& blas,
                   Team& team);

// One minimum of PUAL: the solution of its dual, and half of the way to beta.
struct PualSolution : PualResult {
  std::vector<double> half;  // the last values of L'beta, whose other values are 0
};

// Returns the minima for the costs C_pos, in their order, and writes the factor of A. `positives` are the last columns
// of Z_p, whose other columns are 0. A callback that stops leaves the later costs out. Throws std::invalid_argument as
// factor_system() and PualDual do.
std::vector<PualSolution> solve_pual(const PualSystem& system, BlasMatrix<const double> positives, index_t n_unl,
                                     const std::vector<double>& costs, const PualDualOptions& options,
                                     BlasMatrix<double> factor, const Blas& blas, const PualCallback& callback,
                                     Team& team);

}  // namespace fastpu
