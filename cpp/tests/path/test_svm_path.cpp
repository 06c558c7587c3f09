// Paths of small problems: optimality at every breakpoint and between, the same bits however they are computed, and
// the factored system that they rest on.
#include "fastpu/path/svm_path.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "fastpu/common/isa.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "linalg/elbow_factor.hpp"
#include "linalg/triangle_kernels.hpp"
#include "linalg/vector_kernels.hpp"
#include "svm_data.hpp"

namespace {

using fastpu::index_t;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::PathStatus;
using fastpu::SvmPathResult;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr KernelParams kRbf{KernelKind::rbf, 0.3, 3, 0.0};
constexpr KernelParams kLinear{KernelKind::linear, 1.0, 3, 0.0};
constexpr index_t kManyBytes = index_t{1} << 26;

struct Rows {
  index_t n;
  index_t d;
  std::vector<double> x;
  std::vector<std::int8_t> labels;
  std::vector<double> costs;
  std::vector<index_t> numbers;

  // Whole numbers, with many rows alike, where `step` is 1; costs of the positive rows are `cost`.
  Rows(index_t n_rows, index_t n_features, unsigned seed, double step, double cost) : n(n_rows), d(n_features) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (index_t i = 0; i < n; ++i) {
      const bool positive = i % 3 != 0;
      labels.push_back(positive ? 1 : -1);
      costs.push_back(positive ? cost : 1.0);
      numbers.push_back(i);
      for (index_t e = 0; e < d; ++e) {
        const double value = normal(random) + (positive ? 0.7 : -0.7);
        x.push_back(step > 0 ? step * std::round(value / step) : value);
      }
    }
  }

  SvmPathResult path(const KernelParams& params, index_t bytes = kManyBytes, int n_threads = 1,
                     fastpu::Isa isa = fastpu::best_isa(), const fastpu::PathCallback& callback = {},
                     double lam_min = 0) const {
    const fastpu::DenseView<double> view{x.data(), n, d};
    fastpu::Team team(n_threads, {}, isa);
    const auto kernel = fastpu::make_kernel(view, params, team);
    fastpu::SvmPathOptions options;
    options.lam_min = lam_min;
    options.cache_bytes = bytes;
    return fastpu::svm_path(*kernel, {numbers.data(), n, labels.data(), costs.data()}, options, callback, team);
  }

  // The path of the linear kernel of these rows, or of others in their place.
  SvmPathResult linear_path(const fastpu::LinearRows& given, double lam_min = 0) const {
    fastpu::Team team(1, {}, fastpu::best_isa());
    fastpu::SvmPathOptions options;
    options.lam_min = lam_min;
    return fastpu::linear_svm_path(given, {numbers.data(), n, labels.data(), costs.data()}, options, {}, team);
  }
  fastpu::DenseView<double> view() const { return {x.data(), n, d}; }

  // The largest violation of the optimality conditions, in units of y f(x).
  double violation(const KernelParams& params, const std::vector<double>& alpha, double a0, double lam) const {
    double worst = 0;
    double balance = 0;
    for (index_t i = 0; i < n; ++i) {
      double h = 0;
      for (index_t j = 0; j < n; ++j) {
        const auto value = exact_kernel(params, x.data() + i * d, x.data() + j * d, d);
        h += static_cast<double>(value) * alpha[at(j)] * labels[at(j)];
      }
      balance += alpha[at(i)] * labels[at(i)];
      const double slack = labels[at(i)] * (h + a0) / lam - 1;
      if (alpha[at(i)] < costs[at(i)]) worst = std::max(worst, -slack);
      if (alpha[at(i)] > 0) worst = std::max(worst, slack);
      worst = std::max({worst, -alpha[at(i)], alpha[at(i)] - costs[at(i)]});
    }
    return std::max(worst, std::abs(balance) / static_cast<double>(n));
  }

  // The same at every so many breakpoints and half way to the one before.
  double violation(const KernelParams& params, const SvmPathResult& path, std::size_t every = 1) const {
    double worst = 0;
    std::vector<double> alpha = path.start_alpha;
    for (std::size_t k = 0; k < path.knots.size(); ++k) {
      const std::vector<double> before = alpha;
      for (index_t c = path.change_start[k]; c < path.change_start[k + 1]; ++c) {
        alpha[static_cast<std::size_t>(path.change_row[at(c)])] = path.change_alpha[at(c)];
      }
      if (k % every != 0) continue;
      if (path.knots[k] > 0) worst = std::max(worst, violation(params, alpha, path.offsets[k], path.knots[k]));
      if (k == 0) continue;
      std::vector<double> middle = alpha;
      for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = (alpha[i] + before[i]) / 2;
      worst = std::max(worst, violation(params, middle, (path.offsets[k] + path.offsets[k - 1]) / 2,
                                        (path.knots[k] + path.knots[k - 1]) / 2));
    }
    return worst;
  }
};

