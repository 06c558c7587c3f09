// The nearest point of a hull: optimality by its definition, points inside, rows that depend on each other.
#include "fastpu/judge/hull_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::at;
using fastpu::DenseView;
using fastpu::HullDistance;
using fastpu::HullNearest;
using fastpu::HullStatus;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::Team;

constexpr index_t kSteps = 100'000;

struct Rows {
  index_t n;
  index_t d;
  std::vector<double> values;

  DenseView<double> view() const { return {values.data(), n, d}; }
};

Rows normal_rows(index_t n, index_t d, unsigned seed = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Rows rows{n, d, {}};
  for (index_t i = 0; i < n * d; ++i) rows.values.push_back(normal(random));
  return rows;
}

// A Gaussian kernel's rows: nearly dependent, and most of them corners of the hull.
Rows kernel_rows(index_t n) {
  const Rows from = normal_rows(n, 2);
  Rows rows{n, 60, {}};
  for (index_t i = 0; i < n; ++i) {
    for (index_t f = 0; f < rows.d; ++f) {
      const double a = from.values[at(2 * i)] - from.values[at(2 * f)];
      const double b = from.values[at(2 * i + 1)] - from.values[at(2 * f + 1)];
      rows.values.push_back(std::exp(-(a * a + b * b) / 8));
    }
  }
  return rows;
}

double length(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

// Checks the weights and the certificate, against sums of the definition; `size` is that of the numbers.
void check_optimal(const Rows& rows, const std::vector<double>& point, const HullNearest& found, double size) {
  CHECK(found.status == HullStatus::slack);
  CHECK(found.rows.size() == found.weights.size());
  CHECK(std::set<index_t>(found.rows.begin(), found.rows.end()).size() == found.rows.size());
  std::vector<double> x(at(rows.d), 0.0);
  double total = 0;
  for (std::size_t j = 0; j < found.rows.size(); ++j) {
    CHECK(found.weights[j] > 0 || found.rows.size() == 1);
    total += found.weights[j];
    for (index_t f = 0; f < rows.d; ++f) x[at(f)] += found.weights[j] * rows.values[at(found.rows[j] * rows.d + f)];
  }
  CHECK(std::fabs(total - 1) < 1e-12);
  for (index_t f = 0; f < rows.d; ++f) CHECK(std::fabs(point[at(f)] - x[at(f)] - found.apart[at(f)]) < 1e-11 * size);
  const double apart = length(found.apart);
  if (apart < 1e-10 * size) return;
  double slack = 0;
  for (index_t i = 0; i < rows.n; ++i) {
    double sum = 0;
    for (index_t f = 0; f < rows.d; ++f) {
      sum += found.apart[at(f)] * (rows.values[at(i * rows.d + f)] - x[at(f)]);
    }
    slack = std::max(slack, sum / apart);
  }
  CHECK(slack < 1e-9 * size + 1e-14 * size * size / apart);
  CHECK(std::fabs(std::min(slack, apart) - found.slack) < 1e-10 * size);
}

}  // namespace

CASE("no row is further along the way to the point than the nearest point") {
  Team team(2);
  for (const Rows& rows : {normal_rows(300, 5), normal_rows(40, 60), normal_rows(7, 1), kernel_rows(400)}) {
    HullDistance hull(rows.view(), fastpu::best_isa(), team);
    CHECK(hull.n_features() == rows.d);
    for (int k = 0; k < 6; ++k) {  // from the middle of the rows to far away, along a line
      std::vector<double> point(at(rows.d), 0.0);
      for (index_t i = 0; i < rows.n; ++i) {
        for (index_t f = 0; f < rows.d; ++f) {
          const double weight = (i % 2 == 0 ? 1 + k * k : 1 - k * k) / static_cast<double>(rows.n);
          point[at(f)] += weight * rows.values[at(i * rows.d + f)];
        }
      }
      check_optimal(rows, point, hull.nearest(point.data(), kSteps, team), 30);
    }
  }
}

