// The first step of a problem that starts from another one's solution.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fastpu/svm/smo_problem.hpp"

namespace fastpu::detail {

// Relative to a bound: what is nearer to it is kept from it by rounding only.
inline constexpr double kBoundRounding = 4 * std::numeric_limits<double>::epsilon();

// A step to `growth` times the start, and from there by a share of the way to the end.
struct FirstStep {
  double growth = 1;
  double share = 0;
  double change = 0;  // of the objective
};

// A multiple of variable i of the start, at the bound where only rounding keeps it from that.
inline double grown(const SmoProblem& problem, index_t i, double start, double growth) {
  const double value = growth * start;
  const double bound = value > 0 ? problem.upper[i] : problem.lower[i];
  return value != 0 && std::abs(bound - value) <= kBoundRounding * std::abs(bound) ? bound : value;
}

// Goes all the way to the end, if that is downhill, else to the minimum on the way. `product` is K times the way from
// the start itself, and `gradient` that of the start.
inline FirstStep first_step(const SmoProblem& problem, const double* start, const std::vector<double>& gradient,
                            const double* end, const std::vector<double>& product, double growth) {
  double slope_there = 0;  // on the way to the multiple
  double curvature_there = 0;
  double slope = 0;
  double curvature = 0;
  for (index_t i = 0; i < problem.n; ++i) {
    const double there = grown(problem, i, start[i], growth) - start[i];
    const double product_there = (growth - 1) * problem.start->product[i];
    const double rest = end[i] - start[i] - there;
    slope_there += there * gradient[at(i)];
    curvature_there += there * product_there;
    slope += rest * (gradient[at(i)] + product_there);
    curvature += rest * (product[at(i)] - product_there);
  }
  FirstStep step;
  step.growth = growth;
  if (slope < 0) step.share = -2 * slope < curvature ? -slope / curvature : 1;
  step.change = slope_there + 0.5 * curvature_there + step.share * (slope + 0.5 * step.share * curvature);
  return step;
}

}  // namespace fastpu::detail
