#include "fastpu/risk/upu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/check_option.hpp"
#include "risk/convex_risk.hpp"

namespace fastpu {

namespace {

using detail::check_option;
using detail::ConvexRisk;
using detail::dot;

// Risks are of the order of 1: in double precision, a risk below this cannot be told from one without a minimum.
constexpr double kBottomless = -1e8;
constexpr int kMostHalvings = 30;  // of the length of a step
// The largest gradient at the end, as a share of the gradient at the start; columns are divided by their largest entry.
constexpr double kGradientLeft = 1e-7;
// If Newton's method has not ended after so many steps, phi may be smoothed.
constexpr index_t kPlainSteps = 20;
// The factor by which a certified gap may exceed tol because of rounding.
constexpr double kSlack = 10;

void check(const UpuProblem& problem, const UpuOptions& options) {
  // With a prior of 0 or 1 the best intercept may be infinite, and no step would be the last.
  check_option(options.prior > 0 && options.prior < 1, "prior", "in (0, 1)", options.prior);
  check_option(options.lam >= 0 && std::isfinite(options.lam), "lam", "finite and >= 0", options.lam);
  check_option(options.tol > 0, "tol", "> 0", options.tol);
  check_option(options.max_iter >= 1, "max_iter", ">= 1", static_cast<double>(options.max_iter));
  const index_t n = n_rows(problem.x);
  index_t n_positive = 0;
  for (index_t i = 0; i < n; ++i) {
    check_option(problem.labels[i] == 0 || problem.labels[i] == 1, "labels", "1 or 0", problem.labels[i]);
    n_positive += problem.labels[i];
    const double weight = problem.weights == nullptr ? 1.0 : problem.weights[i];
    check_option(weight > 0 && std::isfinite(weight), "weights", "> 0 and finite", weight);
  }
  if (n_positive == 0 || n_positive == n) {
    throw std::invalid_argument("there must be positive and unlabelled rows, got " + std::to_string(n_positive) +
                                " and " + std::to_string(n - n_positive));
  }
}

// Newton's method, and what it does where R hardly curves: careful steps, and a smoothed phi (upu.hpp).
class NewtonMethod {
 public:
  NewtonMethod(const UpuProblem& problem, const UpuOptions& options, const UpuCallback& callback, Team& team)
      : options_(options),
        callback_(callback),
        risk_(problem, options, team),
        point_(at(risk_.width()), 0.0),
        best_(point_),
        value_(risk_.derive(point_)),
        first_steepness_(risk_.steepness()) {
    result_.risks.push_back(value_);
  }

  UpuResult run() {
    for (index_t iter = 1; iter <= options_.max_iter && !ended_; ++iter) {
      const std::vector<double> step = find_step(iter);
      result_.decrement = -dot(risk_.gradient(), step);
      refuse_overflow(iter - 1);
      const double goal = options_.tol * std::max(std::fabs(value_), options_.tol);
      if (is_smoothed() && ends_or_narrows_phi(goal)) continue;
      const bool is_small = result_.decrement <= goal;
      if (is_small && was_small_ && ends_or_turns_careful()) continue;
      was_small_ = is_small;  // another step follows, which about squares the error
      if (move_along(step, is_small)) {
        record();
      } else if (is_careful_) {
        ended_ = UpuStatus::precision;
      } else {
        turn_careful();
      }
    }
    if (phi_ != Phi::itself) keep_best();
    result_.status = ended_.value_or(UpuStatus::max_iter);
    risk_.write(point_, result_);
    return std::move(result_);
  }

 private:
  enum class Phi { itself, widened, narrowing };

  // Far from the minimum, conjugate gradients need not be accurate.
  std::vector<double> find_step(index_t iter) {
    const double steepness_left = risk_.steepness() / std::max(first_steepness_, 1e-300);
    std::vector<double> step = risk_.newton(std::min(0.1, std::max(1e-10, steepness_left)));
    const bool may_be_smoothed = options_.loss == ConvexPuLoss::logistic && options_.lam > 0;
    if (may_be_smoothed && phi_ != Phi::narrowing && iter > kPlainSteps) widen_phi(step);
    return step;
  }

  void refuse_overflow(index_t n_steps) const {
    if (std::isfinite(value_) && std::isfinite(result_.decrement)) return;
    throw std::invalid_argument("squares of X or the risk overflow: the risk after " + std::to_string(n_steps) +
                                " steps is " + detail::to_text(value_) + "; scale X, or choose a smaller lam");
  }

  // ---- A smoothed phi

  bool is_smoothed() const { return risk_.width_of_phi() > 1; }

  // Scores may be so large that Newton's method sees one linear piece of R at a time. A phi with a wider bend leads it
  // to the minimum.
  void widen_phi(std::vector<double>& step) {
    constexpr double kFar = 10;
    constexpr double kWider = 16;
    while (risk_.reach(step) > kFar * risk_.width_of_phi()) {
      smooth_phi(Phi::widened, kWider * risk_.width_of_phi());
      step = risk_.newton(0.1);
    }
  }

