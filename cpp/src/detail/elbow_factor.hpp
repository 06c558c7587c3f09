// The system of the rows on the margin, factored, while rows come and go:
//
//     K u + mu 1 = b,   1'u = total        K: kernel values of the rows, positive semidefinite
//
// through the Cholesky factor U'U of K + shift 11'. The shift changes mu alone, and makes the matrix positive definite
// exactly where K is so on the vectors whose sum is 0: no row has to serve as a reference.
#pragma once

#include <vector>

#include "detail/path_kernels.hpp"
#include "fastpu/aligned_buffer.hpp"
#include "fastpu/types.hpp"

namespace fastpu::detail {

class ElbowFactor {
 public:
  // shift > 0 is a value of the size of K's diagonal.
  ElbowFactor(double shift, Isa isa) : shift_(shift), loops_(&path_kernels(isa)) {}

  index_t size() const { return size_; }
  void clear();

  // Adds a row with its label, given its kernel values with the rows that are there, in their order, and with itself.
  // A row that depends on those (up to rounding), or has no finite values, is not added. Returns the pivot relative to
  // the diagonal: what of the row is independent of them. O(m^2).
  double add(const double* column, double diagonal, double label);
  // Of NaN as well, which kernel values that overflow give: whoever counts the rows must not count such a one.
  static bool is_dependent(double pivot) { return !(pivot > kLeastPivot); }

  // Removes the k-th row; those behind move up. O((m - k)^2).
  void remove(index_t k);

  // Solves for b = -label and total 0. O(m^2).
  void solve_labels(double* u, double& mu) const;
  // Solves for any b.
  void solve(const double* b, double total, double* u, double& mu) const;

 private:
  static constexpr double kLeastPivot = 1e-14;

  // U_kk, U_k,k+1, ...
  double* row(index_t k) { return values_.data() + k * capacity_ - k * (k - 1) / 2; }
  const double* row(index_t k) const { return values_.data() + k * capacity_ - k * (k - 1) / 2; }
  void reserve(index_t n);
  void forward(double* x) const;
  void backward(double* x) const;

  double shift_;
  const PathKernels* loops_;
  index_t size_ = 0;
  index_t capacity_ = 0;
  AlignedBuffer<double> values_;
  std::vector<double> inverse_;  // of U's diagonal
  std::vector<double> ones_;     // U'^-1 1
  std::vector<double> labels_;   // U'^-1 label
  std::vector<double> work_;
};

}  // namespace fastpu::detail
