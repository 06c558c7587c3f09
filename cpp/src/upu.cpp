#include "fastpu/upu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "detail/cholesky.hpp"
#include "detail/row_pass.hpp"
#include "fastpu/aligned_buffer.hpp"

namespace fastpu {

namespace {

using detail::Cholesky;
using detail::RowBlock;
using detail::RowPass;

// Risks are of the order of 1: below, there is no minimum that double precision could tell from none.
constexpr double kBottomless = -1e8;
constexpr int kMostHalvings = 30;
// What may be left of a gradient, as a share of that at the start.
constexpr double kRounding = 1e-7;

struct Curve {
  double value;
  double slope;
  double curvature;
  double bound;  // of a parabola above phi that touches it here (Jaakkola and Jordan 2000)
};

// phi and its derivatives.
Curve phi(ConvexPuLoss loss, double f) {
  if (loss == ConvexPuLoss::squared) return {0.25 * (1 + f) * (1 + f), 0.5 * (1 + f), 0.5, 0.5};
  const double small = std::exp(-std::fabs(f));
  const double share = f >= 0 ? 1 / (1 + small) : small / (1 + small);
  const double size = std::fabs(f);
  const double bound = size < 1e-4 ? 0.25 : (1 - small) / ((1 + small) * 2 * size);  // tanh(f / 2) / (2 f)
  return {std::log1p(small) + std::max(f, 0.0), share, small / ((1 + small) * (1 + small)), bound};
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

void check(const UpuProblem& problem, const UpuOptions& options) {
  const auto refuse = [](const char* name, const char* expected, double value) {
    throw std::invalid_argument(std::string(name) + " must be " + expected + ", got " + std::to_string(value));
  };
  const auto is_finite_and_not_negative = [](double value) { return value >= 0 && std::isfinite(value); };
  // At 0 and 1 the best intercept may be infinite, and no step ends.
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

// R with its derivatives at a point; points have a value for each feature, the intercept's, and zeros.
class ConvexRisk {
 public:
  ConvexRisk(const UpuProblem& problem, ConvexPuLoss loss, Isa isa, Team& team)
      : problem_(problem),
        loss_(loss),
        centre_(centre_of(problem, isa, team)),
        pass_(problem.x, nullptr, detail::n_rows(problem.x), centre_.data(), isa, team),
        group_risks_(static_cast<std::size_t>(pass_.n_groups())),
        group_slopes_(group_risks_.size()) {
    scores_ = AlignedBuffer<double>(pass_.n(), "scores");
    double mass[2] = {0, 0};
    for (index_t i = 0; i < pass_.n(); ++i) mass[problem.labels[i]] += weight(i);
    per_unlabeled_ = 1 / mass[0];
    per_positive_ = problem.prior / mass[1];
    if (pass_.has_gram()) {
      cholesky_ = std::make_unique<Cholesky>(pass_.n_features() + 1, isa, "Newton's system");
      gram_ = AlignedBuffer<double>(pass_.width() * pass_.width(), "a Gram matrix");
    } else {
      curvature_ = AlignedBuffer<double>(pass_.n(), "curvatures");
    }
  }

  index_t width() const { return pass_.width(); }
  const std::vector<double>& gradient() const { return gradient_; }
  bool is_singular() const { return n_left_out_ > 0; }

  double value(const std::vector<double>& at) {
    std::fill(group_risks_.begin(), group_risks_.end(), 0.0);
    pass_.run(at.data(), 0, nullptr, [&](const RowBlock& block) { visit<false>(block); });
    return total(at);
  }

  // The value, and what gradient() and newton() need. Newton's step is far too long where unlabelled rows hardly curve
  // R; a careful one goes to the minimum of parabolas above it, which lowers R for sure.
  double derive(const std::vector<double>& at, bool is_careful = false) {
    is_careful_ = is_careful;
    gradient_.assign(static_cast<std::size_t>(width()), 0.0);
    double* const sums[] = {gradient_.data()};
    std::fill(group_risks_.begin(), group_risks_.end(), 0.0);
    std::fill(group_slopes_.begin(), group_slopes_.end(), 0.0);
    if (pass_.has_gram()) {
      pass_.gram(at.data(), gram_.data(), 1, sums, [&](const RowBlock& block) { visit<true>(block); });
    } else {
      pass_.run(at.data(), 1, sums, [&](const RowBlock& block) { visit<true>(block); });
    }
    for (index_t f = 0; f < pass_.n_features(); ++f) gradient_[index(f)] += problem_.lam * at[index(f)];
    for (index_t f = pass_.n_features() + 1; f < width(); ++f) gradient_[index(f)] = 0;
    return total(at);
  }

  // Moves the intercept to where R is least for the other coefficients, as they were when derive() was called.
  void settle_intercept(std::vector<double>& at) const {
    const auto slope = [&](double shift) {
      pass_.team().poll();
      double sum = -problem_.prior;
      for (index_t i = 0; i < pass_.n(); ++i) {
        if (problem_.labels[i] == 0) sum += per_unlabeled_ * weight(i) * phi(loss_, scores_[i] + shift).slope;
      }
      return sum;
    };
    // The slope rises: first an interval in which it is 0, then its halves.
    double low = -1;
    double high = 1;
    constexpr int kMostHalves = 200;
    for (int k = 0; k < kMostHalves && slope(low) > 0; ++k) low *= 2;
    for (int k = 0; k < kMostHalves && slope(high) < 0; ++k) high *= 2;
    for (int k = 0; k < kMostHalves; ++k) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (slope(middle) < 0 ? low : high) = middle;
    }
    at[index(pass_.n_features())] += 0.5 * (low + high);
  }

  // -H^-1 g
  std::vector<double> newton(double precision) {
    return pass_.has_gram() ? by_cholesky() : by_conjugate_gradients(precision);
  }

  // As coefficients and intercept of rows that are not centred.
  void write(const std::vector<double>& at, UpuResult& to) const {
    to.coef.assign(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(pass_.n_features()));
    to.intercept = at[index(pass_.n_features())];
    for (index_t f = 0; f < pass_.n_features(); ++f) to.intercept -= centre_[f] * at[index(f)];
  }

 private:
  static std::size_t index(index_t k) { return static_cast<std::size_t>(k); }

  // The mean of each column. It moves the intercept alone, but makes for better numbers. What a sum of many rows loses
  // to rounding is the mean of what is left of them: a constant column has to become 0.
  static AlignedBuffer<double> centre_of(const UpuProblem& problem, Isa isa, Team& team) {
    const index_t n_features = detail::n_columns(problem.x);
    auto mean = AlignedBuffer<double>::zeros(n_features + detail::kPanelWidth, "means of columns");
    for (int time = 0; time < 2; ++time) {
      const AlignedBuffer<double> rest = mean_from(mean.data(), problem, isa, team);
      for (index_t f = 0; f < n_features; ++f) mean[f] += rest[f];
    }
    for (index_t f = 0; f < n_features; ++f) {
      if (!std::isfinite(mean[f])) refuse_overflow("its rows", f);
    }
    return mean;
  }

  // The mean of each column less `origin`.
  static AlignedBuffer<double> mean_from(const double* origin, const UpuProblem& problem, Isa isa, Team& team) {
    const index_t n = detail::n_rows(problem.x);
    RowPass pass(problem.x, nullptr, n, origin, isa, team);
    auto mean = AlignedBuffer<double>::zeros(pass.width(), "means of columns");
    double* const sums[] = {mean.data()};
    pass.run(nullptr, 1, sums, [&](const RowBlock& block) {
      for (index_t i = 0; i < block.n; ++i) block.weights[0][i] = 1 / static_cast<double>(n);
    });
    return mean;
  }

  double weight(index_t i) const { return problem_.weights == nullptr ? 1.0 : problem_.weights[i]; }

  template <bool kDerive>
  void visit(const RowBlock& block) {
    double sum = 0;
    for (index_t k = 0; k < block.n; ++k) {
      const index_t i = block.first + k;
      const double f = block.products[k];
      double slope = 0;
      double curvature = 0;
      if (problem_.labels[i] > 0) {
        slope = -per_positive_ * weight(i);
        sum += slope * f;
      } else {
        const Curve curve = phi(loss_, f);
        const double share = per_unlabeled_ * weight(i);
        sum += share * curve.value;
        slope = share * curve.slope;
        curvature = share * (is_careful_ ? curve.bound : curve.curvature);
      }
      if constexpr (kDerive) {
        scores_[i] = f;
        group_slopes_[index(block.group)] += std::fabs(slope);
        block.weights[0][k] = slope;
        if (pass_.has_gram()) {
          block.scale[k] = std::sqrt(curvature);
        } else {
          curvature_[i] = curvature;
        }
      }
    }
    group_risks_[index(block.group)] += sum;  // whose blocks come in their order
  }

  double total(const std::vector<double>& at) const {
    double risk = 0;
    for (const double part : group_risks_) risk += part;
    double norm = 0;
    for (index_t f = 0; f < pass_.n_features(); ++f) norm += at[index(f)] * at[index(f)];
    return risk + 0.5 * problem_.lam * norm;
  }

  std::vector<double> by_cholesky() {
    const index_t n = pass_.n_features() + 1;
    const index_t stride = cholesky_->stride();
    double* matrix = cholesky_->matrix();
    // Where R does not curve, as along columns that say the same, a share of the diagonal keeps rounding from becoming
    // a step; the next steps make up for it elsewhere.
    constexpr double kRidge = 1e-12;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = i; j < n; ++j) matrix[i * stride + j] = gram_[i * width() + j];
      if (i < pass_.n_features()) matrix[i * stride + i] += problem_.lam;
      matrix[i * stride + i] *= 1 + kRidge;
    }
    std::vector<double> step(gradient_);
    for (double& value : step) value = -value;
    double slopes = 0;
    for (const double part : group_slopes_) slopes += part;
    for (index_t f = 0; f < pass_.n_features(); ++f) {
      const double diagonal = matrix[f * stride + f];
      if (!std::isfinite(diagonal)) refuse_overflow("its squares", f);
      if (!is_constant(f, slopes)) continue;
      for (index_t k = 0; k < n; ++k) matrix[std::min(f, k) * stride + std::max(f, k)] = 0;
      step[index(f)] = 0;
    }
    n_left_out_ = cholesky_->factor();
    cholesky_->solve(step.data());
    return step;
  }

