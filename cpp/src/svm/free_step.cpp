#include "svm/free_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

// The step to the minimum of the quadratic in the free variables under conditions: the sums of groups stay, and so do
// variables that have met their bounds. A condition takes one solution of the factored system, so that meeting a bound
// costs much less than another factor.
class Face {
 public:
  Face(const FreeProblem& problem, const std::vector<index_t>& free, const Cholesky& factor)
      : factor_(factor), is_held_(free.size()), newton_(free.size()), column_of_(free.size()) {
    for (std::size_t k = 0; k < free.size(); ++k) {
      newton_[k] = -problem.gradient[at(free[k])];
      group_.push_back(problem.group[at(free[k])]);
    }
    factor_.solve(newton_.data());
    for (int g = 0; g < 2; ++g) {
      std::vector<double> members(free.size());
      std::ranges::transform(group_, members.begin(), [&](std::uint8_t group) { return group == g ? 1.0 : 0.0; });
      if (std::ranges::find(members, 1.0) == members.end()) continue;
      add_column(members);
      sums_.push_back(std::move(members));
    }
  }

  // Adds the condition that the variable in a place stays where it is.
  void hold(std::size_t place) {
    is_held_[place] = 1;
    held_.push_back(place);
    columns_.push_back(std::move(column_of_[place]));
  }
  // Prepares to hold the variables in some places: several at once take less time than one by one.
  void prepare(const std::vector<std::size_t>& places) {
    std::vector<double*> columns;
    for (const std::size_t place : places) {
      column_of_[place].assign(newton_.size(), 0.0);
      column_of_[place][place] = 1;
      columns.push_back(column_of_[place].data());
    }
    factor_.solve(columns);
  }
  bool is_prepared(std::size_t place) const { return !column_of_[place].empty(); }

  bool is_held(std::size_t place) const { return is_held_[place] != 0; }

  // Returns the next step; of the last one, the free variables have made the given share.
  const std::vector<double>& next_step(double share_made) {
    for (std::size_t k = 0; k < step_.size(); ++k) newton_[k] -= share_made * step_[k];
    const auto n = static_cast<index_t>(columns_.size());
    Cholesky system(n, factor_.isa(), "the conditions of free variables");
    std::vector<double> multipliers(at(n));
    for (index_t c = 0; c < n; ++c) {
      for (index_t d = c; d < n; ++d) system.matrix()[c * system.stride() + d] = in_condition(c, columns_[at(d)]);
      multipliers[at(c)] = in_condition(c, newton_);
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
  // What is 0 of a step that meets condition c: the sum of a group, or the step of a variable that is held.
  double in_condition(index_t c, const std::vector<double>& step) const {
    if (at(c) >= sums_.size()) return step[held_[at(c) - sums_.size()]];
    double sum = 0;
    for (std::size_t k = 0; k < step.size(); ++k) sum += sums_[at(c)][k] * step[k];
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
  void add_column(std::vector<double> condition) {
    factor_.solve(condition.data());
    columns_.push_back(std::move(condition));
  }

  const Cholesky& factor_;
  std::vector<std::uint8_t> group_;
  std::vector<char> is_held_;
  std::vector<double> newton_;  // the step without conditions
  std::vector<double> step_;
  std::vector<std::vector<double>> sums_;       // the conditions: first those on sums, by the members of each group,
  std::vector<std::size_t> held_;               // then those on the variables that are held
  std::vector<std::vector<double>> columns_;    // the inverse of the kernel matrix times each condition
  std::vector<std::vector<double>> column_of_;  // of places that are prepared and not held yet
};

// Moves the free variables from bound to bound until they are at the minimum of the face, or many of them have met
// bounds. Returns whether they are at the minimum.
bool descend(FreeProblem& problem, const std::vector<index_t>& free, const Cholesky& factor) {
  constexpr int kMostBounds = 60;
  constexpr std::size_t kPreparedAtOnce = 8;
  Face face(problem, free, factor);
  double share = 0;
  std::vector<std::pair<double, std::size_t>> next;  // the shares of a step at which variables meet bounds
  for (int n_held = 0; n_held <= kMostBounds; ++n_held) {
    const std::vector<double>& step = face.next_step(share);
    share = 1;
    std::size_t stop = free.size();
    next.clear();
    for (std::size_t k = 0; k < free.size(); ++k) {
      const index_t i = free[k];
      const double room =
          step[k] > 0 ? problem.upper[at(i)] - problem.value[at(i)] : problem.value[at(i)] - problem.lower[at(i)];
      if (face.is_held(k) || !(std::abs(step[k]) > room)) continue;
      if (!face.is_prepared(k)) next.emplace_back(room / std::abs(step[k]), k);
      if (!(share * std::abs(step[k]) > room)) continue;
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
    if (!face.is_prepared(stop)) {  // with those that are likely to be met after it
      const auto end = next.begin() + static_cast<std::ptrdiff_t>(std::min(kPreparedAtOnce, next.size()));
      std::ranges::partial_sort(next, end);
      std::vector<std::size_t> places;
      for (auto it = next.begin(); it != end; ++it) places.push_back(it->second);
      if (std::ranges::find(places, stop) == places.end()) places.back() = stop;
      face.prepare(places);
    }
    face.hold(stop);
  }
  return false;
}

}  // namespace

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
    const bool is_minimal = descend(problem, free, factor);
    double slope = 0;
    double curvature = 0;
    std::vector<double> moved(at(n));
    std::vector<const double*> rows;
    std::vector<double> differences;
    for (const index_t j : free) {
      rows.push_back(problem.kernel.data() + j * n);
      differences.push_back(problem.value[at(j)] - before[at(j)]);
    }
    svm_kernels(isa).f64.add_rows(moved.data(), rows.data(), differences.data(), static_cast<index_t>(rows.size()), n);
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