CASE("distances of a square") {
  const Rows square{4, 2, {0, 0, 1, 0, 0, 1, 1, 1}};
  Team team(1);
  HullDistance hull(square.view(), Isa::baseline, team);
  const double inside[] = {0.25, 0.5};
  CHECK(length(hull.nearest(inside, kSteps, team).apart) < 1e-15);
  const double beside[] = {3.0, 0.5};
  const auto found = hull.nearest(beside, kSteps, team);
  CHECK(check::close(found.apart[0], 2.0, 1e-14) && std::fabs(found.apart[1]) < 1e-14);
  const double corner[] = {4.0, 5.0};
  const auto at_corner = hull.nearest(corner, kSteps, team);
  CHECK(at_corner.apart == std::vector<double>({3.0, 4.0}));
  CHECK(at_corner.rows == std::vector<index_t>({3}) && at_corner.weights == std::vector<double>({1.0}));
}

CASE("rows that depend on each other") {
  Team team(1);
  Rows twice = normal_rows(20, 4);
  const std::vector<double> once = twice.values;
  twice.values.insert(twice.values.end(), once.begin(), once.end());
  twice.n = 40;
  Rows line{9, 3, {}};
  for (int i = 0; i < 27; ++i) line.values.push_back((i / 3 * 5 % 9) * (i % 3 - 1.5));
  Rows cube{27, 3, {}};
  for (int i = 0; i < 27; ++i) {
    for (const int part : {i / 9, i / 3 % 3, i % 3}) cube.values.push_back(part);
  }
  Rows cluster{30, 3, {}};  // and a row so far away that squares do not tell the others apart
  for (int i = 0; i < 90; ++i) cluster.values.push_back(i == 89 ? -9.0 : 1e-9 * (i * i % 7));
  for (const Rows& rows : {twice, line, cube, cluster}) {
    HullDistance hull(rows.view(), fastpu::best_isa(), team);
    for (int k = 0; k < 20; ++k) {
      const Rows point = normal_rows(1, rows.d, static_cast<unsigned>(k));
      check_optimal(rows, point.values, hull.nearest(point.values.data(), kSteps, team), 10);
    }
  }
  const Rows equal{3, 2, {0.1, 1e5 / 3, 0.1, 1e5 / 3, 0.1, 1e5 / 3}};
  HullDistance hull(equal.view(), fastpu::best_isa(), team);
  const double point[] = {0.1, 7.0};
  const auto found = hull.nearest(point, kSteps, team);
  CHECK(found.apart == std::vector<double>({0.0, 7.0 - 1e5 / 3}));
  CHECK(found.slack == 0 && found.rows.size() == 1);
}

CASE("many points one after the other are as good as the first") {
  const Rows rows = kernel_rows(200);
  Team team(1);
  HullDistance hull(rows.view(), fastpu::best_isa(), team);
  index_t n_steps = 0;
  for (unsigned k = 0; k < 400; ++k) {
    Rows point = normal_rows(1, rows.d, k);
    for (double& value : point.values) value = 0.5 + 0.1 * value;
    const auto found = hull.nearest(point.values.data(), kSteps, team);
    check_optimal(rows, point.values, found, 10);
    n_steps += found.n_steps;
  }
  CHECK(n_steps > 3000);  // so that the factor has been made anew
}

CASE("a search ends where squares do not tell rows apart, and says how far it got") {
  Team team(1);
  int n_hidden = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Rows rows = normal_rows(6, 6, seed);
    for (double& value : rows.values) value *= 5;
    rows.values[3] = 67108864.0;
    rows.values[4] = 121896960.0;
    HullDistance hull(rows.view(), fastpu::best_isa(), team);
    for (const double size : {10.0, 30.0}) {
      Rows point = normal_rows(1, 6, seed + 100);
      for (double& value : point.values) value *= size;
      const auto found = hull.nearest(point.values.data(), kSteps, team);
      if (found.status == HullStatus::precision) ++n_hidden;
      CHECK(found.status != HullStatus::max_steps);
      CHECK(found.slack <= 1.001 * length(found.apart) && found.slack < 1e-6 * rows.values[4]);
    }
  }
  CHECK(n_hidden > 0);
}

CASE("the corner towards a point so far away that its distance is the same to all") {
  Team team(1);
  const Rows rows = normal_rows(300, 5);
  HullDistance hull(rows.view(), fastpu::best_isa(), team);
  for (unsigned seed = 0; seed < 10; ++seed) {
    Rows point = normal_rows(1, 5, seed);
    std::vector<double> along;
    for (index_t i = 0; i < rows.n; ++i) {
      along.push_back(0);
      for (index_t f = 0; f < 5; ++f) along.back() += rows.values[at(i * 5 + f)] * point.values[at(f)];
    }
    for (double& value : point.values) value *= 1e30;
    const auto found = hull.nearest(point.values.data(), kSteps, team);
    CHECK(found.status == HullStatus::slack && found.apart == point.values);
    CHECK(found.rows == std::vector<index_t>({std::max_element(along.begin(), along.end()) - along.begin()}));
  }
}

