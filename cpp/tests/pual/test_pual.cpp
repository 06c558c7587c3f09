// The box QP of pual.hpp and the system of pual_system.hpp: the parts that C++ alone can ask for.
#include "fastpu/pual/pual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/pual/pual_system.hpp"
#include "reference_blas.hpp"

namespace {

using fastpu::at;
using fastpu::Blas;
using fastpu::BlasMatrix;
using fastpu::index_t;
using fastpu::PualDual;
using fastpu::PualDualOptions;
using fastpu::PualResult;
using fastpu::PualStatus;
using fastpu::Team;

struct Factor {
  index_t n;
  index_t rank;
  std::vector<double> values;

  Factor(index_t rows, index_t columns, unsigned seed, double mean = 0.3) : n(rows), rank(columns) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (index_t i = 0; i < n * rank; ++i) values.push_back(mean + normal(random));
  }
  BlasMatrix<const double> view() const { return {values.data(), n, rank}; }
};

PualResult solve(const Factor& factor, double cost, const PualDualOptions& options = {}, int n_threads = 1) {
  const Blas blas(reference_blas());
  Team team(n_threads);
  const PualDual dual(factor.view(), blas, team);
  return dual.solve({cost}, options, {}, team)[0];
}

// P - D by its definition, from alpha alone.
void check_certificate(const Factor& factor, double cost, const PualResult& result, double tol) {
  std::vector<double> w(at(factor.rank));
  double square = 0;
  for (index_t i = 0; i < factor.n; ++i) {
    const double alpha = result.alpha[at(i)];
    CHECK(alpha >= 0);
    CHECK(alpha <= cost);
    for (index_t k = 0; k < factor.rank; ++k) {
      w[at(k)] += alpha * factor.values[at(i * factor.rank + k)];
    }
  }
  for (const double value : w) square += value * value;
  double primal = 0.5 * square;
  double dual = -0.5 * square;
  for (index_t i = 0; i < factor.n; ++i) {
    double f = -1;
    for (index_t k = 0; k < factor.rank; ++k) {
      f += w[at(k)] * factor.values[at(i * factor.rank + k)];
    }
    primal += cost * std::max(1 - f, 0.0);
    dual += 2 * result.alpha[at(i)];
  }
  CHECK(result.status == PualStatus::gap);
  CHECK(check::close(primal, result.objective, 1e-9));
  CHECK(std::abs(primal - dual - result.gap) <= 1e-8 * primal);
  CHECK(result.gap <= tol * result.objective);
}

CASE("solutions are certified") {
  for (const auto& [n, rank] : {std::pair<index_t, index_t>{1, 1}, {1, 4}, {12, 3}, {30, 40}, {100, 6}, {7, 7}}) {
    const Factor factor(n, rank, static_cast<unsigned>(n));
    for (const double cost : {1e-6, 1e-2, 1.0, 1e3}) {
      check_certificate(factor, cost, solve(factor, cost), 1e-9);
    }
  }
}

CASE("threads leave the bits alone") {
  for (const auto& [n, rank] : {std::pair<index_t, index_t>{3000, 4}, {60, 70}}) {
    const Factor factor(n, rank, 3);
    const PualResult one = solve(factor, 0.5);
    for (const int n_threads : {2, 7}) {
      const PualResult many = solve(factor, 0.5, {}, n_threads);
      CHECK(one.alpha == many.alpha && one.gap == many.gap);
    }
  }
}

CASE("several costs are solved as each is") {
  for (const index_t n : {40, 1200}) {  // side by side, and one after the other
    const Factor factor(n, 5, 6);
    const Blas blas(reference_blas());
    Team team(3);
    const PualDual dual(factor.view(), blas, team);
    const std::vector<double> costs = {0.01, 0.1, 1.0, 10.0};
    const std::vector<PualResult> results = dual.solve(costs, {}, {}, team);
    for (std::size_t k = 0; k < costs.size(); ++k) CHECK(results[k].alpha == solve(factor, costs[k]).alpha);
  }
}

