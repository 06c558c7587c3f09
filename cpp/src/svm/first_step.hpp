// The first step of a problem whose start is the solution of another one.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fastpu/svm/smo_problem.hpp"

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

}  // namespace fastpu::detail
