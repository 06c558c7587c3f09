// The system of the rows on the margin, factored, while rows come and go:
//
//     K u + mu 1 = b,   1'u = total        K: kernel values of the rows, positive semidefinite
//
// through the Cholesky factor U'U of K + shift 11'. The shift changes mu alone, and makes the matrix positive definite
// exactly where K is so on the vectors whose sum is 0: no row has to serve as a reference.
//
// Where K is the products of rows x with few features, U is made from the rows (x, sqrt(shift)) themselves, together
// with the orthonormal vectors q that are the other factor, and X'u is found from these. Products of features of unlike
// scale s lose s^2 in precision, and their sums X'u cancel; vectors lose s, and combinations of the q nothing.
//
// Every row has a slot, which is the number of its row and column of U. A row that goes leaves its slot empty, so that
// nothing else moves; once in a while the others close up.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"
#include "linalg/triangle_kernels.hpp"
#include "linalg/vector_kernels.hpp"

namespace fastpu::detail {

class ElbowFactor {
 public:
  // shift > 0 is a value of the size of K's diagonal. With n_features >= 0 rows are added by add_features() alone.
  ElbowFactor(double shift, Isa isa, index_t n_features = -1)
      : shift_(shift), loops_(&vector_kernels(isa)), triangle_(&triangle_kernels(isa)), n_features_(n_features) {}

  index_t size() const { return static_cast<index_t>(slots_.size()); }

  // Adds a row with its label, given its kernel values with the rows that are there, in their order, and with itself.
  // A row that depends on those (up to rounding), or has values that are not finite, is not added. Returns the pivot
  // relative to the diagonal: the part of the row that is independent of them. O(m^2).
  double add(const double* column, double diagonal, double label);
  // The same given the row's features, and those of the first row that is there, if any: their difference is what
  // counts. Returns the distance from the rows that are there, relative to that from the first. O(m d).
  double add_features(const double* x, const double* first, double label);
  // True for NaN as well, which comes from kernel values that overflow: such a row must not be counted as added.
  static bool is_dependent(double pivot) { return !(pivot > kLeastPivot); }

  // Removes the k-th row; those behind move up. O((m - k)^2).
  void remove(index_t k);

  // Solves for b = -label and total 0. O(m^2). With features, `weights` is X'u.
  void solve_labels(double* u, double& mu, double* weights = nullptr) const;
  // Solves for any b.
  void solve(const double* b, double total, double* u, double& mu, double* weights = nullptr) const;
  // After add() has returned that a row depends on the others: the combination u of them, with sum 1, that equals it.
  void express_last(double* u) const;

 private:
  static constexpr double kLeastPivot = 1e-14;
  static constexpr double kLeastDistance = 1e-13;

  index_t width() const { return n_features_ + 1; }
  double* vector(index_t slot) { return vectors_.data() + slot * width(); }
  const double* vector(index_t slot) const { return vectors_.data() + slot * width(); }
  void append(double root, double one, double label);
  void combine(const double* factors, double* weights) const;

  // Where row r of U begins, at its diagonal: see Triangle.
  static index_t place(index_t r, index_t capacity) {
    const index_t before = r / kPanelRows * kPanelRows;
    const index_t stride = capacity - before;
    return before * (capacity + stride + kPanelRows) / 2 + (r - before) * (stride + 1);
  }
  // U_rr, U_r,r+1, ...
  double* row(index_t r) { return values_.data() + place(r, capacity_); }
  index_t width_in_use() const { return round_up(end_, kPanelRows); }
  Triangle triangle() const { return {values_.data(), capacity_, inverse_.data(), width_in_use()}; }
  void reserve(index_t n);
  void rotate(index_t slot);
  void close_up();
  void forward(double* x) const { triangle_->solve_transposed(triangle(), x); }
  void backward(double* u) const;

  double shift_;
  const VectorKernels* loops_;
  const TriangleKernels* triangle_;
  std::vector<index_t> slots_;  // of the rows in their order; they ascend
  index_t end_ = 0;             // the number of slots in use or empty
  index_t capacity_ = 0;
  AlignedBuffer<double> values_;
  // By slot, with 0 in empty ones and those that were never used.
  AlignedBuffer<double> inverse_;  // of U's diagonal
  AlignedBuffer<double> ones_;     // U'^-1 1
  AlignedBuffer<double> labels_;   // U'^-1 label
  AlignedBuffer<double> work_;
  mutable AlignedBuffer<double> solution_;
  index_t n_features_;
  std::vector<double> vectors_;  // q of each slot, one after the other
  std::vector<double> rest_;     // the rest of a row that is being added or removed
};

}  // namespace fastpu::detail
