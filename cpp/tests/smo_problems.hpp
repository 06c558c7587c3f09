// Boxes for sequential minimal optimisation, a slow projected gradient method for them, and what must hold of results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/svm/smo.hpp"
#include "svm_data.hpp"

namespace smo_tests {

using fastpu::index_t;
using fastpu::KernelCache;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::SmoCallback;
using fastpu::SmoOptions;
using fastpu::SmoProblem;
using fastpu::SmoResult;
using fastpu::SmoRound;
using fastpu::SmoStatus;
using fastpu::Team;

inline constexpr index_t kManyBytes = index_t{1} << 26;
inline constexpr KernelParams kRbf{KernelKind::rbf, 0.3, 3, 0.0};
inline constexpr KernelParams kLinear{KernelKind::linear, 1.0, 3, 0.0};
inline constexpr KernelParams kPoly{KernelKind::poly, 0.25, 2, 1.0};

// A problem over the rows of some points, in any order.
struct Box {
  std::vector<index_t> rows;
  std::vector<double> linear;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> start;
  std::vector<std::uint8_t> groups;  // empty: one group

  index_t n() const { return static_cast<index_t>(rows.size()); }
  int group(std::size_t i) const { return groups.empty() ? 0 : groups[i]; }
  SmoProblem view() const {
    return {rows.data(), n(), linear.data(), lower.data(), upper.data(), groups.empty() ? nullptr : groups.data()};
  }
};

// Bounds on either side of zero or not; a tenth of the variables have no room, a tenth much of it.
inline Box random_box(index_t n, bool has_two_groups, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  Box box;
  box.rows = all_rows(n);
  std::shuffle(box.rows.begin(), box.rows.end(), random);
  for (index_t i = 0; i < n; ++i) {
    box.linear.push_back(2 * uniform(random) - 1);
    const double room = i % 10 == 3 ? 0 : i % 10 == 7 ? 20 : uniform(random);
    box.lower.push_back(0.5 * uniform(random) - (i % 2 == 0 ? room : 0));
    box.upper.push_back(box.lower.back() + room);
    const double where = i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : uniform(random);
    box.start.push_back(where == 1 ? box.upper.back() : std::min(box.lower.back() + where * room, box.upper.back()));
    if (has_two_groups) box.groups.push_back(static_cast<std::uint8_t>(random() % 2));
  }
  return box;
}

// The dual of a support vector machine: y alphas between 0 and a cost.
inline Box svm_box(index_t n, double cost, unsigned seed) {
  std::mt19937 random(seed);
  Box box;
  box.rows = all_rows(n);
  for (index_t i = 0; i < n; ++i) {
    const bool is_positive = random() % 3 == 0;
    box.linear.push_back(is_positive ? -1 : 1);
    box.lower.push_back(is_positive ? 0 : -cost);
    box.upper.push_back(is_positive ? cost : 0);
    box.start.push_back(0);
  }
  return box;
}

// Kb + q, with k over all points.
inline std::vector<double> gradient_of(const std::vector<double>& k, index_t n_points, const Box& box,
                                       const std::vector<double>& b) {
  std::vector<double> g(box.linear);
  for (std::size_t i = 0; i < g.size(); ++i) {
    long double sum = 0;
    for (std::size_t j = 0; j < g.size(); ++j) sum += k[at(box.rows[i] * n_points + box.rows[j])] * b[j];
    g[i] += static_cast<double>(sum);
  }
  return g;
}

inline double objective_of(const Box& box, const std::vector<double>& gradient, const std::vector<double>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += 0.5L * b[i] * (gradient[i] + box.linear[i]);
  return static_cast<double>(sum);
}

inline double violation_of(const Box& box, const std::vector<double>& gradient, const std::vector<double>& b) {
  double worst = 0;
  for (int g = 0; g < 2; ++g) {
    double up = std::numeric_limits<double>::infinity();
    double low = -up;
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (box.group(i) != g) continue;
      if (b[i] < box.upper[i]) up = std::min(up, gradient[i]);
      if (b[i] > box.lower[i]) low = std::max(low, gradient[i]);
    }
    worst = std::max(worst, low - up);
  }
  return worst;
}

inline double group_sum(const Box& box, const std::vector<double>& b, int g) {
  long double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += box.group(i) == g ? b[i] : 0;
  return static_cast<double>(sum);
}

inline double absolute_sum(const std::vector<double>& b) {
  double sum = 0;
  for (const double value : b) sum += std::abs(value);
  return sum;
}

inline void check_feasible(const Box& box, const std::vector<double>& b) {
  bool is_inside = true;
  for (std::size_t i = 0; i < b.size(); ++i) is_inside = is_inside && b[i] >= box.lower[i] && b[i] <= box.upper[i];
  CHECK(is_inside);
  for (const int g : {0, 1}) {
    CHECK(std::abs(group_sum(box, b, g) - group_sum(box, box.start, g)) <=
          1e-12 * (1 + absolute_sum(b) + absolute_sum(box.start)));
  }
}

