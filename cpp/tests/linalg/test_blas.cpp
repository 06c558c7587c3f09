// Blas turns row-major calls into column-major ones; here against loops, over every transpose and stride.
#include "fastpu/linalg/blas.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "reference_blas.hpp"

namespace {

using fastpu::Blas;
using fastpu::BlasMatrix;
using fastpu::index_t;
using fastpu::Op;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Op kOps[] = {Op::none, Op::transpose};

// A matrix with `padding` unused elements (NaN) after each row.
struct Matrix {
  index_t n_rows;
  index_t n_cols;
  index_t stride;
  std::vector<double> values;

  Matrix(index_t rows, index_t cols, double seed, index_t padding = 2)
      : n_rows(rows),
        n_cols(cols),
        stride(cols + padding),
        values(static_cast<std::size_t>(rows * stride), std::numeric_limits<double>::quiet_NaN()) {
    for (index_t i = 0; i < rows; ++i) {
      for (index_t j = 0; j < cols; ++j) {
        (*this)(i, j) = std::sin(seed + static_cast<double>(3 * i + 7 * j));
      }
    }
  }
  double& operator()(index_t i, index_t j) { return values[static_cast<std::size_t>(i * stride + j)]; }
  double get(Op op, index_t i, index_t j) { return op == Op::none ? (*this)(i, j) : (*this)(j, i); }
  BlasMatrix<double> view() { return {values.data(), n_rows, n_cols, stride}; }
  BlasMatrix<const double> in() { return view(); }
};

Matrix shaped(Op op, index_t n_rows, index_t n_cols, double seed) {
  return op == Op::none ? Matrix(n_rows, n_cols, seed) : Matrix(n_cols, n_rows, seed);
}

CASE("gemm equals loops for every transpose") {
  const Blas blas(reference_blas());
  for (const Op op_a : kOps) {
    for (const Op op_b : kOps) {
      for (const index_t depth : {0, 1, 4}) {
        auto a = shaped(op_a, 3, depth, 1.0);
        auto b = shaped(op_b, depth, 5, 2.0);
        Matrix c(3, 5, 3.0);
        Matrix before = c;
        blas.gemm(op_a, op_b, 2.0, a.in(), b.in(), -1.0, c.view());
        for (index_t i = 0; i < 3; ++i) {
          for (index_t j = 0; j < 5; ++j) {
            double sum = 0.0;
            for (index_t k = 0; k < depth; ++k) sum += a.get(op_a, i, k) * b.get(op_b, k, j);
            CHECK(check::close(c(i, j), 2 * sum - before(i, j), 1e-6));
          }
          CHECK(std::isnan(c(i, 5)));  // padding is not touched
        }
      }
    }
  }
}

CASE("beta = 0 does not read the old result") {
  const Blas blas(reference_blas());
  Matrix a(2, 3, 1.0);
  Matrix b(3, 2, 2.0);
  Matrix c(2, 2, 0.0);
  for (double& value : c.values) value = kNan;
  blas.gemm(Op::none, Op::none, 1.0, a.in(), b.in(), 0.0, c.view());
  CHECK(std::isfinite(c(0, 0)) && std::isfinite(c(1, 1)));
  std::vector<double> y(2, kNan);
  Matrix empty(2, 0, 1.0);
  blas.gemv(Op::none, 1.0, empty.in(), nullptr, 0.0, y.data());
  CHECK(y[0] == 0.0 && y[1] == 0.0);
}

CASE("syrk writes the lower triangle only") {
  const Blas blas(reference_blas());
  for (const Op op : kOps) {
    auto a = shaped(op, 4, 3, 1.0);
    Matrix c(4, 4, 2.0);
    Matrix before = c;
    blas.syrk(op, 2.0, a.in(), 3.0, c.view());
    for (index_t i = 0; i < 4; ++i) {
      for (index_t j = 0; j < 4; ++j) {
        double sum = 0.0;
        for (index_t k = 0; k < 3; ++k) sum += a.get(op, i, k) * a.get(op, j, k);
        CHECK(check::close(c(i, j), j <= i ? 2 * sum + 3 * before(i, j) : before(i, j), 1e-12));
      }
    }
  }
}

CASE("gemv equals loops") {
  const Blas blas(reference_blas());
  for (const Op op : kOps) {
    auto a = shaped(op, 4, 3, 1.0);
    const std::vector<double> x{1, -2, 3};
    std::vector<double> y{4, 5, 6, 7};
    blas.gemv(op, 2.0, a.in(), x.data(), -1.0, y.data());
    for (index_t i = 0; i < 4; ++i) {
      double sum = 0.0;
      for (index_t k = 0; k < 3; ++k) sum += a.get(op, i, k) * x[static_cast<std::size_t>(k)];
      CHECK(check::close(y[static_cast<std::size_t>(i)], 2 * sum - static_cast<double>(4 + i), 1e-6));
    }
  }
}

CASE("potrf and trsm solve systems, from the lower triangle alone") {
  const Blas blas(reference_blas());
  constexpr index_t kOrder = 5;
  Matrix half(kOrder, kOrder, 1.0);
  Matrix full(kOrder, kOrder, 0.0);
  blas.gemm(Op::none, Op::transpose, 1.0, half.in(), half.in(), 0.0, full.view());
  for (index_t i = 0; i < kOrder; ++i) full(i, i) += 1.0;
  for (const index_t n_rows : {1, 3}) {
    Matrix factor = full;
    for (index_t i = 0; i < kOrder; ++i) {
      for (index_t j = 0; j < i; ++j) factor(j, i) = kNan;
    }
    CHECK(blas.potrf(factor.view()) == 0);
    Matrix right(n_rows, kOrder, 4.0);
    Matrix solution = right;  // X A = B, with A = L L'
    blas.trsm(Op::transpose, factor.in(), solution.view());
    blas.trsm(Op::none, factor.in(), solution.view());
    for (index_t i = 0; i < n_rows; ++i) {
      for (index_t j = 0; j < kOrder; ++j) {
        double sum = 0.0;
        for (index_t k = 0; k < kOrder; ++k) sum += solution(i, k) * full(k, j);
        CHECK(check::close(sum, right(i, j), 1e-10));
      }
    }
  }
}

CASE("potrf says which leading minor is not positive") {
  const Blas blas(reference_blas());
  Matrix a(3, 3, 0.0);
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) a(i, j) = i == j ? 1.0 : 0.0;
  }
  a(1, 1) = -1.0;
  CHECK(blas.potrf(a.view()) == 2);
}

