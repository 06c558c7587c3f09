#include "fastpu/risk/upu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "risk/convex_risk.hpp"

namespace fastpu {

namespace {

using detail::ConvexRisk;
using detail::dot;

// Risks are of the order of 1: in double precision, a risk below this cannot be told from one without a minimum.
constexpr double kBottomless = -1e8;
constexpr int kMostHalvings = 30;
// The largest gradient at the end, as a share of the gradient at the start; columns are divided by their largest entry.
constexpr double kGradientLeft = 1e-7;
// After so many Newton steps, the risk is taken to be nearly piecewise linear, and is smoothed.
constexpr index_t kPlainSteps = 20;
// The factor by which a certified gap may exceed tol because of rounding.
constexpr double kSlack = 10;

void check(const UpuProblem& problem, const UpuOptions& options) {
  const auto refuse = [](const char* name, const char* expected, double value) {
    throw std::invalid_argument(std::string(name) + " must be " + expected + ", got " + std::to_string(value));
  };
  const auto is_finite_and_not_negative = [](double value) { return value >= 0 && std::isfinite(value); };
  // With a prior of 0 or 1 the best intercept may be infinite, and no step would be the last.
  const bool is_share = problem.prior > 0 && problem.prior < 1;
  if (!is_share) refuse("prior", "in (0, 1)", problem.prior);
  if (!is_finite_and_not_negative(problem.lam)) refuse("lam", "finite and >= 0", problem.lam);
  if (!(options.tol > 0)) refuse("tol", "> 0", options.tol);
  if (options.max_iter < 1) refuse("max_iter", ">= 1", static_cast<double>(options.max_iter));
  const index_t n = detail::n_rows(problem.x);
  index_t n_positive = 0;
  for (index_t i = 0; i < n; ++i) {
    if (problem.labels[i] != 0 && problem.labels[i] != 1) refuse("labels", "1 or 0", problem.labels[i]);
    n_positive += problem.labels[i];
    const double weight = problem.weights == nullptr ? 1.0 : problem.weights[i];
    if (weight == 0 || !is_finite_and_not_negative(weight)) refuse("weights", "> 0 and finite", weight);
  }
  if (n_positive == 0 || n_positive == n) {
    throw std::invalid_argument("there must be positive and unlabelled rows, got " + std::to_string(n_positive) +
                                " and " + std::to_string(n - n_positive));
  }
}

}  // namespace

UpuResult fit_upu(const UpuProblem& problem, const UpuOptions& options, const UpuCallback& callback, Isa isa,
                  Team& team) {
  check(problem, options);
  ConvexRisk risk(problem, options.loss, isa, team);
  const bool may_be_unbounded = problem.lam == 0;
  const double least = options.loss == ConvexPuLoss::logistic ? 0.0 : kBottomless;
  UpuResult result;
  std::vector<double> at(static_cast<std::size_t>(risk.width()), 0.0);
  double value = risk.derive(at);
  const double scale = risk.steepness();
  result.risks.push_back(value);
  result.status = UpuStatus::max_iter;
  const bool may_be_smoothed = options.loss == ConvexPuLoss::logistic && problem.lam > 0;
  bool was_smoothed = false;
  bool is_narrowing = false;
  std::vector<double> best(at);  // the best point by R itself, which a step that decreases the smoothed R may increase
  bool is_last = false;
  bool is_careful = false;
  double careful_from = std::numeric_limits<double>::infinity();  // the risk at which careful steps were last used
  double left_before = std::numeric_limits<double>::infinity();   // the gradient when it was last checked
  const auto smooth = [&](double width) {
    was_smoothed = true;
    risk.set_width_of_phi(width);
    is_last = false;
    is_careful = false;
    careful_from = left_before = std::numeric_limits<double>::infinity();
    value = risk.derive(at);
  };
  for (index_t iter = 1; iter <= options.max_iter; ++iter) {
    // Far from the minimum, conjugate gradients need not be accurate.
    std::vector<double> step = risk.newton(std::min(0.1, std::max(1e-10, risk.steepness() / std::max(scale, 1e-300))));
    if (may_be_smoothed && !is_narrowing && iter > kPlainSteps) {
      // Scores are so large that Newton's method sees one linear piece of R at a time, as happens if the rows can
      // be separated and lam is tiny beside their squares. A phi with a wider bend leads it to the minimum.
      constexpr double kFar = 10;
      constexpr double kWider = 16;
      while (risk.reach(step) > kFar * risk.width_of_phi()) {
        smooth(kWider * risk.width_of_phi());
        step = risk.newton(0.1);
      }
    }
    result.decrement = -dot(risk.gradient(), step);
    if (!std::isfinite(value) || !std::isfinite(result.decrement)) {
      throw std::invalid_argument(
          "X and lam must be such that its squares and the risk do not overflow, the risk after " +
          std::to_string(iter - 1) + " steps is " + std::to_string(value));
    }
    const double goal = options.tol * std::max(std::fabs(value), options.tol);
    const double width = risk.width_of_phi();
    if (width > 1) {
      constexpr double kEnoughOfWidth = 0.01;
      constexpr double kNarrower = 10;
      if (risk.gap() <= goal) {  // the gap allows for the error of smoothing, too
        risk.settle_intercept(at);
        value = risk.derive(at);
        if (risk.gap() <= kSlack * goal) {
          result.status = UpuStatus::tol;
          break;
        }
      } else if (width > goal && result.decrement <= kEnoughOfWidth * width) {
        is_narrowing = true;
        smooth(std::max({1.0, 0.5 * goal, width / kNarrower}));
        continue;
      }
    }
    const bool is_small = result.decrement <= goal;
    if (is_small && is_last) {
      const double left = risk.steepness();
      if (left <= kGradientLeft * scale && width <= 1) {
        result.status = UpuStatus::tol;
        break;
      }
      // Newton's decrement may be small while the gradient is not, since R hardly curves there.
      if (!(left < 0.5 * left_before)) {
        if (is_careful || value >= careful_from) {
          result.status = may_be_unbounded && risk.is_singular() ? UpuStatus::unbounded : UpuStatus::precision;
          break;
        }
        is_careful = true;
        careful_from = value;
        is_last = false;
        risk.settle_intercept(at);
        value = risk.derive(at, is_careful);
        continue;
      }
      left_before = left;
    }
    is_last = is_small;  // one more step, which about squares the error
    std::vector<double> next(at.size());
    double length = 1;
    double found = 0;
    int n_halvings = 0;
    while (n_halvings <= kMostHalvings) {
      for (std::size_t f = 0; f < at.size(); ++f) next[f] = at[f] + length * step[f];
      found = risk.value(next);
      constexpr double kEnough = 1e-4;
      // Rounding may hide the decrease of a small step; but R must not increase, as it may where curvature
      // changes abruptly.
      constexpr double kHidden = 1e-9;
      const bool is_level = found <= value + kHidden * std::max(std::fabs(value), result.risks.front());
      if ((is_small && is_level) || found <= value - kEnough * length * result.decrement) break;
      ++n_halvings;
      length *= 0.5;
    }
    if (n_halvings > kMostHalvings) {
      if (is_careful) {
        result.status = UpuStatus::precision;
        break;
      }
      is_careful = true;
      risk.settle_intercept(at);
      value = risk.derive(at, is_careful);
      continue;
    }
    is_careful = false;
    at.swap(next);
    if (width > 1) found = risk.plain_value(at);
    if (found <= result.risks.back()) best = at;
    result.risks.push_back(std::min(found, result.risks.back()));
    if (may_be_unbounded && found <= least) {
      result.status = UpuStatus::unbounded;
      break;
    }
    if (callback && callback({static_cast<index_t>(result.risks.size()) - 1, found, result.decrement})) {
      result.status = UpuStatus::callback;
      break;
    }
    value = risk.derive(at);
  }
  if (was_smoothed) {
    const double last = risk.plain_value(at);
    if (last <= result.risks.back()) {
      result.risks.back() = last;
    } else {
      at = std::move(best);
    }
  }
  risk.write(at, result);
  return result;
}

}  // namespace fastpu