  // Whether rows differ in a column by no more than the rounding of its mean, which the intercept stands for. Of
  // positive rows, which do not curve R, the gradient tells, where `slopes` are the sizes of their weights in it.
  bool is_constant(index_t f, double slopes) const {
    constexpr double kNothing = 1e-13;
    const double share = gram_[pass_.n_features() * width() + pass_.n_features()];
    const double least = kNothing * std::fabs(centre_[f]);
    return gram_[f * width() + f] <= least * least * share && std::fabs(gradient_[index(f)]) <= least * slopes;
  }

  [[noreturn]] static void refuse_overflow(const char* what, index_t f) {
    throw std::invalid_argument("X must be such that sums of " + std::string(what) +
                                " do not overflow, those of column " + std::to_string(f) + " do");
  }

  // H v
  std::vector<double> times(const std::vector<double>& v) {
    std::vector<double> product(v.size());
    double* const sums[] = {product.data()};
    pass_.run(v.data(), 1, sums, [&](const RowBlock& block) {
      for (index_t k = 0; k < block.n; ++k) block.weights[0][k] = curvature_[block.first + k] * block.products[k];
    });
    for (index_t f = 0; f < pass_.n_features(); ++f) product[index(f)] += problem_.lam * v[index(f)];
    for (index_t f = pass_.n_features() + 1; f < width(); ++f) product[index(f)] = 0;
    return product;
  }