CASE("shapes that do not fit are refused before anything is read") {
  const Blas blas(reference_blas());
  const BlasMatrix<double> a(nullptr, 3, 4);
  const BlasMatrix<double> b(nullptr, 5, 2);
  const BlasMatrix<double> c(nullptr, 3, 2);
  CHECK_THROWS(std::invalid_argument, blas.gemm(Op::none, Op::none, 1.0, a, b, 0.0, c), "3 x 4 and 5 x 2");
  CHECK_THROWS(std::invalid_argument, blas.gemm(Op::none, Op::transpose, 1.0, a, a, 0.0, c), "C must be 3 x 3");
  CHECK_THROWS(std::invalid_argument, blas.syrk(Op::none, 1.0, a, 0.0, c), "C must be 3 x 3");
  CHECK_THROWS(std::invalid_argument, blas.potrf(c) == 0, "A must be 3 x 3");
  const BlasMatrix<double> narrow(nullptr, 3, 4, 2);
  CHECK_THROWS(std::invalid_argument, blas.gemv(Op::none, 1.0, narrow, nullptr, 0.0, nullptr), "row stride of A");
}

CASE("sizes beyond 32 bits are refused") {
  const Blas blas(reference_blas());
  constexpr index_t kTooLarge = index_t{1} << 31;
  const BlasMatrix<double> tall(nullptr, kTooLarge, 1);
  const BlasMatrix<double> wide(nullptr, 1, kTooLarge);
  const BlasMatrix<double> negative(nullptr, -1, 1);
  CHECK_THROWS(std::invalid_argument, blas.gemv(Op::none, 1.0, tall, nullptr, 0.0, nullptr), "got 2147483648");
  CHECK_THROWS(std::invalid_argument, blas.gemv(Op::none, 1.0, wide, nullptr, 0.0, nullptr), "number of columns");
  CHECK_THROWS(std::invalid_argument, blas.gemv(Op::none, 1.0, negative, nullptr, 0.0, nullptr), "got -1");
}

CASE("empty matrices are fine") {
  const Blas blas(reference_blas());
  const BlasMatrix<double> none(nullptr, 0, 0);
  blas.gemm(Op::none, Op::none, 1.0, none, none, 0.0, none);
  blas.syrk(Op::none, 1.0, none, 0.0, none);
  blas.gemv(Op::none, 1.0, none, nullptr, 0.0, nullptr);
  CHECK(blas.potrf(none) == 0);
  blas.trsm(Op::none, none, none);
}

}  // namespace
