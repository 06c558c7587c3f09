// Passes over rows, their kernels, the factor and the intercept: against loops of a few lines.
#include "linalg/row_pass.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "linalg/cholesky.hpp"
#include "svm/optimal_intercept.hpp"

namespace {

using fastpu::at;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::RowsView;
using fastpu::Team;
using fastpu::detail::Breakpoint;
using fastpu::detail::RowBlock;
using fastpu::detail::RowPass;

struct Matrix {
  index_t n;
  index_t p;
  std::vector<double> dense;
  std::vector<float> narrow;
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start{0};
  std::vector<double> centre;

  Matrix(index_t rows, index_t features, double density) : n(rows), p(features) {
    std::mt19937 random(static_cast<unsigned>(1000 * n + p));
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (index_t k = 0; k < n * p; ++k) {
      const double value = uniform(random) < density ? static_cast<double>(static_cast<float>(normal(random))) : 0.0;
      dense.push_back(value);
      narrow.push_back(static_cast<float>(value));
      if (value != 0) {
        values.push_back(value);
        columns.push_back(static_cast<std::int32_t>(k % p));
      }
      if (k % p == p - 1) row_start.push_back(static_cast<index_t>(values.size()));
    }
    for (index_t f = 0; f < p + 8; ++f) centre.push_back(f < p ? 0.1 * static_cast<double>(f % 5) : 0.0);
  }
  // With the one at the end.
  double value(index_t i, index_t f) const { return f == p ? 1.0 : dense[at(i * p + f)] - centre[at(f)]; }
  std::vector<RowsView> views() const {
    return {fastpu::DenseView<double>{dense.data(), n, p}, fastpu::DenseView<float>{narrow.data(), n, p},
            fastpu::CsrView<double>{values.data(), columns.data(), row_start.data(), n, p}};
  }
};

std::vector<Isa> levels() {
  std::vector<Isa> found;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= fastpu::best_isa()) found.push_back(isa);
  }
  return found;
}

}  // namespace

CASE("products, sums and Gram matrices are those of a loop") {
  for (const index_t n : {1, 8, 63, 200, 2500}) {
    for (const index_t p : {1, 7, 8, 20}) {
      const Matrix x(n, p, p == 20 ? 0.1 : 0.6);
      std::vector<index_t> some;
      for (index_t i = 0; i < n; i += 2) some.push_back(i);
      for (const bool is_all : {true, false}) {
        const index_t m = is_all ? n : static_cast<index_t>(some.size());
        const auto row = [&](index_t i) { return is_all ? i : some[at(i)]; };
        for (const Isa isa : levels()) {
          for (const RowsView& view : x.views()) {
            Team team(2, {}, isa);
            RowPass pass(view, is_all ? nullptr : some.data(), m, x.centre.data(), team);
            const index_t width = pass.width();
            std::vector<double> w(at(width));
            for (index_t f = 0; f <= p; ++f) w[at(f)] = 0.5 - 0.1 * static_cast<double>(f);
            std::vector<double> products(at(m));
            std::vector<double> a(at(width));
            std::vector<double> b(at(width));
            double* const sums[] = {a.data(), b.data()};
            pass.run(w.data(), 2, sums, [&](const RowBlock& block) {
              for (index_t k = 0; k < block.n; ++k) {
                products[at(block.first + k)] = block.products[k];
                block.weights[0][k] = block.products[k];
                block.weights[1][k] = static_cast<double>(block.first + k);
              }
            });
            std::vector<double> gram(at(width * width));
            std::vector<double> c(at(width));
            double* const gram_sums[] = {c.data()};
            pass.gram(w.data(), gram.data(), 1, gram_sums, [&](const RowBlock& block) {
              for (index_t k = 0; k < block.n; ++k) {
                block.scale[k] = 1 + static_cast<double>((block.first + k) % 3);
                block.weights[0][k] = 2 * block.products[k];
              }
            });
            std::vector<double> expected(at(4 * (p + 1)));
            std::vector<double> expected_gram(at((p + 1) * (p + 1)));
            for (index_t i = 0; i < m; ++i) {
              double product = 0;
              for (index_t f = 0; f <= p; ++f) product += x.value(row(i), f) * w[at(f)];
              CHECK(check::close(products[at(i)], product, 1e-12));
              const double scale = 1 + static_cast<double>(i % 3);
              for (index_t f = 0; f <= p; ++f) {
                const double value = x.value(row(i), f);
                expected[at(f)] += product * value;
                expected[at(p + 1 + f)] += static_cast<double>(i) * value;
                expected[at(2 * (p + 1) + f)] += 2 * product * value;
                for (index_t g = f; g <= p; ++g) {
                  expected_gram[at(f * (p + 1) + g)] += scale * scale * value * x.value(row(i), g);
                }
              }
            }
            for (index_t f = 0; f <= p; ++f) {
              CHECK(check::close(a[at(f)], expected[at(f)], 1e-9));
              CHECK(check::close(b[at(f)], expected[at(p + 1 + f)], 1e-9));
              CHECK(check::close(c[at(f)], expected[at(2 * (p + 1) + f)], 1e-9));
              for (index_t g = f; g <= p; ++g) {
                CHECK(check::close(gram[at(f * width + g)], expected_gram[at(f * (p + 1) + g)], 1e-9));
              }
            }
          }
        }
      }
    }
  }
}

