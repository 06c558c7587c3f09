#include "svm/free_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "kernels/svm_kernels.hpp"
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

// The step to the minimum of the quadratic in the free variables, on conditions: that the sums of groups stay, and that
// variables that met their bounds do. Each condition takes a solution of the factored system, so that meeting a bound
// costs much less than another factor.
class Face {
 public:
  Face(const FreeProblem& problem, const std::vector<index_t>& free, const Cholesky& factor, Isa isa)
      : factor_(factor), isa_(isa), is_held_(free.size()), newton_(free.size()) {
    for (std::size_t k = 0; k < free.size(); ++k) {
      newton_[k] = -problem.gradient[at(free[k])];
      group_.push_back(problem.group[at(free[k])]);
    }
    factor_.solve(newton_.data());
    for (int g = 0; g < 2; ++g) {
      std::vector<double> members(free.size());
      std::ranges::transform(group_, members.begin(), [&](std::uint8_t group) { return group == g ? 1.0 : 0.0; });
      if (std::ranges::find(members, 1.0) != members.end()) add(std::move(members));
    }
  }

  // Keeps the variable in a place where it is.
  void hold(std::size_t place) {
    is_held_[place] = 1;
    std::vector<double> unit(newton_.size());
    unit[place] = 1;
    add(std::move(unit));
  }

  bool is_held(std::size_t place) const { return is_held_[place] != 0; }

  // Returns the step, from where the free variables are after `made` of the last one.
  const std::vector<double>& next(double made) {
    for (std::size_t k = 0; k < step_.size(); ++k) newton_[k] -= made * step_[k];
    const auto n = static_cast<index_t>(conditions_.size());
    Cholesky system(n, isa_, "the conditions of free variables");
    std::vector<double> multipliers(at(n));
    for (index_t c = 0; c < n; ++c) {
      for (index_t d = c; d < n; ++d)
        system.matrix()[c * system.stride() + d] = dot(conditions_[at(c)], columns_[at(d)]);
      multipliers[at(c)] = dot(conditions_[at(c)], newton_);
    }
    system.factor();
    system.solve(multipliers.data());
    step_ = newton_;
    for (index_t c = 0; c < n; ++c) {
      for (std::size_t k = 0; k < step_.size(); ++k) step_[k] -= multipliers[at(c)] * columns_[at(c)][k];
    }
    remove_rounding();
    return step_;
  }

 private:
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
  }
  // Makes the step meet its conditions, but for the rounding of a sum.
  void remove_rounding() {
    double sum[2] = {};
    double count[2] = {};
    for (std::size_t k = 0; k < step_.size(); ++k) {
      if (is_held(k)) step_[k] = 0;
      sum[group_[k]] += step_[k];
      count[group_[k]] += is_held(k) ? 0 : 1;
    }
    for (std::size_t k = 0; k < step_.size(); ++k) {
      if (!is_held(k)) step_[k] -= sum[group_[k]] / count[group_[k]];
    }
  }
  void add(std::vector<double> condition) {
    columns_.push_back(condition);
    factor_.solve(columns_.back().data());
    conditions_.push_back(std::move(condition));
  }

  const Cholesky& factor_;
  Isa isa_;
  std::vector<std::uint8_t> group_;
  std::vector<char> is_held_;
  std::vector<double> newton_;  // the step without conditions
  std::vector<double> step_;
  std::vector<std::vector<double>> conditions_;
  std::vector<std::vector<double>> columns_;  // the inverse of the kernel matrix times each of them
};