// The nearest point of the box whose sums are those of the start: v - shift, clipped, with the shift by bisection.
inline std::vector<double> project(const Box& box, std::vector<double> v) {
  for (const int g : {0, 1}) {
    const double wanted = group_sum(box, box.start, g);
    double low = -1e6;
    double high = 1e6;
    for (int step = 0; step < 90; ++step) {
      const double shift = 0.5 * (low + high);
      double sum = 0;
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (box.group(i) == g) sum += std::clamp(v[i] - shift, box.lower[i], box.upper[i]);
      }
      (sum > wanted ? low : high) = shift;
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (box.group(i) == g) v[i] = std::clamp(v[i] - low, box.lower[i], box.upper[i]);
    }
  }
  return v;
}

// Accelerated projected gradient steps, with restarts.
inline std::vector<double> slow_solution(const std::vector<double>& k, index_t n_points, const Box& box) {
  double trace = 0;  // a bound of the largest eigenvalue
  for (const index_t row : box.rows) trace += k[at(row * n_points + row)];
  std::vector<double> b = project(box, box.start);
  std::vector<double> ahead = b;
  double momentum = 1;
  for (int step = 0; step < 3000; ++step) {
    std::vector<double> g = gradient_of(k, n_points, box, ahead);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = ahead[i] - g[i] / trace;
    const std::vector<double> next = project(box, g);
    double turn = 0;
    for (std::size_t i = 0; i < next.size(); ++i) turn += (ahead[i] - next[i]) * (next[i] - b[i]);
    const double momentum_then = turn > 0 ? 1 : momentum;
    momentum = 0.5 * (1 + std::sqrt(1 + 4 * momentum_then * momentum_then));
    for (std::size_t i = 0; i < next.size(); ++i)
      ahead[i] = next[i] + (momentum_then - 1) / momentum * (next[i] - b[i]);
    b = next;
  }
  return b;
}

inline SmoOptions with_tol(double tol) {
  SmoOptions options;
  options.tol = tol;
  return options;
}

// What a solver returned, and the solution.
struct Solved {
  SmoResult result;
  std::vector<double> b;
};

template <class T>
Solved solve_cached(KernelCache<T>& cache, const Box& box, const SmoOptions& options, Team& team,
                    const SmoCallback& callback = {}) {
  Solved solved;
  solved.b = box.start;
  solved.result = smo(cache, box.view(), options, callback, team, solved.b.data());
  return solved;
}

template <class T>
Solved solve_with(const Points<T>& points, const KernelParams& params, const Box& box, const SmoOptions& options,
                  Team& team, index_t bytes = kManyBytes, const SmoCallback& callback = {}) {
  const auto kernel = make_kernel(points.dense(), params, team);
  KernelCache<T> cache(*kernel, bytes);
  return solve_cached(cache, box, options, team, callback);
}

template <class View>
Solved solve_linear(const View& x, const Box& box, const SmoOptions& options, Team& team,
                    const SmoCallback& callback = {}) {
  Solved solved;
  solved.b = box.start;
  solved.result = smo_linear(x, box.view(), options, callback, team, solved.b.data());
  return solved;
}

inline bool same_bits(const Solved& a, const Solved& b) {
  return ::same_bits(a.b, b.b) && ::same_bits(a.result.gradient, b.result.gradient) &&
         a.result.n_steps == b.result.n_steps && a.result.status == b.result.status &&
         a.result.violation == b.result.violation && a.result.rounds.size() == b.result.rounds.size();
}

// Everything that must hold of a result that says `tol`; kernel values are right to `kernel_error`.
inline void check_optimal(const Solved& solved, const std::vector<double>& k, index_t n_points, const Box& box,
                          double tol, double kernel_error) {
  CHECK(solved.result.status == SmoStatus::tol);
  check_feasible(box, solved.b);
  const std::vector<double> g = gradient_of(k, n_points, box, solved.b);
  const double error = kernel_error * (1 + absolute_sum(solved.b));
  REQUIRE(solved.result.gradient.size() == g.size());
  for (std::size_t i = 0; i < g.size(); ++i) CHECK(std::abs(solved.result.gradient[i] - g[i]) <= error);
  CHECK(violation_of(box, g, solved.b) <= tol + 2 * error);
  CHECK(solved.result.violation <= tol);
  CHECK(std::abs(solved.result.violation - std::max(0.0, violation_of(box, solved.result.gradient, solved.b))) <=
        1e-15);
}

// Rounds tell a story that is true: steps grow, the objective falls to that of the solution.
inline void check_rounds(const Solved& solved, const Box& box, const std::vector<double>& k, index_t n_points,
                         double tolerance) {
  const auto& rounds = solved.result.rounds;
  if (rounds.empty()) return;
  for (std::size_t r = 1; r < rounds.size(); ++r) {
    CHECK(rounds[r].n_steps >= rounds[r - 1].n_steps);
    CHECK(rounds[r].objective <= rounds[r - 1].objective + tolerance);
    CHECK(rounds[r].n_active >= 2 && rounds[r].n_active <= box.n());
  }
  CHECK(rounds.back().n_steps == solved.result.n_steps);
  const double objective = objective_of(box, gradient_of(k, n_points, box, solved.b), solved.b);
  CHECK(std::abs(rounds.back().objective - objective) <= tolerance * (1 + std::abs(objective)));
}

}  // namespace smo_tests