CASE("the factor solves, for every size and level alike") {
  for (const index_t n : {1, 2, 7, 8, 9, 16, 17, 50}) {
    std::vector<double> expected;
    for (const Isa isa : levels()) {
      fastpu::detail::Cholesky factor(n, isa, "a matrix");
      std::mt19937 random(static_cast<unsigned>(n));
      std::normal_distribution<double> normal;
      std::vector<double> a(at(n * n));
      for (double& value : a) value = normal(random);
      std::vector<double> square(at(n * n));
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < n; ++j) {
          for (index_t k = 0; k < n; ++k) square[at(i * n + j)] += a[at(i * n + k)] * a[at(j * n + k)];
        }
        square[at(i * n + i)] += 0.1;
      }
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = i; j < n; ++j) factor.matrix()[i * factor.stride() + j] = square[at(i * n + j)];
      }
      CHECK(factor.factor() == 0);
      std::vector<double> x(at(n), 1.0);
      factor.solve(x.data());
      for (index_t i = 0; i < n; ++i) {
        double product = 0;
        for (index_t j = 0; j < n; ++j) product += square[at(i * n + j)] * x[at(j)];
        CHECK(check::close(product, 1.0, 1e-7));
      }
      if (expected.empty()) expected = x;
      CHECK(x == expected);
    }
  }
}

CASE("columns that are solved side by side have the bits of each alone") {
  for (const index_t n : {1, 2, 7, 8, 9, 17, 50}) {
    for (const Isa isa : levels()) {
      fastpu::detail::Cholesky factor(n, isa, "a matrix");
      std::mt19937 random(static_cast<unsigned>(n));
      std::normal_distribution<double> normal;
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = i; j < n; ++j) {
          factor.matrix()[i * factor.stride() + j] = (i == j ? static_cast<double>(n) : 0.3 * normal(random));
        }
      }
      CHECK(factor.factor() == 0);
      for (const std::size_t n_columns :
           {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9}, std::size_t{20}}) {
        std::vector<std::vector<double>> together(n_columns, std::vector<double>(at(n)));
        for (std::vector<double>& column : together) {
          for (double& value : column) value = normal(random);
        }
        std::vector<std::vector<double>> alone = together;
        std::vector<double*> columns;
        for (std::vector<double>& column : together) columns.push_back(column.data());
        factor.solve(columns);
        for (std::vector<double>& column : alone) factor.solve(column.data());
        CHECK(together == alone);
      }
      factor.solve(std::vector<double*>{});
    }
  }
}

CASE("directions that rounding has left nothing of are left out") {
  fastpu::detail::Cholesky factor(3, Isa{}, "a matrix");
  const double a[3][3] = {{4, 2, 2}, {0, 1, 1}, {0, 0, 1}};  // of rank 1
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = i; j < 3; ++j) factor.matrix()[i * factor.stride() + j] = a[i][j];
  }
  CHECK(factor.factor() == 2);
  double x[] = {4, 2, 2};
  factor.solve(x);
  CHECK(check::close(4 * x[0] + 2 * x[1] + 2 * x[2], 4.0, 1e-9));
  for (const double value : x) CHECK(std::isfinite(value));
}

CASE("the best intercepts are those that trying all finds") {
  for (unsigned round = 0; round < 300; ++round) {
    std::mt19937 random(round);
    const index_t n = 1 + round % 70;
    std::vector<Breakpoint> points;
    double total = 0;
    for (index_t i = 0; i < n; ++i) {
      const double cost = round % 3 == 0 ? 1.0 : 1.0 + static_cast<double>(random() % 4);
      points.push_back({static_cast<double>(random() % (round % 2 == 0 ? 10 : 1000)), cost});
      total += cost;
    }
    const double target = round % 7 == 0   ? 0.0
                          : round % 7 == 1 ? total
                                           : std::floor(total * static_cast<double>(random() % 11) / 10);
    const std::vector<Breakpoint> sorted = [&] {
      auto copy = points;
      std::ranges::sort(copy, {}, &Breakpoint::position);
      return copy;
    }();
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const Breakpoint& point : sorted) {
      if (sum < target) low = point.position;
      sum += point.cost;
      if (sum > target) {
        high = point.position;
        break;
      }
    }
    if (target == 0) low = -std::numeric_limits<double>::infinity();
    const auto found = fastpu::detail::best_intercepts(points, target);
    CHECK(found.low == low);
    CHECK(found.high == high);
    const double middle = std::isinf(low) ? high : std::isinf(high) ? low : 0.5 * (low + high);
    CHECK(found.middle == middle);
  }
}

CASE("sums of costs that are not exact still give the interval") {
  std::vector<Breakpoint> points(30'000, {0, 0.1});
  for (std::size_t i = 0; i < points.size(); ++i) points[i].position = static_cast<double>(i);
  double target = 0;
  for (int i = 0; i < 10'000; ++i) target += 0.1;
  const auto found = fastpu::detail::best_intercepts(points, target);
  CHECK(found.low == 9'999);
  CHECK(found.high == 10'000);
}
