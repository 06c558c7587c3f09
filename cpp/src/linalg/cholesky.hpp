// Solves systems with a symmetric positive definite matrix that may be so nearly singular that rounding hides it.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/isa.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

class Cholesky {
 public:
  Cholesky(index_t n, Isa isa, const char* what_for);

  index_t stride() const { return stride_; }
  Isa isa() const { return isa_; }
  // The matrix, to be filled before factor(): its upper triangle counts. There is room for stride() rows of as many
  // columns.
  double* matrix() { return matrix_.data(); }

  // U'U = D A D in place of the matrix, D = diag(A)^-1/2. A direction whose pivot is all rounding is left out:
  // solutions have no part in it. Returns how many were.
  index_t factor();

  // x = A^-1 x, n values.
  void solve(double* x) const;
  // The same for each of several columns, which takes less time than one by one and gives the same bits.
  void solve(const std::vector<double*>& columns) const;

 private:
  index_t n_;
  index_t stride_;
  Isa isa_;
  AlignedBuffer<double> matrix_;
  std::vector<double> scale_;    // D
  std::vector<double> inverse_;  // of the diagonal of U
};

}  // namespace fastpu::detail
