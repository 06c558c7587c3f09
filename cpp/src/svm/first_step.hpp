// The first step of a problem whose start is the solution of another one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "svm/cached_rows.hpp"
#include "svm/smo_state.hpp"

namespace fastpu::detail {

// A value whose distance from its bound is no larger than this share of the bound is kept from it by rounding only.
inline constexpr double kBoundRounding = 4 * std::numeric_limits<double>::epsilon();

// A step to `growth` times the start, and on by a share of the way from there to the end.
struct FirstStep {
  double growth = 1;
  double share = 0;
  double change = 0;  // of the objective
};

// `growth` times the start of variable i, or its bound where only rounding keeps the product from that.
inline double scaled_start(const SmoProblem& problem, index_t i, double start, double growth) {
  const double value = growth * start;
  const double bound = value > 0 ? problem.upper[i] : problem.lower[i];
  return value != 0 && std::abs(bound - value) <= kBoundRounding * std::abs(bound) ? bound : value;
}

// Goes all the way to the end, if that is downhill, else to the minimum on the way. `product` is K times the way from
// the start itself to the end, and `gradient` that of the start.
inline FirstStep first_step(const SmoProblem& problem, const double* start, const std::vector<double>& gradient,
                            const double* end, const std::vector<double>& product, double growth) {
  double slope_of_growth = 0;  // of the objective, on the way from the start to its multiple
  double curvature_of_growth = 0;
  double slope = 0;  // on the way from the multiple to the end
  double curvature = 0;
  for (index_t i = 0; i < problem.n; ++i) {
    const double grown_by = scaled_start(problem, i, start[i], growth) - start[i];
    const double product_of_growth = (growth - 1) * problem.start->product[i];
    const double rest = end[i] - start[i] - grown_by;
    slope_of_growth += grown_by * gradient[at(i)];
    curvature_of_growth += grown_by * product_of_growth;
    slope += rest * (gradient[at(i)] + product_of_growth);
    curvature += rest * (product[at(i)] - product_of_growth);
  }
  FirstStep step;
  step.growth = growth;
  if (slope < 0) step.share = -2 * slope < curvature ? -slope / curvature : 1;
  step.change = slope_of_growth + 0.5 * curvature_of_growth + step.share * (slope + 0.5 * step.share * curvature);
  return step;
}

// Goes towards the end of the start of a problem, from the start or from the largest multiple of it within the bounds,
// whichever is better, and returns the distance. Where all bounds have grown by one factor, that multiple has every
// variable at its bound that was at it before. All variables are active, and `order` is that of their positions.
template <class T>
double take_first_step(CachedRows<T>& source, const std::vector<index_t>& order, const SmoProblem& problem,
                       SmoState& state, const PrecisionWatch& watch, double* value, std::vector<double>& gradient) {
  const double* end = problem.start->end;
  // Where bounds grow by one factor, so do most variables, and K times the start is known. So kernel rows are needed
  // only for the variables whose way differs from the same multiple of their start.
  std::vector<double> factors;
  for (index_t i = 0; i < problem.n; ++i) {
    if (value[i] != 0) factors.push_back(end[i] / value[i] - 1);
  }
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2);
  std::nth_element(factors.begin(), middle, factors.end());
  const double factor = factors.empty() ? 0 : *middle;
  VariableChanges changes;
  double distance = 0;
  for (index_t i = 0; i < problem.n; ++i) {
    const double multiple = factor * value[i];
    const double rest = end[i] - value[i] - multiple;
    distance += std::abs(multiple);
    if (std::abs(rest) <= kBoundRounding * std::abs(end[i])) continue;
    changes.add(i, rest);
    distance += std::abs(rest);
  }
  std::vector<double> by_position(at(problem.n));
  source.update(changes, by_position.data());
  std::vector<double> product(at(problem.n));
  for (std::size_t p = 0; p < order.size(); ++p) {
    product[at(order[p])] = factor * problem.start->product[order[p]] + by_position[p];
  }
  double growth = kInfinity;
  double length = 0;
  double sums[2] = {};
  for (index_t i = 0; i < problem.n; ++i) {
    if (value[i] == 0) continue;
    growth = std::min(growth, (value[i] > 0 ? problem.upper[i] : problem.lower[i]) / value[i]);
    length += std::abs(value[i]);
    sums[state.group(i)] += value[i];
  }
  FirstStep step = first_step(problem, value, gradient, end, product, 1);
  // A multiple keeps the sum of a group only if that is 0; in a nu-SVM it is not.
  if (std::isfinite(growth) && std::max(std::abs(sums[0]), std::abs(sums[1])) <= kZeroSum * length) {
    const FirstStep other = first_step(problem, value, gradient, end, product, growth);
    if (other.change < step.change) step = other;
  }
  if (!(step.change < 0) || !std::isfinite(step.change)) return 0;
  const double multiple = (1 - step.share) * (step.growth - 1);
  for (index_t i = 0; i < problem.n; ++i) {
    gradient[at(i)] += multiple * problem.start->product[i] + step.share * product[at(i)];
    const double from = scaled_start(problem, i, value[i], step.growth);
    const double to = step.share == 1 ? end[i] : from + step.share * (end[i] - from);
    value[i] = std::clamp(to, problem.lower[i], problem.upper[i]);
  }
  // The step multiplies the rounding errors in K times the start, which was added to numbers as large as `linear`.
  const double start_errors = problem.start->moved + watch.largest_linear() / watch.largest_diagonal();
  return multiple * (length + start_errors) + step.share * (distance + std::abs(factor) * start_errors);
}

}  // namespace fastpu::detail
