// The matrix Q = H H' of pual.hpp: kept as a matrix if that is small, else as the factor H.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"
#include "linalg/vector_kernels.hpp"

namespace fastpu::detail {

class BoxGram {
 public:
  BoxGram(BlasMatrix<const double> factor, const Blas& blas, Team& team);

  index_t n() const { return n_; }
  index_t rank() const { return rank_; }
  bool is_dense() const { return !gram_.empty(); }
  const Blas& blas() const { return blas_; }

  BlasMatrix<const double> factor() const { return {factor_.data(), n_, rank_}; }
  BlasMatrix<const double> gram() const { return {gram_.data(), n_, n_}; }  // only if is_dense()
  double diagonal(index_t i) const { return diagonal_[i]; }
  double trace() const { return trace_; }

  // out = Q x
  void apply(const double* x, double* out) const;
  // Only if is_dense(): writes the lower triangle of the block of Q that these rows and columns form, row-major.
  void take(const std::vector<index_t>& rows, double* out) const;
  // Only if is_dense(): one round of coordinate descent on alpha in [0, cost], with q_alpha = Q alpha kept up to date.
  void descend(double cost, double* alpha, double* q_alpha) const;

 private:
  const Blas& blas_;
  const VectorKernels& loops_;
  index_t n_;
  index_t rank_;
  AlignedBuffer<double> factor_;
  AlignedBuffer<double> gram_;
  AlignedBuffer<double> diagonal_;
  double trace_ = 0;
};

// P and P - D of alpha, with q_alpha = Q alpha.
struct BoxValue {
  double objective = 0;
  double gap = 0;
};
BoxValue box_value(double cost, const std::vector<double>& alpha, const std::vector<double>& q_alpha);

}  // namespace fastpu::detail