  std::vector<double> by_conjugate_gradients(double precision) {
    constexpr int kMostProducts = 1000;
    std::vector<double> step(gradient_.size(), 0.0);
    std::vector<double> rest(gradient_);
    for (double& value : rest) value = -value;
    std::vector<double> direction(rest);
    double square = dot(rest, rest);
    const double goal = precision * precision * square;
    for (int k = 0; k < kMostProducts && square > goal; ++k) {
      const std::vector<double> product = times(direction);
      const double curvature = dot(direction, product);
      // Where R does not curve, it falls in a straight line: far along it, that is seen.
      constexpr double kNone = 1e-16;
      if (!(curvature > kNone * dot(direction, direction) * kNone)) {
        const double far = 1e10 / std::max(largest(direction), 1e-300);
        for (std::size_t f = 0; f < step.size(); ++f) step[f] += far * direction[f];
        break;
      }
      const double length = square / curvature;
      for (std::size_t f = 0; f < step.size(); ++f) {
        step[f] += length * direction[f];
        rest[f] -= length * product[f];
      }
      const double before = square;
      square = dot(rest, rest);
      for (std::size_t f = 0; f < step.size(); ++f) direction[f] = rest[f] + square / before * direction[f];
    }
    return step;
  }

  UpuProblem problem_;
  ConvexPuLoss loss_;
  AlignedBuffer<double> centre_;
  RowPass pass_;
  double per_positive_ = 0;
  double per_unlabeled_ = 0;
  std::vector<double> group_risks_;
  std::vector<double> group_slopes_;  // sums of their sizes
  std::vector<double> gradient_;
  std::unique_ptr<Cholesky> cholesky_;
  AlignedBuffer<double> gram_;
  AlignedBuffer<double> curvature_;
  AlignedBuffer<double> scores_;  // of all rows
  index_t n_left_out_ = 0;
  bool is_careful_ = false;
};

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
  const double scale = largest(risk.gradient());
  result.risks.push_back(value);
  result.status = UpuStatus::max_iter;
  bool is_last = false;
  bool is_careful = false;
  double careful_from = std::numeric_limits<double>::infinity();  // the risk from which careful steps last went
  double left_before = std::numeric_limits<double>::infinity();   // of the gradient, when it was last looked at
  for (index_t iter = 1; iter <= options.max_iter; ++iter) {
    // Conjugate gradients go as far as pays at this distance from the end.
    const std::vector<double> step =
        risk.newton(std::min(0.1, std::max(1e-10, largest(risk.gradient()) / std::max(scale, 1e-300))));
    result.decrement = -dot(risk.gradient(), step);
    if (!std::isfinite(value) || !std::isfinite(result.decrement)) {
      throw std::invalid_argument(
          "X and lam must be such that its squares and the risk do not overflow, the risk after " +
          std::to_string(iter - 1) + " steps is " + std::to_string(value));
    }
    const bool is_small = result.decrement <= options.tol * std::max(std::fabs(value), options.tol);
    if (is_small && is_last) {
      const double left = largest(risk.gradient());
      if (left <= kRounding * scale) {
        result.status = UpuStatus::tol;
        break;
      }
      // A gradient may be left where Newton's method sees nothing to do, as R does not curve there.
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
    is_last = is_small;  // one more step, which makes the error about the square of what it is
    std::vector<double> next(at.size());
    double length = 1;
    double found = 0;
    int n_halvings = 0;
    while (n_halvings <= kMostHalvings) {
      for (std::size_t f = 0; f < at.size(); ++f) next[f] = at[f] + length * step[f];
      found = risk.value(next);
      constexpr double kEnough = 1e-4;
      // Of a small step R may not show that it falls; but it must not rise, as where curvature changes all at once.
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
    result.risks.push_back(found);
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
  risk.write(at, result);
  return result;
}

}  // namespace fastpu
