// Products and factors of large dense matrices, cut into tiles: the tiles are computed by BLAS, each by one thread, and
// dealt out to a team of ours.
//
// So n_threads bounds the threads of these too, and the result has the same bits for every n_threads, neither of which
// holds for a BLAS with threads of its own: whoever calls this must have limited BLAS to one thread (in Python:
// fastpu.common._blas_threads).
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"

namespace fastpu {

class TiledBlas {
 public:
  TiledBlas(const Blas& blas, Team& team) : blas_(blas), team_(team) {}

  // C := A B
  void product(BlasMatrix<const double> a, BlasMatrix<const double> b, BlasMatrix<double> c) const;

  // C := A B' (Op::none) or A'B (Op::transpose) where that is symmetric: half of it is computed.
  void symmetric_product(Op op, BlasMatrix<const double> a, BlasMatrix<const double> b, BlasMatrix<double> c) const;

  // C := A'A, all of it, for A of many rows and few columns or of many of both. Memory O(columns^2).
  void gram(BlasMatrix<const double> a, BlasMatrix<double> c) const;

  // L with A = L L' in place of the lower triangle; the other one is not touched. Returns 0, or the order of a leading
  // minor that is not positive (then A holds no factor).
  [[nodiscard]] index_t cholesky(BlasMatrix<double> a) const;

  // B := B L^-T, L in the lower triangle.
  void solve(BlasMatrix<const double> l, BlasMatrix<double> b) const;

 private:
  // The lower triangle of C := alpha A B' + beta C (Op::none) or alpha A'B + beta C (Op::transpose).
  void add_lower(Op op, double alpha, BlasMatrix<const double> a, BlasMatrix<const double> b, double beta,
                 BlasMatrix<double> c) const;

  const Blas& blas_;
  Team& team_;
};

}  // namespace fastpu
