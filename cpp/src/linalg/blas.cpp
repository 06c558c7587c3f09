#include "fastpu/linalg/blas.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

// BLAS reads memory column by column, so it sees the transpose of every row-major matrix. All of this file is one idea:
// ask for the transpose of the result. (A B)' = B' A', so the operands of a product swap places; a lower triangle is an
// upper one; and A', seen by BLAS as "not transposed", is what it already has.

namespace fastpu {
namespace {

int to_blas_int(index_t size, const char* what) {
  if (size < 0 || size > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(std::string(what) + " must be between 0 and " +
                                std::to_string(std::numeric_limits<int>::max()) + " for BLAS, got " +
                                std::to_string(size));
  }
  return static_cast<int>(size);
}

std::string shape_of(index_t n_rows, index_t n_cols) { return std::to_string(n_rows) + " x " + std::to_string(n_cols); }

void check_matrix(BlasMatrix<const double> matrix, const char* name) {
  to_blas_int(matrix.n_rows, "number of rows");
  to_blas_int(matrix.n_cols, "number of columns");
  to_blas_int(matrix.stride, "row stride");
  if (matrix.stride < matrix.n_cols) {
    throw std::invalid_argument(std::string("row stride of ") + name + " must be >= its " +
                                std::to_string(matrix.n_cols) + " columns, got " + std::to_string(matrix.stride));
  }
}

void check_shape(index_t n_rows, index_t n_cols, index_t want_rows, index_t want_cols, const char* name) {
  if (n_rows != want_rows || n_cols != want_cols) {
    throw std::invalid_argument(std::string(name) + " must be " + shape_of(want_rows, want_cols) + ", got " +
                                shape_of(n_rows, n_cols));
  }
}

// BLAS wants leading dimensions >= 1 even of empty matrices.
int leading(BlasMatrix<const double> matrix) { return static_cast<int>(std::max<index_t>(matrix.stride, 1)); }

char blas_op(Op op) { return op == Op::none ? 'N' : 'T'; }
char blas_flipped(Op op) { return op == Op::none ? 'T' : 'N'; }

index_t op_rows(Op op, BlasMatrix<const double> a) { return op == Op::none ? a.n_rows : a.n_cols; }
index_t op_cols(Op op, BlasMatrix<const double> a) { return op == Op::none ? a.n_cols : a.n_rows; }

}  // namespace

void Blas::gemm(Op op_a, Op op_b, double alpha, BlasMatrix<const double> a, BlasMatrix<const double> b, double beta,
                BlasMatrix<double> c) const {
  check_matrix(a, "A");
  check_matrix(b, "B");
  check_matrix(c, "C");
  const index_t depth = op_cols(op_a, a);
  if (op_rows(op_b, b) != depth) {
    throw std::invalid_argument("op(A) and op(B) do not fit: " + shape_of(op_rows(op_a, a), depth) + " and " +
                                shape_of(op_rows(op_b, b), op_cols(op_b, b)));
  }
  check_shape(c.n_rows, c.n_cols, op_rows(op_a, a), op_cols(op_b, b), "C");
  if (c.n_rows == 0 || c.n_cols == 0) return;
  table_.dgemm(blas_op(op_b), blas_op(op_a), static_cast<int>(c.n_cols), static_cast<int>(c.n_rows),
               static_cast<int>(depth), alpha, b.data, leading(b), a.data, leading(a), beta, c.data, leading(c));
}

void Blas::syrk(Op op_a, double alpha, BlasMatrix<const double> a, double beta, BlasMatrix<double> c) const {
  check_matrix(a, "A");
  check_matrix(c, "C");
  const index_t order = op_rows(op_a, a);
  check_shape(c.n_rows, c.n_cols, order, order, "C");
  if (order == 0) return;
  table_.dsyrk('U', blas_flipped(op_a), static_cast<int>(order), static_cast<int>(op_cols(op_a, a)), alpha, a.data,
               leading(a), beta, c.data, leading(c));
}

void Blas::gemv(Op op_a, double alpha, BlasMatrix<const double> a, const double* x, double beta, double* y) const {
  check_matrix(a, "A");
  const index_t n_results = op_rows(op_a, a);
  if (n_results == 0) return;
  if (op_cols(op_a, a) == 0) {  // unlike gemm, gemv leaves y alone when the sums are empty
    for (index_t i = 0; i < n_results; ++i) y[i] = beta == 0.0 ? 0.0 : beta * y[i];
    return;
  }
  table_.dgemv(blas_flipped(op_a), static_cast<int>(a.n_cols), static_cast<int>(a.n_rows), alpha, a.data, leading(a), x,
               1, beta, y, 1);
}

index_t Blas::potrf(BlasMatrix<double> a) const {
  check_matrix(a, "A");
  check_shape(a.n_rows, a.n_cols, a.n_rows, a.n_rows, "A");
  if (a.n_rows == 0) return 0;
  int info = 0;
  table_.dpotrf('U', static_cast<int>(a.n_rows), a.data, leading(a), &info);
  return info;
}

// Seen by BLAS, B' is to become op(U)^-1 B' with the upper triangle U = L'.
void Blas::trsm(Op op_a, BlasMatrix<const double> a, BlasMatrix<double> b) const {
  check_matrix(a, "A");
  check_matrix(b, "B");
  check_shape(a.n_rows, a.n_cols, a.n_rows, a.n_rows, "A");
  check_shape(b.n_rows, b.n_cols, b.n_rows, a.n_rows, "B");
  if (b.n_rows == 0 || b.n_cols == 0) return;
  table_.dtrsm('L', 'U', blas_op(op_a), 'N', static_cast<int>(b.n_cols), static_cast<int>(b.n_rows), 1.0, a.data,
               leading(a), b.data, leading(b));
}

}  // namespace fastpu