CASE("bad arguments are refused") {
  const Factor factor(4, 2, 5);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double cost : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS(std::invalid_argument, solve(factor, cost), "cost must be > 0 and finite");
  }
  PualDualOptions options;
  options.tol = 0;
  CHECK_THROWS(std::invalid_argument, solve(factor, 1.0, options), "tol must be > 0");
  options = {};
  options.max_iter = 0;
  CHECK_THROWS(std::invalid_argument, solve(factor, 1.0, options), "max_iter must be >= 1");
  CHECK_THROWS(std::invalid_argument, solve(factor, 1e308), "cost must be so small");
  Factor huge(4, 2, 5);
  huge.values[3] = 1e200;
  CHECK_THROWS(std::invalid_argument, solve(huge, 1.0), "the squares of the factor must have a finite sum, got inf");
  CHECK_THROWS(std::invalid_argument, solve(Factor(0, 2, 1), 1.0), "at least one row");
  CHECK_THROWS(std::invalid_argument, solve(Factor(2, 0, 1), 1.0), "at least one row");
}

}  // namespace

CASE("the factor of a system is that of its matrix, with more added to the last rows") {
  const index_t n = 6;
  const Factor z(20, n, 3);
  std::vector<double> curvature(at(n * n));
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      for (index_t k = 0; k < z.n; ++k) curvature[at(i * n + j)] += z.values[at(k * n + i)] * z.values[at(k * n + j)];
    }
  }
  const std::vector<double> of_neighbours = [&] {  // of a diagonal
    std::vector<double> values(at(n * n));
    for (index_t i = 0; i < n; ++i) values[at(i * n + i)] = 0.25;
    return values;
  }();
  const std::vector<double> more{2.0, 0.5, 0.5, 3.0};
  const Blas blas(reference_blas());
  Team team(1);
  std::vector<double> factor(at(n * n));
  const BlasMatrix<const double> of_unl(curvature.data(), n, n);
  factor_system({of_unl, {of_neighbours.data(), n, n}, 0.1, 0.7}, {more.data(), 2, 2}, {factor.data(), n, n}, blas,
                team);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      double product = 0;
      for (index_t k = 0; k <= j; ++k) product += factor[at(i * n + k)] * factor[at(j * n + k)];
      double wanted = 0.2 * curvature[at(i * n + j)] + (i == j ? 0.5 + 0.7 : 0);
      if (j >= n - 2) wanted += more[at((i - n + 2) * 2 + (j - n + 2))];
      CHECK(std::abs(product - wanted) < 1e-10);
    }
  }
}

CASE("a system whose matrix is singular in float64 gets a ridge, and one that overflows is refused") {
  const Blas blas(reference_blas());
  Team team(1);
  const std::vector<double> singular{1.0, 1.0, 1.0, 1.0};
  std::vector<double> factor(4);
  factor_system({{singular.data(), 2, 2}, {nullptr, 0, 0}, 0.5, 1e-30}, {nullptr, 0, 0}, {factor.data(), 2, 2}, blas,
                team);
  CHECK(factor[3] > 0);
  CHECK(std::abs(factor[0] * factor[2] - 1) < 1e-12);
  const std::vector<double> wild{std::numeric_limits<double>::infinity(), 0.0, 0.0, 1.0};
  CHECK_THROWS(std::invalid_argument,
               factor_system({{wild.data(), 2, 2}, {nullptr, 0, 0}, 0.1, 1.0}, {nullptr, 0, 0}, {factor.data(), 2, 2},
                             blas, team),
               "overflow");
  CHECK_THROWS(std::invalid_argument,
               factor_system({{singular.data(), 2, 2}, {wild.data(), 1, 1}, 0.1, 1.0}, {nullptr, 0, 0},
                             {factor.data(), 2, 2}, blas, team),
               "of one size");
}