CASE("all threads and levels give the same bits") {
  const Rows rows = kernel_rows(700);
  std::set<std::vector<double>> found;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > fastpu::best_isa()) continue;
    for (const int n_threads : {1, 2, 5}) {
      Team team(n_threads);
      HullDistance hull(rows.view(), isa, team);
      std::vector<double> all;
      for (const double factor : {0.9, 1.0, 1.2}) {
        std::vector<double> point(at(rows.d), 0.5 * factor);
        for (const double value : hull.nearest(point.data(), kSteps, team).apart) all.push_back(value);
      }
      found.insert(all);
    }
  }
  CHECK(found.size() == 1);
}

CASE("a stop leaves a hull that can be used again") {
  const Rows rows = kernel_rows(500);
  const std::vector<double> point(at(rows.d), 0.7);
  Team quiet(1);
  HullDistance fresh(rows.view(), fastpu::best_isa(), quiet);
  const auto expected = fresh.nearest(point.data(), kSteps, quiet);
  int n_polls = 0;
  int limit = 1'000'000;
  struct Stop {};
  Team team(1, [&] {
    if (++n_polls > limit) throw Stop{};
  });
  HullDistance hull(rows.view(), fastpu::best_isa(), team);
  const int n_before = n_polls;
  static_cast<void>(hull.nearest(point.data(), kSteps, team));
  CHECK(n_polls - n_before > expected.n_steps);
  for (const int more : {1, 5}) {
    const std::vector<double> other(at(rows.d), -more / 10.0);
    limit = n_polls + more;
    bool is_stopped = false;
    try {
      static_cast<void>(hull.nearest(other.data(), kSteps, team));
    } catch (const Stop&) {
      is_stopped = true;
    }
    CHECK(is_stopped);
    limit = 1'000'000;
    CHECK(hull.nearest(point.data(), kSteps, team).apart == expected.apart);
  }
}

CASE("steps run out, and bad input is refused") {
  const Rows rows = kernel_rows(300);
  Team team(1);
  HullDistance hull(rows.view(), fastpu::best_isa(), team);
  const std::vector<double> point(at(rows.d), 0.7);
  const auto few = hull.nearest(point.data(), 3, team);
  CHECK(few.status == HullStatus::max_steps && few.slack > 0 && few.n_steps >= 3);
  check_optimal(rows, point, hull.nearest(point.data(), kSteps, team), 10);
  CHECK_THROWS(std::invalid_argument, hull.nearest(point.data(), 0, team), "max_steps must be >= 1, got 0");
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> wrong = point;
    wrong[7] = value;
    CHECK_THROWS(std::invalid_argument, hull.nearest(wrong.data(), kSteps, team), "point must have finite entries");
    Rows bad = rows;
    bad.values[8] = value;
    CHECK_THROWS(std::invalid_argument, HullDistance(bad.view(), Isa::baseline, team), "rows must have entries of");
  }
  std::vector<double> far = point;
  far[3] = 1e200;
  CHECK_THROWS(std::invalid_argument, hull.nearest(far.data(), kSteps, team), "squares do not overflow");
  const Rows none{0, 3, {}};
  CHECK_THROWS(std::invalid_argument, HullDistance(none.view(), Isa::baseline, team), "rows must be at least one");
}

CASE("sizes of numbers do not matter") {
  Team team(1);
  const Rows rows = normal_rows(30, 4);
  const Rows point = normal_rows(1, 4, 9);
  HullDistance hull(rows.view(), fastpu::best_isa(), team);
  const auto expected = hull.nearest(point.values.data(), kSteps, team);
  for (const int exponent : {-900, -500, 900}) {
    Rows scaled = rows;
    Rows scaled_point = point;
    for (double& value : scaled.values) value = std::ldexp(value, exponent);
    for (double& value : scaled_point.values) value = std::ldexp(value, exponent);
    HullDistance other(scaled.view(), fastpu::best_isa(), team);
    auto found = other.nearest(scaled_point.values.data(), kSteps, team).apart;
    for (double& value : found) value = std::ldexp(value, -exponent);
    CHECK(found == expected.apart);
  }
}