// Moves the free variables from bound to bound until they are at the minimum of the face, which is returned, or many of
// them have met bounds.
bool descend(FreeProblem& problem, const std::vector<index_t>& free, const Cholesky& factor, Isa isa) {
  constexpr int kMostBounds = 60;
  Face face(problem, free, factor, isa);
  double share = 0;
  for (int n_held = 0; n_held <= kMostBounds; ++n_held) {
    const std::vector<double>& step = face.next(share);
    share = 1;
    std::size_t stop = free.size();
    for (std::size_t k = 0; k < free.size(); ++k) {
      const index_t i = free[k];
      const double room =
          step[k] > 0 ? problem.upper[at(i)] - problem.value[at(i)] : problem.value[at(i)] - problem.lower[at(i)];
      if (face.is_held(k) || !(share * std::abs(step[k]) > room)) continue;
      share = room / std::abs(step[k]);
      stop = k;
    }
    for (std::size_t k = 0; k < free.size(); ++k) {
      const index_t i = free[k];
      if (face.is_held(k)) continue;
      const double value = problem.value[at(i)] + share * step[k];
      problem.value[at(i)] = std::clamp(value, problem.lower[at(i)], problem.upper[at(i)]);
      if (k == stop) problem.value[at(i)] = step[k] > 0 ? problem.upper[at(i)] : problem.lower[at(i)];
    }
    if (stop == free.size()) return true;
    face.hold(stop);
  }
  return false;
}

// Returns the step of the free variables to the minimum that changes the sum of each group by so much.
std::vector<double> step_to_minimum(const FreeProblem& problem, const std::vector<index_t>& free,
                                    const std::vector<double>& gradient, const double* change, const Cholesky& factor) {
  std::vector<double> step;
  std::vector<double> members[2];  // the groups, and then the inverse of the kernel matrix times them
  for (const index_t i : free) {
    step.push_back(-gradient[at(i)]);
    for (const int g : {0, 1}) members[g].push_back(problem.group[at(i)] == g ? 1 : 0);
  }
  const auto sum = [&](int group, const std::vector<double>& values) {
    double total = 0;
    for (std::size_t k = 0; k < free.size(); ++k) total += problem.group[at(free[k])] == group ? values[k] : 0;
    return total;
  };
  factor.solve(step.data());
  for (std::vector<double>& of_group : members) factor.solve(of_group.data());
  const double a = sum(0, members[0]);
  const double b = sum(1, members[0]);
  const double c = sum(1, members[1]);
  const double first = change[0] - sum(0, step);
  const double second = change[1] - sum(1, step);
  const double determinant = a * c - b * b;
  const double of_first = determinant > 0 ? (first * c - second * b) / determinant : a > 0 ? first / a : 0;
  const double of_second = determinant > 0 ? (second * a - first * b) / determinant : c > 0 ? second / c : 0;
  for (std::size_t k = 0; k < step.size(); ++k) step[k] += of_first * members[0][k] + of_second * members[1][k];
  return step;
}

// Adds K times (to - value) of the given variables to a gradient.
void add_products(const FreeProblem& problem, const std::vector<index_t>& variables, const std::vector<double>& to,
                  Isa isa, std::vector<double>& gradient) {
  const auto n = static_cast<index_t>(problem.value.size());
  std::vector<const double*> rows;
  std::vector<double> differences;
  for (const index_t i : variables) {
    rows.push_back(problem.kernel.data() + i * n);
    differences.push_back(to[at(i)] - problem.value[at(i)]);
  }
  svm_kernels(isa).f64.add_rows(gradient.data(), rows.data(), differences.data(), static_cast<index_t>(rows.size()), n);
}

// Gives each group its sum again, in proportion to the room of its variables. Returns whether they have enough.
bool is_balanced(const FreeProblem& problem, std::vector<double>& target) {
  for (const int g : {0, 1}) {
    double surplus = 0;
    for (std::size_t i = 0; i < target.size(); ++i) {
      surplus += problem.group[i] == g ? target[i] - problem.value[i] : 0;
    }
    const std::vector<double>& bound = surplus > 0 ? problem.lower : problem.upper;
    double room = 0;
    for (std::size_t i = 0; i < target.size(); ++i) room += problem.group[i] == g ? target[i] - bound[i] : 0;
    if (std::abs(surplus) > std::abs(room)) return false;
    if (room == 0) continue;
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (problem.group[i] == g) target[i] -= surplus / room * (target[i] - bound[i]);
    }
  }
  return true;
}

}  // namespace