bool same(const SvmPathResult& a, const SvmPathResult& b) {
  return a.status == b.status && a.start_alpha == b.start_alpha && a.knots == b.knots && a.offsets == b.offsets &&
         a.change_row == b.change_row && a.change_alpha == b.change_alpha && a.event_row == b.event_row &&
         a.event_kind == b.event_kind && a.objective == b.objective && a.norm == b.norm;
}

}  // namespace

CASE("paths are optimal at breakpoints and between") {
  for (const double cost : {1.0, 0.5, 0.37, kInfinity}) {
    for (const auto& params : {kRbf, kLinear}) {
      const Rows rows(45, 2, 3, 0, cost);
      const SvmPathResult path = rows.path(params, kManyBytes, 1, fastpu::best_isa(), {}, 1e-4);
      CHECK(path.status == PathStatus::lam_min || path.status == PathStatus::zero ||
            path.status == PathStatus::trivial);
      CHECK(std::is_sorted(path.knots.rbegin(), path.knots.rend()));
      CHECK(rows.violation(params, path) < 1e-9);
    }
  }
}

CASE("a linear path is that of its kernel, with and without kernel rows") {
  for (const index_t d : {3, 140}) {  // few features are used in place of kernel rows
    const Rows rows(60, d, 5, 0, 1.0);
    const SvmPathResult path = rows.linear_path(rows.view(), 0.1);
    const SvmPathResult by_kernel = rows.path(kLinear, kManyBytes, 1, fastpu::best_isa(), {}, 0.1);
    CHECK(path.weights.empty() == (d > 128));
    CHECK(path.knots.size() == by_kernel.knots.size());
    for (std::size_t k = 0; k < path.knots.size(); ++k) {
      CHECK(std::abs(path.knots[k] - by_kernel.knots[k]) <= 1e-8 * by_kernel.knots[0]);
      CHECK(std::abs(path.offsets[k] - by_kernel.offsets[k]) <= 1e-8 * by_kernel.knots[0]);
    }
    CHECK(rows.violation(kLinear, path) < 1e-9);
    CHECK(path.violation < 1e-9);
  }
}

CASE("a linear path does not depend on the origin, and its violation is that on the given rows") {
  for (const index_t d : {3, 140}) {
    const Rows rows(60, d, 6, 0, 1.0);
    Rows moved(rows);
    for (double& value : moved.x) value += 1e6;
    const SvmPathResult near = rows.linear_path(rows.view(), 0.1);
    const SvmPathResult far = moved.linear_path(moved.view(), 0.1);
    CHECK(near.knots.size() == far.knots.size());
    for (std::size_t k = 0; k < near.knots.size(); ++k) {
      CHECK(std::abs(near.knots[k] - far.knots[k]) <= 1e-7 * near.knots[0]);
    }
    CHECK(far.violation > near.violation);  // scores have fewer digits far from the origin
    CHECK(far.violation < 1e-4);
  }
}

CASE("sparse rows of few features have the bits of dense ones") {
  const Rows rows(50, 4, 7, 0, 2.0);
  std::vector<std::int32_t> columns;
  std::vector<index_t> starts;
  starts.reserve(static_cast<std::size_t>(rows.n) + 1);
  for (index_t i = 0; i <= rows.n; ++i) starts.push_back(i * rows.d);
  columns.reserve(static_cast<std::size_t>(rows.n * rows.d));
  for (index_t e = 0; e < rows.n * rows.d; ++e) columns.push_back(static_cast<std::int32_t>(e % rows.d));
  const fastpu::CsrView<double> sparse{rows.x.data(), columns.data(), starts.data(), rows.n, rows.d};
  const SvmPathResult dense = rows.linear_path(rows.view());
  const SvmPathResult other = rows.linear_path(sparse);
  CHECK(same(dense, other) && dense.weights == other.weights);
}

CASE("rows that are alike, and whole numbers, do not stop a path") {
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const double cost : {1.0, 0.5, 2.0}) {
      const Rows rows(40, 2, seed, 1.0, cost);
      for (const auto& params : {kRbf, kLinear}) {
        const SvmPathResult path = rows.path(params, kManyBytes, 1, fastpu::best_isa(), {}, 1e-3);
        CHECK(path.status != PathStatus::stalled && path.status != PathStatus::max_events);
        CHECK(rows.violation(params, path) < 1e-9);
      }
    }
  }
}

