#include "svm/free_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "linalg/cholesky.hpp"

namespace fastpu::detail {

namespace {

// Factors the kernel matrix of the free variables, with a ridge that makes it positive definite.
bool make_factor(const FreeProblem& problem, const std::vector<index_t>& free, Cholesky& factor) {
  const auto n = static_cast<index_t>(free.size());
  const auto stride = static_cast<index_t>(problem.value.size());
  double largest = 0;
  for (const index_t i : free) largest = std::max(largest, std::abs(problem.kernel[at(i * stride + i)]));
  const double ridge = 1e-13 * static_cast<double>(n) * largest;
  for (index_t i = 0; i < n; ++i) {
    const double* from = problem.kernel.data() + free[at(i)] * stride;
    double* row = factor.matrix() + i * factor.stride();
    for (index_t j = i; j < n; ++j) row[j] = from[free[at(j)]];
    row[i] += ridge;
  }
  return factor.factor() == 0;
}

// Finds the step to the minimum of the quadratic in the free variables, with a sum of zero over each group.
bool find_direction(const FreeProblem& problem, const std::vector<index_t>& free, Isa isa,
                    std::vector<double>& direction) {
  const auto n = static_cast<index_t>(free.size());
  Cholesky factor(n, isa, "the kernel matrix of the free variables");
  if (!make_factor(problem, free, factor)) return false;
  direction.resize(at(n));
  for (index_t k = 0; k < n; ++k) direction[at(k)] = -problem.gradient[at(free[at(k)])];
  factor.solve(direction.data());
  // The Lagrange multipliers of the one or two groups solve a system of that size.
  double matrix[2][2] = {};
  double sums[2] = {};
  std::vector<double> unit[2];
  for (int g = 0; g < 2; ++g) {
    unit[g].assign(at(n), 0.0);
    for (index_t k = 0; k < n; ++k) unit[g][at(k)] = problem.group[at(free[at(k)])] == g ? 1.0 : 0.0;
    factor.solve(unit[g].data());
  }
  for (index_t k = 0; k < n; ++k) {
    const int g = problem.group[at(free[at(k)])];
    sums[g] += direction[at(k)];
    for (int h = 0; h < 2; ++h) matrix[g][h] += unit[h][at(k)];
  }
  double multiplier[2] = {};
  const double determinant = matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0];
  if (matrix[0][0] > 0 && matrix[1][1] > 0 && determinant > 0) {
    multiplier[0] = (sums[0] * matrix[1][1] - sums[1] * matrix[0][1]) / determinant;
    multiplier[1] = (matrix[0][0] * sums[1] - matrix[1][0] * sums[0]) / determinant;
  } else {
    for (int g = 0; g < 2; ++g) multiplier[g] = matrix[g][g] > 0 ? sums[g] / matrix[g][g] : 0;
  }
  for (index_t k = 0; k < n; ++k) {
    direction[at(k)] -= multiplier[0] * unit[0][at(k)] + multiplier[1] * unit[1][at(k)];
  }
  // Removes what rounding left of the sums.
  for (int g = 0; g < 2; ++g) {
    double sum = 0;
    double count = 0;
    for (index_t k = 0; k < n; ++k) {
      if (problem.group[at(free[at(k)])] != g) continue;
      sum += direction[at(k)];
      ++count;
    }
    for (index_t k = 0; k < n; ++k) {
      if (problem.group[at(free[at(k)])] == g) direction[at(k)] -= sum / count;
    }
  }
  return std::ranges::all_of(direction, [](double x) { return std::isfinite(x); });
}

}  // namespace

double minimise_free(FreeProblem& problem, Isa isa) {
  const auto n = static_cast<index_t>(problem.value.size());
  std::vector<double> direction;
  std::vector<double> moved(at(n));
  double total = 0;
  constexpr int kMostTimes = 6;
  for (int time = 0; time < kMostTimes; ++time) {
    std::vector<index_t> free;
    for (index_t i = 0; i < n; ++i) {
      if (problem.value[at(i)] > problem.lower[at(i)] && problem.value[at(i)] < problem.upper[at(i)]) free.push_back(i);
    }
    const auto n_free = static_cast<index_t>(free.size());
    if (n_free < 2 || n_free > kMostFree || !find_direction(problem, free, isa, direction)) break;
    // The longest step within the bounds, and the variable that limits it.
    double step = 1;
    index_t stopped_by = -1;
    for (index_t k = 0; k < n_free; ++k) {
      const index_t i = free[at(k)];
      const double d = direction[at(k)];
      const double room =
          d > 0 ? problem.upper[at(i)] - problem.value[at(i)] : problem.value[at(i)] - problem.lower[at(i)];
      if (step * std::abs(d) > room) {
        step = room / std::abs(d);
        stopped_by = i;
      }
    }
    double slope = 0;
    double curvature = 0;
    for (index_t i = 0; i < n; ++i) {
      double sum = 0;
      for (index_t k = 0; k < n_free; ++k) sum += problem.kernel[at(i * n + free[at(k)])] * direction[at(k)];
      moved[at(i)] = sum;
    }
    for (index_t k = 0; k < n_free; ++k) {
      slope += problem.gradient[at(free[at(k)])] * direction[at(k)];
      curvature += moved[at(free[at(k)])] * direction[at(k)];
    }
    const double decrease = -step * (slope + 0.5 * step * curvature);
    if (!(decrease > 0)) break;
    total += decrease;
    for (index_t k = 0; k < n_free; ++k) {
      const index_t i = free[at(k)];
      const double value = problem.value[at(i)] + step * direction[at(k)];
      problem.value[at(i)] = std::clamp(value, problem.lower[at(i)], problem.upper[at(i)]);
      if (i == stopped_by) problem.value[at(i)] = direction[at(k)] > 0 ? problem.upper[at(i)] : problem.lower[at(i)];
    }
    for (index_t i = 0; i < n; ++i) problem.gradient[at(i)] += step * moved[at(i)];
    if (stopped_by < 0) break;
  }
  return total;
}

}  // namespace fastpu::detail
