// The linear system behind PUAL, GLLC and the biased LS-SVM.
//
// With features z of all rows, z'z = K, that are shifted such that the weighted mean of the unlabelled rows is 0, the
// intercept goes out of every problem of the family, and beta of f(x) = z(x)'beta + offset solves a system with
//
//     A = lam I + 2 C_unl Z_u'Z_u + 2 Z'RZ  (+ the squared loss of the positives, for GLLC and the biased LS-SVM)
//
// Source: Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", (9) to (21).
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"

namespace fastpu {

struct PualSystem {
  BlasMatrix<const double> of_unl;         // Z_u'Z_u, of which the lower triangle is read
  BlasMatrix<const double> of_neighbours;  // Z'RZ, likewise; it has no rows if R is 0
  double C_unl;
  double lam;
};

// Writes the Cholesky factor of A to the lower triangle of `factor`, of the shape of `of_unl`; the other triangle is
// not touched. `more` is added to the last rows and columns of A; it may have none. If float64 cannot tell A from a
// matrix that is not positive definite, a share of each diagonal entry is added, the same share whatever the scale of a
// column. Throws std::invalid_argument if squares overflow, or no such share helps.
//
// Takes n^3 / 3 multiplications for n features. `blas` must be limited to one thread.
void factor_system(const PualSystem& system, BlasMatrix<const double> more, BlasMatrix<double> factor, const Blas& blas,
                   Team& team);

}  // namespace fastpu
