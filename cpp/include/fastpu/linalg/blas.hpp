// BLAS and LAPACK for the core, without linking any: whoever calls the core passes the functions in.
//
// BlasTable holds plain function pointers, filled from SciPy by src/fastpu/_blas.pyx (and from loops of a few lines by
// the C++ tests). Blas is what kernels use: row-major matrices, shapes checked, sizes checked to fit BLAS's 32-bit
// integers. Everything about row-major against column-major is in blas.cpp and nowhere else.
//
// Any thread may call these, but not from inside a parallel loop: BLAS has threads of its own, and the two would
// multiply.
#pragma once

#include <type_traits>

#include "fastpu/common/types.hpp"

namespace fastpu {

// Column-major, by value, named and ordered as in BLAS. Not noexcept: Cython's function types are not.
struct BlasTable {
  void (*dgemm)(char trans_a, char trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                const double* b, int ldb, double beta, double* c, int ldc);
  void (*dsyrk)(char uplo, char trans, int n, int k, double alpha, const double* a, int lda, double beta, double* c,
                int ldc);
  void (*dgemv)(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int inc_x,
                double beta, double* y, int inc_y);
  void (*dtrsm)(char side, char uplo, char trans, char diag, int m, int n, double alpha, const double* a, int lda,
                double* b, int ldb);
  void (*dpotrf)(char uplo, int n, double* a, int lda, int* info);
};

// Under this name the table travels from _blas to _core; a new layout of BlasTable needs a new number.
inline constexpr const char* kBlasCapsule = "fastpu._blas.table.v2";

enum class Op { none, transpose };

// A row-major matrix somewhere in memory; rows are `stride` >= n_cols elements apart. T is const for what is only read.
template <class T>
struct BlasMatrix {
  T* data;
  index_t n_rows;
  index_t n_cols;
  index_t stride;

  constexpr BlasMatrix(T* values, index_t rows, index_t cols, index_t row_stride)
      : data(values), n_rows(rows), n_cols(cols), stride(row_stride) {}
  constexpr BlasMatrix(T* values, index_t rows, index_t cols) : BlasMatrix(values, rows, cols, cols) {}

  // What can be written can be read.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator BlasMatrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, n_rows, n_cols, stride};
  }
};

// All functions throw std::invalid_argument if shapes do not fit each other or a size does not fit 32 bits.
// With beta == 0 the old contents of the result are not read (they may be NaN). Inputs and result must not overlap.
class Blas {
 public:
  explicit Blas(const BlasTable& table) : table_(table) {}

  // C := alpha op(A) op(B) + beta C
  void gemm(Op op_a, Op op_b, double alpha, BlasMatrix<const double> a, BlasMatrix<const double> b, double beta,
            BlasMatrix<double> c) const;

  // The lower triangle of C := alpha A A' + beta C (Op::none) or alpha A' A + beta C (Op::transpose); the upper one is
  // not touched.
  void syrk(Op op_a, double alpha, BlasMatrix<const double> a, double beta, BlasMatrix<double> c) const;

  // y := alpha op(A) x + beta y, with x and y contiguous and as long as op(A) has columns and rows
  void gemv(Op op_a, double alpha, BlasMatrix<const double> a, const double* x, double beta, double* y) const;

  // Cholesky factor L, A = L L', of the symmetric matrix whose lower triangle is given, in place of that triangle.
  // Returns 0, or the order of the first leading minor that is not positive (then A holds no factor).
  [[nodiscard]] index_t potrf(BlasMatrix<double> a) const;

  // B := B L^-1 (Op::none) or B L^-T (Op::transpose): solves X op(L) = B in place of B, L in the lower triangle of a.
  void trsm(Op op_a, BlasMatrix<const double> a, BlasMatrix<double> b) const;

 private:
  BlasTable table_;
};

}  // namespace fastpu