  // Ends the search if the gap, which allows for the error of smoothing, is small enough; else narrows phi if the
  // smoothed R is nearly at its minimum. Returns whether it did either.
  bool ends_or_narrows_phi(double goal) {
    constexpr double kEnoughOfWidth = 0.01;
    constexpr double kNarrower = 10;
    if (risk_.gap() <= goal) {
      risk_.settle_intercept(point_);
      value_ = risk_.derive(point_);
      if (risk_.gap() <= kSlack * goal) ended_ = UpuStatus::tol;
      return ended_.has_value();
    }
    const double width = risk_.width_of_phi();
    if (width <= goal || result_.decrement > kEnoughOfWidth * width) return false;
    smooth_phi(Phi::narrowing, std::max({1.0, 0.5 * goal, width / kNarrower}));
    return true;
  }

  void smooth_phi(Phi phi, double width) {
    phi_ = phi;
    risk_.set_width_of_phi(width);
    was_small_ = false;
    is_careful_ = false;
    last_careful_value_ = kInfinity;
    last_steepness_ = kInfinity;
    value_ = risk_.derive(point_);
  }

  // ---- Careful steps

  // Called once the decrement has been small twice. Ends the search unless the gradient is still large: Newton's
  // decrement may be small while the gradient is not, since R hardly curves there. A careful step then helps, unless
  // the last one did not. Returns whether the search has ended or a careful step is next.
  bool ends_or_turns_careful() {
    const double steepness = risk_.steepness();
    if (steepness <= kGradientLeft * first_steepness_ && !is_smoothed()) {
      ended_ = UpuStatus::tol;
      return true;
    }
    if (steepness < 0.5 * last_steepness_) {
      last_steepness_ = steepness;
      return false;
    }
    if (is_careful_ || value_ >= last_careful_value_) {
      ended_ = options_.lam == 0 && risk_.is_singular() ? UpuStatus::unbounded : UpuStatus::precision;
      return true;
    }
    last_careful_value_ = value_;
    was_small_ = false;
    turn_careful();
    return true;
  }

  void turn_careful() {
    is_careful_ = true;
    risk_.settle_intercept(point_);
    value_ = risk_.derive(point_, is_careful_);
  }

  // ---- Steps

  // Moves along the step, or the longest part of it that decreases R enough; returns false if there is none.
  bool move_along(const std::vector<double>& step, bool is_small) {
    constexpr double kEnough = 1e-4;
    // Rounding may hide the decrease of a small step; but R must not increase, as it may where curvature changes
    // abruptly.
    constexpr double kHidden = 1e-9;
    const double level = value_ + kHidden * std::max(std::fabs(value_), result_.risks.front());
    std::vector<double> next(point_.size());
    double length = 1;
    for (int halvings = 0; halvings <= kMostHalvings; ++halvings, length *= 0.5) {
      for (std::size_t f = 0; f < next.size(); ++f) next[f] = point_[f] + length * step[f];
      const double value = risk_.value(next);
      if ((is_small && value <= level) || value <= value_ - kEnough * length * result_.decrement) {
        point_.swap(next);
        value_ = value;
        return true;
      }
    }
    return false;
  }

  // Records the step just made, and prepares the next one unless the search ends here.
  void record() {
    is_careful_ = false;
    const double risk = is_smoothed() ? risk_.plain_value(point_) : value_;
    if (risk <= result_.risks.back()) best_ = point_;
    result_.risks.push_back(std::min(risk, result_.risks.back()));
    // If R may have no minimum, such a risk shows that it has none.
    const double bottom = options_.loss == ConvexPuLoss::logistic ? 0.0 : kBottomless;
    if (options_.lam == 0 && risk <= bottom) {
      ended_ = UpuStatus::unbounded;
    } else if (callback_ && callback_({static_cast<index_t>(result_.risks.size()) - 1, risk})) {
      ended_ = UpuStatus::callback;
    } else {
      value_ = risk_.derive(point_);
    }
  }

  // Returns to the point of the least R, which steps that decrease the smoothed R may have left.
  void keep_best() {
    const double last = risk_.plain_value(point_);
    if (last <= result_.risks.back()) {
      result_.risks.back() = last;
    } else {
      point_ = std::move(best_);
    }
  }

  const UpuOptions& options_;
  const UpuCallback& callback_;
  ConvexRisk risk_;
  std::vector<double> point_;
  std::vector<double> best_;  // the point of the least R
  double value_;              // R at the point, with phi smoothed if it is
  double first_steepness_;
  UpuResult result_;
  std::optional<UpuStatus> ended_;  // why the search has ended, once it has
  Phi phi_ = Phi::itself;
  bool was_small_ = false;  // whether the decrement was, before the last step
  bool is_careful_ = false;
  double last_careful_value_ = kInfinity;  // the value at which careful steps were last used
  double last_steepness_ = kInfinity;      // the steepness when it was last checked
};

}  // namespace

UpuResult fit_upu(const UpuProblem& problem, const UpuOptions& options, const UpuCallback& callback, Team& team) {
  check(problem, options);
  return NewtonMethod(problem, options, callback, team).run();
}

}  // namespace fastpu
