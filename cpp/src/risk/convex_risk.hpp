// The convex risk of uPU (fastpu/risk/upu.hpp) at a point: its value, its derivatives and Newton's steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/risk/upu_problem.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/row_pass.hpp"

namespace fastpu::detail {

struct Curve {
  double value;
  double slope;
  double curvature;
  double bound;  // curvature of a parabola above phi that touches it here (Jaakkola and Jordan 2000)
};

// phi and its derivatives; for the logistic loss width log(1 + e^(f / width)), which is phi if width is 1.
inline Curve phi(ConvexPuLoss loss, double f, double width) {
  if (loss == ConvexPuLoss::squared) return {0.25 * (1 + f) * (1 + f), 0.5 * (1 + f), 0.5, 0.5};
  const double size = std::fabs(f) / width;
  const double small = std::exp(-size);
  const double share = f >= 0 ? 1 / (1 + small) : small / (1 + small);
  const double bound = size < 1e-4 ? 0.25 : (1 - small) / ((1 + small) * 2 * size);  // tanh(f / 2) / (2 f)
  return {width * std::log1p(small) + std::max(f, 0.0), share, small / ((1 + small) * (1 + small)) / width,
          bound / width};
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

inline double largest_size(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

// R with its derivatives at a point. A point holds a value for each feature, the intercept, and zeros.
class ConvexRisk {
 public:
  ConvexRisk(const UpuProblem& problem, const UpuOptions& options, Team& team)
      : problem_(problem),
        options_(options),
        centre_(centre_of(problem, team)),
        largest_(largest_entries(problem.x, centre_, team)),
        pass_(problem.x, nullptr, n_rows(problem.x), centre_.data(), team),
        group_risks_(at(pass_.n_groups())),
        group_slopes_(group_risks_.size()) {
    scores_ = AlignedBuffer<double>(pass_.n(), "scores");
    double mass[2] = {0, 0};
    for (index_t i = 0; i < pass_.n(); ++i) mass[problem.labels[i]] += weight(i);
    per_unlabeled_ = 1 / mass[0];
    per_positive_ = options.prior / mass[1];
    if (pass_.has_gram()) {
      cholesky_ = std::make_unique<Cholesky>(pass_.n_features() + 1, team.isa(), "Newton's system");
      gram_ = AlignedBuffer<double>(pass_.width() * pass_.width(), "a Gram matrix");
    } else {
      curvature_ = AlignedBuffer<double>(pass_.n(), "curvatures");
    }
  }

  index_t width() const { return pass_.width(); }
  const std::vector<double>& gradient() const { return gradient_; }
  bool is_singular() const { return n_left_out_ > 0; }
  double width_of_phi() const { return phi_width_; }
  void set_width_of_phi(double width) { phi_width_ = width; }

  // Returns the largest entry that the gradient would have if each column were divided by its largest entry.
  double steepness() const {
    double most = 0;
    for (std::size_t f = 0; f < gradient_.size(); ++f) most = std::max(most, std::fabs(gradient_[f]) / largest_[f]);
    return most;
  }

  // Returns an upper bound of R - min R for a point whose derivative by the intercept is 0: R - lam/2 |w|^2 is convex.
  double gap() const {
    double square = 0;
    for (index_t f = 0; f < pass_.n_features(); ++f) square += gradient_[at(f)] * gradient_[at(f)];
    const double of_width = phi_width_ > 1 ? phi_width_ * std::numbers::ln2 : 0.0;
    return square / (2 * options_.lam) + of_width;
  }

  // Returns the largest change that the step makes to the score of an unlabelled row.
  double reach(const std::vector<double>& step) {
    std::vector<double> most(at(pass_.n_groups()), 0.0);
    pass_.run(step.data(), 0, nullptr, [&](const RowBlock& block) {
      double& of_group = most[at(block.group)];
      for (index_t k = 0; k < block.n; ++k) {
        if (problem_.labels[block.first + k] == 0) of_group = std::max(of_group, std::fabs(block.products[k]));
      }
    });
    return largest_size(most);
  }

  // Returns R itself, even while phi is smoothed.
  double plain_value(const std::vector<double>& point) {
    const double width = std::exchange(phi_width_, 1.0);
    const double risk = value(point);
    phi_width_ = width;
    return risk;
  }

  double value(const std::vector<double>& point) {
    std::fill(group_risks_.begin(), group_risks_.end(), 0.0);
    pass_.run(point.data(), 0, nullptr, [&](const RowBlock& block) { visit<false>(block); });
    return total(point);
  }

  // Returns the value, and prepares gradient() and newton(). Newton's step is far too long where R hardly curves along
  // the unlabelled rows; a careful step goes to the minimum of parabolas that lie above R, and always decreases R.
  double derive(const std::vector<double>& point, bool is_careful = false) {
    is_careful_ = is_careful;
    gradient_.assign(at(width()), 0.0);
    double* const sums[] = {gradient_.data()};
    std::fill(group_risks_.begin(), group_risks_.end(), 0.0);
    std::fill(group_slopes_.begin(), group_slopes_.end(), 0.0);
    double* const gram = pass_.has_gram() ? gram_.data() : nullptr;
    pass_.gram(point.data(), gram, 1, sums, [&](const RowBlock& block) { visit<true>(block); });
    for (index_t f = 0; f < pass_.n_features(); ++f) gradient_[at(f)] += options_.lam * point[at(f)];
    for (index_t f = pass_.n_features() + 1; f < width(); ++f) gradient_[at(f)] = 0;
    return total(point);
  }

  // Moves the intercept to the minimum of R for the other coefficients, which must be those of the last derive().
  void settle_intercept(std::vector<double>& point) const {
    const auto slope = [&](double shift) {
      pass_.team().poll();
      double sum = -options_.prior;
      for (index_t i = 0; i < pass_.n(); ++i) {
        if (problem_.labels[i] == 0)
          sum += per_unlabeled_ * weight(i) * phi(options_.loss, scores_[i] + shift, phi_width_).slope;
      }
      return sum;
    };
    // The slope is increasing: finds an interval in which it is 0, then halves it.
    double low = -phi_width_;
    double high = phi_width_;
    constexpr int kMostHalves = 200;
    for (int k = 0; k < kMostHalves && slope(low) > 0; ++k) low *= 2;
    for (int k = 0; k < kMostHalves && slope(high) < 0; ++k) high *= 2;
    for (int k = 0; k < kMostHalves; ++k) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (slope(middle) < 0 ? low : high) = middle;
    }
    point[at(pass_.n_features())] += 0.5 * (low + high);
  }

  // Returns -H^-1 g, for the Hessian H and the gradient g.
  std::vector<double> newton(double precision) {
    return pass_.has_gram() ? by_cholesky() : by_conjugate_gradients(precision);
  }

  // Writes the coefficients and the intercept for rows that are not centred.
  void write(const std::vector<double>& point, UpuResult& to) const {
    to.coef.assign(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(pass_.n_features()));
    to.intercept = point[at(pass_.n_features())];
    for (index_t f = 0; f < pass_.n_features(); ++f) to.intercept -= centre_[f] * point[at(f)];
  }

 private:
  // Returns the mean of each column. Centring changes the intercept alone, and makes the equations better
  // conditioned. The mean of the centred rows is then added to the first mean, which removes its rounding error: a
  // constant column has to become 0.
  static AlignedBuffer<double> centre_of(const UpuProblem& problem, Team& team) {
    const index_t n_features = n_columns(problem.x);
    auto mean = AlignedBuffer<double>::zeros(n_features + kPanelWidth, "means of columns");
    for (int time = 0; time < 2; ++time) {
      const AlignedBuffer<double> rest = mean_from(mean.data(), problem, team);
      for (index_t f = 0; f < n_features; ++f) mean[f] += rest[f];
    }
    for (index_t f = 0; f < n_features; ++f) {
      if (!std::isfinite(mean[f])) refuse_overflow("the entries", f);
    }
    return mean;
  }

  // Returns the largest entry of each centred column (1 where that is 0), and 1 for the rest of a point. Zeros that
  // sparse rows do not store are counted, whether the column has any or not.
  static std::vector<double> largest_entries(const RowsView& x, const AlignedBuffer<double>& centre, Team& team) {
    std::vector<double> largest(at(centre.size()), 0.0);
    const auto take = [&](index_t f, double value) {
      largest[at(f)] = std::max(largest[at(f)], std::fabs(value - centre[f]));
    };
    std::visit(
        [&]<class View>(const View& view) {
          for (index_t i = 0; i < view.n_rows; ++i) {
            if (i % 1024 == 0) team.poll();
            if constexpr (View::kIsDense) {
              for (index_t f = 0; f < view.n_cols; ++f) take(f, static_cast<double>(view.row(i)[f]));
            } else {
              for (index_t e = view.row_start[i]; e < view.row_start[i + 1]; ++e) {
                take(view.columns[e], static_cast<double>(view.values[e]));
              }
            }
          }
        },
        x);
    for (index_t f = 0; f < centre.size(); ++f) {
      if (is_sparse(x) && f < n_columns(x)) take(f, 0.0);
      if (!(largest[at(f)] > 0)) largest[at(f)] = 1;
    }
    return largest;
  }

  // Returns the mean of each column less `origin`.
  static AlignedBuffer<double> mean_from(const double* origin, const UpuProblem& problem, Team& team) {
    const index_t n = n_rows(problem.x);
    RowPass pass(problem.x, nullptr, n, origin, team);
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
        const Curve curve = phi(options_.loss, f, phi_width_);
        const double share = per_unlabeled_ * weight(i);
        sum += share * curve.value;
        slope = share * curve.slope;
        curvature = share * (is_careful_ ? curve.bound : curve.curvature);
      }
      if constexpr (kDerive) {
        scores_[i] = f;
        group_slopes_[at(block.group)] += std::fabs(slope);
        block.weights[0][k] = slope;
        if (pass_.has_gram()) {
          block.scale[k] = std::sqrt(curvature);
        } else {
          curvature_[i] = curvature;
        }
      }
    }
    group_risks_[at(block.group)] += sum;  // the blocks of a group come in their order
  }

