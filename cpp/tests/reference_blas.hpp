// A BlasTable of plain loops, for C++ tests of kernels that need BLAS: column-major, slow, obvious.
#pragma once

#include <cmath>

#include "fastpu/linalg/blas.hpp"

inline fastpu::index_t at(int i, int step) { return static_cast<fastpu::index_t>(i) * step; }

// Element (i, j) of op(A) for a column-major A.
template <class T>
T& element(T* a, int lda, char trans, int i, int j) {
  return trans == 'N' ? a[i + at(j, lda)] : a[j + at(i, lda)];
}

inline double blend(double alpha, double sum, double beta, double old) {
  return alpha * sum + (beta == 0.0 ? 0.0 : beta * old);
}

inline void reference_gemm(char trans_a, char trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                           const double* b, int ldb, double beta, double* c, int ldc) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0.0;
      for (int p = 0; p < k; ++p) sum += element(a, lda, trans_a, i, p) * element(b, ldb, trans_b, p, j);
      double& result = element(c, ldc, 'N', i, j);
      result = blend(alpha, sum, beta, result);
    }
  }
}

inline void reference_syrk(char uplo, char trans, int n, int k, double alpha, const double* a, int lda, double beta,
                           double* c, int ldc) {
  for (int j = 0; j < n; ++j) {
    for (int i = uplo == 'U' ? 0 : j; i < (uplo == 'U' ? j + 1 : n); ++i) {
      double sum = 0.0;
      for (int p = 0; p < k; ++p) sum += element(a, lda, trans, i, p) * element(a, lda, trans, j, p);
      double& result = element(c, ldc, 'N', i, j);
      result = blend(alpha, sum, beta, result);
    }
  }
}

inline void reference_gemv(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int inc_x,
                           double beta, double* y, int inc_y) {
  const bool is_plain = trans == 'N';
  for (int i = 0; i < (is_plain ? m : n); ++i) {
    double sum = 0.0;
    for (int p = 0; p < (is_plain ? n : m); ++p) sum += element(a, lda, trans, i, p) * x[at(p, inc_x)];
    double& result = y[at(i, inc_y)];
    result = blend(alpha, sum, beta, result);
  }
}

// op(A) X = alpha B (side 'L') or X op(A) = alpha B ('R') in place of B.
inline void reference_trsm(char side, char uplo, char trans, char /*diag*/, int m, int n, double alpha, const double* a,
                           int lda, double* b, int ldb) {
  const bool is_left = side == 'L';
  const int order = is_left ? m : n;
  const bool is_ascending = ((uplo == 'U') == (trans == 'N')) != is_left;
  for (int step = 0; step < order; ++step) {
    const int j = is_ascending ? step : order - 1 - step;
    for (int i = 0; i < (is_left ? n : m); ++i) {
      const auto entry = [&](int p) -> double& { return element(b, ldb, 'N', is_left ? p : i, is_left ? i : p); };
      double sum = alpha * entry(j);
      for (int p = is_ascending ? 0 : j + 1; p < (is_ascending ? j : order); ++p) {
        sum -= entry(p) * (is_left ? element(a, lda, trans, j, p) : element(a, lda, trans, p, j));
      }
      entry(j) = sum / element(a, lda, 'N', j, j);
    }
  }
}

inline void reference_potrf(char uplo, int n, double* a, int lda, int* info) {
  const char trans = uplo == 'L' ? 'N' : 'T';  // writes the lower factor into the triangle that holds it
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = element(a, lda, trans, i, j);
      for (int p = 0; p < j; ++p) sum -= element(a, lda, trans, i, p) * element(a, lda, trans, j, p);
      if (i == j && !(sum > 0.0)) {
        *info = j + 1;
        return;
      }
      element(a, lda, trans, i, j) = i == j ? std::sqrt(sum) : sum / element(a, lda, trans, j, j);
    }
  }
  *info = 0;
}

inline fastpu::BlasTable reference_blas() {
  return {.dgemm = reference_gemm,
          .dsyrk = reference_syrk,
          .dgemv = reference_gemv,
          .dtrsm = reference_trsm,
          .dpotrf = reference_potrf};
}
