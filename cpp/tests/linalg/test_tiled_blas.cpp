// Products and factors by tiles against loops, with the same bits for every number of threads.
#include "fastpu/linalg/tiled_blas.hpp"

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "reference_blas.hpp"

namespace {

using fastpu::at;
using fastpu::Blas;
using fastpu::BlasMatrix;
using fastpu::index_t;
using fastpu::Op;
using fastpu::Team;

struct Matrix {
  index_t n_rows;
  index_t n_cols;
  std::vector<double> values;

  Matrix(index_t rows, index_t columns, unsigned seed) : n_rows(rows), n_cols(columns) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.3);
    for (index_t i = 0; i < rows * columns; ++i) values.push_back(normal(random));
  }
  BlasMatrix<const double> view() const { return {values.data(), n_rows, n_cols}; }
};

CASE("tiles refuse rows that overlap") {
  const Blas blas(reference_blas());
  Team team(1);
  const Matrix a(3, 4, 7);
  std::vector<double> gram(16);
  CHECK_THROWS(std::invalid_argument, fastpu::TiledBlas(blas, team).gram(a.view(), {gram.data(), 4, 4, 3}),
               "row stride of C must be >= its 4 columns, got 3");
}

CASE("tiles give whole products and factors") {
  const Blas blas(reference_blas());
  for (const index_t n : {1, 5, 255, 257, 300}) {
    Team team(3);
    const fastpu::TiledBlas tiled(blas, team);
    const Matrix a(n + 3, n, 7);
    std::vector<double> gram(at(n * n));
    tiled.gram(a.view(), {gram.data(), n, n});
    std::vector<double> expected(gram.size());
    blas.gemm(Op::transpose, Op::none, 1.0, a.view(), a.view(), 0.0, BlasMatrix<double>(expected.data(), n, n));
    for (std::size_t i = 0; i < gram.size(); ++i) CHECK(std::abs(gram[i] - expected[i]) < 1e-9);
    for (index_t i = 0; i < n; ++i) gram[at(i * n + i)] += 1;
    const std::vector<double> before(gram);
    CHECK(tiled.cholesky({gram.data(), n, n}) == 0);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j <= i; ++j) {
        double sum = 0;
        for (index_t k = 0; k <= j; ++k) sum += gram[at(i * n + k)] * gram[at(j * n + k)];
        CHECK(std::abs(sum - before[at(i * n + j)]) < 1e-9);
      }
    }
    std::vector<double> row(at(n), 1.0);
    tiled.solve({gram.data(), n, n}, BlasMatrix<double>(row.data(), 1, n));
    for (index_t i = 0; i < n; ++i) {
      double sum = 0;
      for (index_t j = 0; j <= i; ++j) sum += gram[at(i * n + j)] * row[at(j)];
      CHECK(std::abs(sum - 1) < 1e-6);
    }
    for (const index_t bad : {index_t{0}, n / 2, n - 1}) {
      gram = before;
      gram[at(bad * n + bad)] = -1;
      CHECK(tiled.cholesky({gram.data(), n, n}) == bad + 1);
    }
  }
}

CASE("a factor has the same bits for every number of threads") {
  const Blas blas(reference_blas());
  const index_t n = 600;
  const Matrix a(n + 3, n, 11);
  std::vector<double> gram(at(n * n));
  blas.gemm(Op::transpose, Op::none, 1.0, a.view(), a.view(), 0.0, BlasMatrix<double>(gram.data(), n, n));
  for (index_t i = 0; i < n; ++i) gram[at(i * n + i)] += 1;
  std::vector<double> first;
  for (const int n_threads : {1, 2, 7}) {
    Team team(n_threads);
    std::vector<double> factor(gram);
    CHECK(fastpu::TiledBlas(blas, team).cholesky({factor.data(), n, n}) == 0);
    if (first.empty()) first = factor;
    CHECK(factor == first);
  }
}

CASE("products with few rows or few columns are those of a loop, with the same bits for every number of threads") {
  const Blas blas(reference_blas());
  for (const auto& [n, depth, m] : {std::array<index_t, 3>{1, 700, 400}, {3, 400, 700}, {400, 700, 1}, {700, 400, 3}}) {
    const Matrix a(n, depth, 9);
    const Matrix b(depth, m, 10);
    std::vector<double> first;
    for (const int n_threads : {1, 2, 7}) {
      Team team(n_threads);
      std::vector<double> c(at(n * m));
      fastpu::TiledBlas(blas, team).product(a.view(), b.view(), {c.data(), n, m});
      if (n_threads == 1) first = c;
      CHECK(c == first);
    }
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < m; ++j) {
        double sum = 0;
        for (index_t k = 0; k < depth; ++k) sum += a.view().data[i * depth + k] * b.view().data[k * m + j];
        CHECK(check::close(first[at(i * m + j)], sum, 1e-9));
      }
    }
  }
}

CASE("factors of a product must fit each other") {
  const Blas blas(reference_blas());
  Team team(1);
  std::vector<double> c(8);
  CHECK_THROWS(std::invalid_argument,
               fastpu::TiledBlas(blas, team).product(Matrix(2, 3, 1).view(), Matrix(4, 4, 1).view(), {c.data(), 2, 4}),
               "A must have as many columns as B has rows, got 3 and 4");
}

CASE("tiles of many rows have the same bits for every number of threads") {
  const Blas blas(reference_blas());
  const Matrix a(5000, 3, 8);
  std::vector<double> first(9);
  for (const int n_threads : {1, 2, 7}) {
    Team team(n_threads);
    std::vector<double> gram(9);
    fastpu::TiledBlas(blas, team).gram(a.view(), {gram.data(), 3, 3});
    if (n_threads == 1) first = gram;
    CHECK(gram == first);
  }
}

}  // namespace