double leap_free(FreeProblem& problem, Isa isa) {
  constexpr int kMostTimes = 3;
  constexpr std::size_t kHopeless = 5;  // no more than one in so many may leave its box
  const std::size_t n = problem.value.size();
  std::vector<double> target = problem.value;
  std::vector<double> gradient = problem.gradient;
  double change[2] = {};  // what those at bounds have taken from the sums of the groups
  std::vector<index_t> all(n);
  std::iota(all.begin(), all.end(), index_t{0});
  std::vector<index_t> free = all;
  for (int time = 0; time < kMostTimes && free.size() > 1; ++time) {
    Cholesky factor(static_cast<index_t>(free.size()), isa, "the kernel matrix of the free variables");
    if (!make_factor(problem, free, factor)) return 0;
    const std::vector<double> step = step_to_minimum(problem, free, gradient, change, factor);
    std::vector<index_t> inside;
    std::vector<index_t> outside;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const std::size_t i = at(free[k]);
      const double value = problem.value[i] + step[k];
      target[i] = std::clamp(value, problem.lower[i], problem.upper[i]);
      (target[i] == value ? inside : outside).push_back(free[k]);
    }
    if (kHopeless * outside.size() > free.size()) return 0;
    if (outside.empty()) break;
    add_products(problem, outside, target, isa, gradient);
    for (const index_t i : outside) change[problem.group[at(i)]] += problem.value[at(i)] - target[at(i)];
    free = std::move(inside);
  }
  if (!is_balanced(problem, target)) return 0;
  std::vector<double> product(n);
  add_products(problem, all, target, isa, product);
  double slope = 0;
  double curvature = 0;
  for (std::size_t i = 0; i < n; ++i) {
    slope += problem.gradient[i] * (target[i] - problem.value[i]);
    curvature += product[i] * (target[i] - problem.value[i]);
  }
  const double share = -2 * slope < curvature ? -slope / curvature : 1;
  const double decrease = -share * (slope + 0.5 * share * curvature);
  if (!(decrease > 0)) return 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = share == 1 ? target[i] : problem.value[i] + share * (target[i] - problem.value[i]);
    problem.value[i] = std::clamp(value, problem.lower[i], problem.upper[i]);
  }
  return decrease;
}

double minimise_free(FreeProblem& problem, Isa isa) {
  const auto n = static_cast<index_t>(problem.value.size());
  double total = 0;
  constexpr int kMostTimes = 3;
  for (int time = 0; time < kMostTimes; ++time) {
    std::vector<index_t> free;
    for (index_t i = 0; i < n; ++i) {
      if (problem.value[at(i)] > problem.lower[at(i)] && problem.value[at(i)] < problem.upper[at(i)]) free.push_back(i);
    }
    if (free.size() < 2) break;
    Cholesky factor(static_cast<index_t>(free.size()), isa, "the kernel matrix of the free variables");
    if (!make_factor(problem, free, factor)) break;
    const std::vector<double> before = problem.value;
    const bool is_minimal = descend(problem, free, factor, isa);
    double slope = 0;
    double curvature = 0;
    std::vector<double> moved(at(n));
    for (const index_t j : free) {
      const double difference = problem.value[at(j)] - before[at(j)];
      const double* row = problem.kernel.data() + j * n;
      for (index_t i = 0; i < n; ++i) moved[at(i)] += difference * row[i];
    }
    for (const index_t i : free) {
      slope += problem.gradient[at(i)] * (problem.value[at(i)] - before[at(i)]);
      curvature += moved[at(i)] * (problem.value[at(i)] - before[at(i)]);
    }
    const double decrease = -(slope + 0.5 * curvature);
    if (!(decrease > 0)) {
      problem.value = before;
      break;
    }
    total += decrease;
    for (index_t i = 0; i < n; ++i) problem.gradient[at(i)] += moved[at(i)];
    if (is_minimal) break;
  }
  return total;
}

}  // namespace fastpu::detail