  double total(const std::vector<double>& point) const {
    double risk = 0;
    for (const double part : group_risks_) risk += part;
    double norm = 0;
    for (index_t f = 0; f < pass_.n_features(); ++f) norm += point[at(f)] * point[at(f)];
    return risk + 0.5 * options_.lam * norm;
  }

  std::vector<double> by_cholesky() {
    const index_t n = pass_.n_features() + 1;
    const index_t stride = cholesky_->stride();
    double* matrix = cholesky_->matrix();
    // Where R does not curve, as along equal columns, a share of the diagonal keeps rounding errors from becoming a
    // step; further steps correct the effect of this ridge on other directions.
    constexpr double kRidge = 1e-12;
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = i; j < n; ++j) matrix[i * stride + j] = gram_[i * width() + j];
      if (i < pass_.n_features()) matrix[i * stride + i] += options_.lam;
      matrix[i * stride + i] *= 1 + kRidge;
    }
    std::vector<double> step(gradient_);
    for (double& value : step) value = -value;
    double slopes = 0;
    for (const double part : group_slopes_) slopes += part;
    for (index_t f = 0; f < pass_.n_features(); ++f) {
      const double diagonal = matrix[f * stride + f];
      if (!std::isfinite(diagonal)) refuse_overflow("the squares", f);
      if (!is_constant(f, slopes)) continue;
      for (index_t k = 0; k < n; ++k) matrix[std::min(f, k) * stride + std::max(f, k)] = 0;
      step[at(f)] = 0;
    }
    n_left_out_ = cholesky_->factor();
    cholesky_->solve(step.data());
    return step;
  }

  // Whether the rows differ in a column by no more than the rounding of its mean: the intercept then stands for the
  // column. The Gram matrix shows this of the unlabelled rows. Positive rows do not curve R, and the gradient shows it
  // of them; `slopes` is the sum of the absolute weights that the rows have in it.
  bool is_constant(index_t f, double slopes) const {
    constexpr double kRounding = 1e-13;
    const double curvature = gram_[pass_.n_features() * width() + pass_.n_features()];
    const double most = kRounding * std::fabs(centre_[f]);
    return gram_[f * width() + f] <= most * most * curvature && std::fabs(gradient_[at(f)]) <= most * slopes;
  }

  [[noreturn]] static void refuse_overflow(const char* what, index_t f) {
    throw std::invalid_argument("the sum of " + std::string(what) + " of column " + std::to_string(f) +
                                " of X overflows; scale X");
  }

  // Returns H v, for the Hessian H.
  std::vector<double> hessian_times(const std::vector<double>& v) {
    std::vector<double> product(v.size());
    double* const sums[] = {product.data()};
    pass_.run(v.data(), 1, sums, [&](const RowBlock& block) {
      for (index_t k = 0; k < block.n; ++k) block.weights[0][k] = curvature_[block.first + k] * block.products[k];
    });
    for (index_t f = 0; f < pass_.n_features(); ++f) product[at(f)] += options_.lam * v[at(f)];
    for (index_t f = pass_.n_features() + 1; f < width(); ++f) product[at(f)] = 0;
    return product;
  }

  // Solves for columns divided by their largest entries, so that their scales do not matter.
  std::vector<double> by_conjugate_gradients(double precision) {
    constexpr int kMostProducts = 1000;
    std::vector<double> step(gradient_.size(), 0.0);
    std::vector<double> rest(gradient_);
    for (double& value : rest) value = -value;
    std::vector<double> divided = preconditioned(rest);
    std::vector<double> direction(divided);
    double square = dot(rest, divided);
    const double goal = precision * precision * square;
    for (int k = 0; k < kMostProducts && square > goal; ++k) {
      const std::vector<double> product = hessian_times(direction);
      const double curvature = dot(direction, product);
      std::vector<double> scaled(direction);
      for (std::size_t f = 0; f < scaled.size(); ++f) scaled[f] *= largest_[f];
      // A direction without curvature lets R decrease in a straight line: a long step along it shows this.
      constexpr double kNone = 1e-16;
      if (!(curvature > kNone * dot(scaled, scaled) * kNone)) {
        const double far = 1e10 / std::max(largest_size(scaled), 1e-300);
        for (std::size_t f = 0; f < step.size(); ++f) step[f] += far * direction[f];
        break;
      }
      const double length = square / curvature;
      for (std::size_t f = 0; f < step.size(); ++f) {
        step[f] += length * direction[f];
        rest[f] -= length * product[f];
      }
      const double before = square;
      divided = preconditioned(rest);
      square = dot(rest, divided);
      for (std::size_t f = 0; f < step.size(); ++f) direction[f] = divided[f] + square / before * direction[f];
    }
    return step;
  }

  // Divides the values by the squares of the columns' largest entries.
  std::vector<double> preconditioned(std::vector<double> values) const {
    for (std::size_t f = 0; f < values.size(); ++f) values[f] = values[f] / largest_[f] / largest_[f];
    return values;
  }

  UpuProblem problem_;
  UpuOptions options_;
  AlignedBuffer<double> centre_;
  std::vector<double> largest_;  // the largest entries of the centred columns
  RowPass pass_;
  double per_positive_ = 0;
  double per_unlabeled_ = 0;
  std::vector<double> group_risks_;
  std::vector<double> group_slopes_;  // sums of the absolute slopes of the rows' terms
  std::vector<double> gradient_;
  std::unique_ptr<Cholesky> cholesky_;
  AlignedBuffer<double> gram_;
  AlignedBuffer<double> curvature_;
  AlignedBuffer<double> scores_;  // of all rows
  index_t n_left_out_ = 0;        // directions along which the matrix is singular
  double phi_width_ = 1;
  bool is_careful_ = false;
};

}  // namespace fastpu::detail
