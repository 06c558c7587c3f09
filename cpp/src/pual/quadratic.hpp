// The quadratic that remains of a problem of the PUAL family if the intercept and the losses that are not squared are
// eliminated, and its minimum, refined on the rows:
//
//     1/2 sum_i weights_i (f_i - mean)^2 + f'Rf + lam/2 |beta|^2 - targets'f,    f = Z beta, mean = that of f by
//     weights
//
// Its matrix has the square of the condition number of Z, so that what its factor gives is accurate except for rounding
// errors of that matrix. Residuals are therefore computed from the rows, and conjugate gradients preconditioned by the
// factor remove them.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"
#include "pual/feature_rows.hpp"

namespace fastpu::detail {

struct QuadraticMinimum {
  std::vector<double> beta;
  std::vector<double> f;
  double excess = 0;  // twice what the value exceeds the least one by
  // The largest cosine between a column and the residual of the rows: 0 at the exact minimum, apart from the ridge.
  double misfit = 0;
};

// What the quadratic is made of; the views must outlive it.
struct QuadraticTerms {
  const FeatureRows& features;
  CsrView<double> laplacian;  // R
  double lam;
  BlasMatrix<const double> factor;  // of the matrix of the quadratic
};

class Quadratic {
 public:
  // `blas` must be limited to one thread.
  Quadratic(const QuadraticTerms& terms, std::vector<double> weights, const Blas& blas, Team& team);

  // The minima for each row of `targets`, whose sums must be 0, from the rows of `starts`. Steps end at an excess of at
  // most `enough`.
  std::vector<QuadraticMinimum> minima(BlasMatrix<const double> targets, BlasMatrix<const double> starts,
                                       const std::vector<double>& enough) const;

  // The mean of f by the weights.
  double mean(const std::vector<double>& f) const;

  // f'Rf
  double neighbours_term(const std::vector<double>& f) const;

 private:
  // What is left of the gradient at `beta`, and the values on the rows there.
  struct Residual {
    std::vector<double> beta;
    std::vector<double> f;
    std::vector<double> pull;  // the gradient by f of all terms but the ridge and the targets
    std::vector<double> rest;  // the negative gradient by beta
    double steepest = 0;       // FeatureRows::steepest
  };

  std::vector<Residual> residuals(BlasMatrix<const double> targets, BlasMatrix<const double> betas) const;
  QuadraticMinimum minimum(const double* targets, Residual now, double enough) const;
  // Moves beta by steps of conjugate gradients from a point with this rest and this excess.
  void descend(std::vector<double>& beta, std::vector<double> rest, double excess) const;
  std::vector<double> pull(const double* f) const;
  double excess_of(const std::vector<double>& rest) const;
  double misfit_of(const double* targets, const Residual& now) const;
  std::vector<double> solve(std::vector<double> right) const;

  const FeatureRows& features_;
  CsrView<double> laplacian_;
  double lam_;
  BlasMatrix<const double> factor_;
  std::vector<double> weights_;
  double total_weight_;
  double largest_weight_;
  const Blas& blas_;
  Team& team_;
};

}  // namespace fastpu::detail