CASE("threads, levels and caches make no difference") {
  const Rows rows(150, 3, 1, 0, 0.8);
  const SvmPathResult path = rows.path(kRbf, kManyBytes, 1, fastpu::Isa::baseline);
  CHECK(same(path, rows.path(kRbf, kManyBytes, 3, fastpu::Isa::baseline)));
  CHECK(same(path, rows.path(kRbf, kManyBytes, 2, fastpu::best_isa())));
  CHECK(rows.violation(kRbf, rows.path(kRbf, 20'000, 1, fastpu::best_isa(), {}, 1e-3)) < 1e-9);
}

CASE("rows that are not followed stay away from the margin") {
  const Rows rows(500, 3, 2, 0, 0.7);
  const auto path = rows.path(kRbf, kManyBytes, 2, fastpu::best_isa(), {}, 0.05);
  CHECK(path.status == PathStatus::lam_min);
  CHECK(path.knots.size() > 150);
  CHECK(rows.violation(kRbf, path, 40) < 1e-9);
}

CASE("a callback sees every breakpoint and can stop") {
  const Rows rows(45, 2, 3, 0, 1.0);
  index_t n_calls = 0;
  const auto path = rows.path(kRbf, kManyBytes, 1, fastpu::best_isa(), [&](const fastpu::PathRound& round) {
    CHECK(round.n_breakpoints == n_calls + 1);
    return ++n_calls == 7;
  });
  CHECK(path.status == PathStatus::callback);
  CHECK(path.knots.size() == 7);
}

CASE("a finite cost far above the others does not loosen what is at a bound") {
  Rows rows(4, 1, 3, 0, 1);
  rows.x = {-2, 2, -8.625, 1.8125};
  rows.labels = {1, -1, -1, 1};
  for (const double cost : {1e10, 1e50, 1e100}) {
    rows.costs = {1, 5.875, cost, 1};
    const SvmPathResult path = rows.path({KernelKind::rbf, 0.5, 3, 0.0});
    CHECK(path.status == PathStatus::zero);
    CHECK(rows.violation({KernelKind::rbf, 0.5, 3, 0.0}, path) < 1e-9);
  }
}

CASE("kernels that are indefinite or overflow leave no number undefined") {
  Rows rows(3, 1, 3, 0, 1);
  rows.x = {-3.5, 0.5, 0};
  rows.labels = {1, -1, 1};
  rows.costs = {kInfinity, 1, kInfinity};
  const SvmPathResult path = rows.path({KernelKind::poly, 0.5, 1, -1.75});
  for (const double value : path.change_alpha) CHECK(std::isfinite(value));
  for (const double value : path.start_alpha) CHECK(std::isfinite(value));
  Rows huge(12, 2, 3, 0, kInfinity);
  for (double& x : huge.x) x *= 1e200;
  CHECK_THROWS(std::invalid_argument, huge.path(kLinear), "with itself is inf");
}

CASE("where kernel values of very different size leave only rounding, a path starts from a feasible point") {
  Rows rows(6, 4, 3, 0, 1);
  rows.x = {-0x1.6p+0,
            -0x1.6p+0,
            -0x1.fc58p+0,
            -0x1.6p+0,
            0x1p+0,
            -0x1p+1,
            -0x1.2p+3,
            -0x1.d8p+2,
            0x1.375cp+1,
            -0x1.0fc1p+192,
            -0x1.6d601ad376ab9p-150,
            0x1.9p+1,
            -0x1.cp+2,
            -0x1.2p+0,
            -0x1.3p+1,
            0x1.5p+1,
            -0x1.5p+2,
            0x1.6148p+1,
            0x1.1cp+3,
            0x1.a8p+2,
            -0x1.dp+1,
            -0x1.1p+1,
            -0x1.9p+2,
            -0x1p-2};
  rows.labels = {1, -1, -1, 1, -1, -1};
  rows.costs = {kInfinity, 1, 1, kInfinity, 1, 1};
  const SvmPathResult path = rows.path({KernelKind::poly, 0.5, 2, -1.54757e-260});
  CHECK(path.start_alpha[0] >= 0 && path.start_alpha[3] >= 0 &&
        std::abs(path.start_alpha[0] + path.start_alpha[3] - 4) < 1e-6);
  for (const double value : path.change_alpha) CHECK(std::isfinite(value));
}

CASE("rows that a fresh factor would leave out stay on the margin") {
  Rows rows(8, 2, 3, 0, 1);
  rows.x = {1.7063712220988236e-08, -3.625, -4.75, 0, 0, 0, 0, 4722.3125, 0,
            1.7063712220988236e-08, -3.625, -4.75, 0, 0, 0, 0};
  rows.labels = {1, -1, 1, 1, -1, -1, 1, 1};
  const SvmPathResult path = rows.path({KernelKind::linear, 0.5, 1, 0.0});
  for (const double value : path.change_alpha) CHECK(value >= 0 && value <= 1);
  CHECK(path.violation < 1e-6);
}

CASE("bad problems are refused") {
  Rows rows(12, 2, 3, 0, kInfinity);
  rows.costs[0] = kInfinity;
  CHECK_THROWS(std::invalid_argument, rows.path(kRbf), "finite in one class");
  rows.costs[0] = 0;
  CHECK_THROWS(std::invalid_argument, rows.path(kRbf), "costs must be infinite or between 1e-100 and 1e+100, got 0");
  rows.costs[0] = 1e308;
  CHECK_THROWS(std::invalid_argument, rows.path(kRbf), "between 1e-100 and 1e+100, got 1e+308");
  rows.costs[0] = std::nan("");
  CHECK_THROWS(std::invalid_argument, rows.path(kRbf), "between 1e-100 and 1e+100, got nan");
  Rows one(12, 2, 3, 0, 1);
  one.labels.assign(12, 1);
  CHECK_THROWS(std::invalid_argument, one.path(kRbf), "both classes");
}

CASE("the factor follows rows that come and go") {
  std::mt19937 random = random_numbers(0);
  const index_t n = 60;
  const Points<double> points(n, 8, 5, 1.0, false);
  const auto value = [&](index_t i, index_t j) {
    return static_cast<double>(exact_kernel(kRbf, points.row(i), points.row(j), points.d));
  };
  fastpu::detail::ElbowFactor factor(1.0, fastpu::best_isa());
  std::vector<index_t> there;
  for (int step = 0; step < 400; ++step) {
    const auto i = static_cast<index_t>(random() % static_cast<unsigned>(n));
    const auto place = std::ranges::find(there, i);
    if (place != there.end()) {
      factor.remove(place - there.begin());
      there.erase(place);
    } else {
      std::vector<double> column;
      column.reserve(there.size());
      for (const index_t j : there) column.push_back(value(i, j));
      const double pivot = factor.add(column.data(), value(i, i), i % 2 == 0 ? 1 : -1);
      REQUIRE(!fastpu::detail::ElbowFactor::is_dependent(pivot));
      there.push_back(i);
    }
    if (there.empty()) continue;
    std::vector<double> u(there.size());
    double mu = 0;
    const auto check = [&](const std::vector<double>& right, double total) {
      double sum = 0;
      for (std::size_t k = 0; k < there.size(); ++k) {
        double left = mu;
        for (std::size_t l = 0; l < there.size(); ++l) left += value(there[k], there[l]) * u[l];
        CHECK(std::abs(left - right[k]) < 1e-11);
        sum += u[k];
      }
      CHECK(std::abs(sum - total) < 1e-11);
    };
    std::vector<double> right;
    right.reserve(there.size());
    for (const index_t j : there) right.push_back(j % 2 == 0 ? -1 : 1);
    factor.solve_labels(u.data(), mu);
    check(right, 0);
    for (double& each : right) each *= 0.3 * each + 0.2;
    factor.solve(right.data(), 0.7, u.data(), mu);
    check(right, 0.7);
  }
  if (there.empty()) return;
  std::vector<double> column;
  column.reserve(there.size());
  for (const index_t j : there) column.push_back(value(there[0], j));
  CHECK(fastpu::detail::ElbowFactor::is_dependent(factor.add(column.data(), 1, 1)));
  // Values that overflowed: the row is not added, and the caller is told so.
  const index_t size = factor.size();
  column.back() = std::numeric_limits<double>::quiet_NaN();
  CHECK(fastpu::detail::ElbowFactor::is_dependent(factor.add(column.data(), 1, 1)));
  CHECK(factor.size() == size);
}

CASE("violations and loss of a point are those of a plain loop, with the same bits on every level") {
  for (const index_t n : {0, 1, 7, 8, 37}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    std::uniform_real_distribution<double> uniform(-2, 2);
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> score(size), weight(size), side(size), label(size), cost(size);
    constexpr double kOffset = 0.3;
    constexpr double kLam = 0.8;
    double worst = 0;
    double loss = 0;
    for (std::size_t i = 0; i < size; ++i) {
      label[i] = i % 3 == 0 ? 1 : -1;
      side[i] = static_cast<double>(i % 5 % 3) - 1;
      weight[i] = side[i] * label[i];
      score[i] = uniform(random);
      cost[i] = i % 4 == 0 ? 0 : 1 + uniform(random) / 4;
      const double margin = label[i] * (score[i] + kOffset) - kLam;
      worst = std::max(worst, side[i] == 0 ? std::abs(margin) : -side[i] * margin);
      loss += cost[i] * std::max(-margin, 0.0);
    }
    const fastpu::detail::PathSlacks slacks{n, score.data(), weight.data(), side.data()};
    const auto check = [&](fastpu::Isa isa) {
      return fastpu::detail::vector_kernels(isa).check(slacks, label.data(), cost.data(), kOffset, kLam);
    };
    const auto plain = check(fastpu::Isa::baseline);
    CHECK(plain.worst == worst);
    CHECK(std::abs(plain.loss - loss) <= 1e-14 * (1 + loss));
    for (const fastpu::Isa isa : {fastpu::Isa::avx2, fastpu::Isa::avx512}) {
      if (isa > fastpu::best_isa()) continue;
      CHECK(check(isa).worst == plain.worst);
      CHECK(check(isa).loss == plain.loss);
    }
  }
}

CASE("systems of a triangle and rotations of its rows have the same bits on every level") {
  constexpr index_t kCapacity = 32;
  constexpr index_t kPanel = fastpu::detail::kPanelRows;
  for (const index_t n : {8, 24}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(n));
    std::uniform_real_distribution<double> uniform(-2, 2);
    const auto fill = [&](index_t size) {
      std::vector<double> values(static_cast<std::size_t>(size));
      for (double& each : values) each = uniform(random);
      return values;
    };
    const std::vector<double> values = fill(kCapacity * (kCapacity + kPanel) / 2);
    const std::vector<double> right = fill(n);
    const std::vector<double> turns = fill(2 * kPanel);
    std::vector<double> inverse(static_cast<std::size_t>(n));
    std::vector<std::vector<double>> u(static_cast<std::size_t>(n), std::vector<double>(inverse.size()));
    index_t start = 0;
    for (index_t first = 0; first < n; first += kPanel) {
      for (index_t k = 0; k < kPanel * (kCapacity - first); ++k) {
        const index_t r = first + k / (kCapacity - first);
        const index_t c = first + k % (kCapacity - first);
        if (c > r && c < n && r != 3 && c != 3)
          u[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] = values[static_cast<std::size_t>(start + k)];
      }
      start += kPanel * (kCapacity - first);
    }
    for (std::size_t r = 0; r < inverse.size(); ++r) {
      u[r][r] = r == 3 ? 0 : 8 + static_cast<double>(r);
      inverse[r] = r == 3 ? 0 : 1 / u[r][r];
    }
    std::vector<std::vector<double>> plain;
    for (const fastpu::Isa isa : {fastpu::Isa::baseline, fastpu::Isa::avx2, fastpu::Isa::avx512}) {
      if (isa > fastpu::best_isa()) continue;
      const auto& loops = fastpu::detail::triangle_kernels(isa);
      const fastpu::detail::Triangle triangle{values.data(), kCapacity, inverse.data(), n};
      std::vector<double> x = right;
      loops.solve(triangle, x.data());
      std::vector<double> y = right;
      loops.solve_transposed(triangle, y.data());
      for (std::size_t r = 0; r < right.size(); ++r) {
        double left = r == 3 ? 0 : -right[r];
        double left_transposed = left;
        for (std::size_t c = 0; c < right.size(); ++c) {
          left += u[r][c] * x[c];
          left_transposed += u[c][r] * y[c];
        }
        CHECK(std::abs(left) <= 1e-13);
        CHECK(std::abs(left_transposed) <= 1e-13);
      }
      CHECK(x[3] == 0);
      CHECK(y[3] == 0);
      std::vector<double> panel = values;
      std::vector<double> carried = right;
      loops.turn(panel.data(), kCapacity, carried.data(), turns.data(), turns.data() + kPanel, n);
      for (index_t c = 0; c < n; ++c) {
        double left = right[static_cast<std::size_t>(c)];
        for (index_t r = 0; r < kPanel; ++r) {
          const double cosine = turns[static_cast<std::size_t>(r)];
          const double sine = turns[static_cast<std::size_t>(r + kPanel)];
          const double row = values[static_cast<std::size_t>(r * kCapacity + c)];
          CHECK(panel[static_cast<std::size_t>(r * kCapacity + c)] == cosine * row + sine * left);
          left = cosine * left - sine * row;
        }
        CHECK(carried[static_cast<std::size_t>(c)] == left);
      }
      const std::vector<std::vector<double>> found{x, y, panel, carried};
      if (plain.empty()) plain = found;
      CHECK(found == plain);
    }
  }
}
