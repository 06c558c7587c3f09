#include "pual/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linalg/row_products.hpp"

namespace fastpu::detail {
namespace {

// Where scores are around 1, the gradient has rounding errors of about this times the accepted misfit times the
// weights.
constexpr double kGradientRounding = 1e-6;
constexpr int kSweeps = 4;       // most residuals computed anew
constexpr int kSweepSteps = 20;  // most steps of conjugate gradients after each
// Steps end at this excess, relative to targets'f: scores then have relative errors of some 1e-12.
constexpr double kLeastExcess = 1e-25;

double inner(const double* a, const double* b, index_t n) { return dot(a, b, n); }
double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return dot(a.data(), b.data(), static_cast<index_t>(a.size()));
}

}  // namespace

Quadratic::Quadratic(const QuadraticTerms& terms, std::vector<double> weights, const Blas& blas, Team& team)
    : features_(terms.features),
      laplacian_(terms.laplacian),
      lam_(terms.lam),
      factor_(terms.factor),
      weights_(std::move(weights)),
      total_weight_(sum_in_lanes<8>(0, features_.n_rows(), [&](index_t i) { return weights_[at(i)]; })),
      largest_weight_(*std::ranges::max_element(weights_)),
      blas_(blas),
      team_(team) {}

std::vector<QuadraticMinimum> Quadratic::minima(BlasMatrix<const double> targets, BlasMatrix<const double> starts,
                                                const std::vector<double>& enough) const {
  std::vector<Residual> residuals_of_starts = residuals(targets, starts);
  std::vector<QuadraticMinimum> minima;
  for (index_t k = 0; k < targets.n_rows; ++k) {
    Residual& start = residuals_of_starts[at(k)];
    minima.push_back(minimum(targets.data + k * targets.stride, std::move(start), enough[at(k)]));
  }
  return minima;
}

double Quadratic::mean(const std::vector<double>& f) const { return inner(weights_, f) / total_weight_; }

double Quadratic::neighbours_term(const std::vector<double>& f) const {
  double sum = 0;
  for (index_t i = 0; i < laplacian_.n_rows; ++i) sum += f[at(i)] * dot(laplacian_, i, f.data());
  return std::max(sum, 0.0);
}

std::vector<Quadratic::Residual> Quadratic::residuals(BlasMatrix<const double> targets,
                                                      BlasMatrix<const double> betas) const {
  const index_t n_sets = betas.n_rows;
  const index_t n = features_.n_rows();
  auto scores = AlignedBuffer<double>(n_sets * n, "scores of the training rows");
  features_.scores(betas, {scores.data(), n_sets, n}, team_);
  std::vector<Residual> found(at(n_sets));
  auto on_rows = AlignedBuffer<double>(n_sets * n, "residuals of the training rows");
  for (index_t k = 0; k < n_sets; ++k) {
    Residual& now = found[at(k)];
    now.beta.assign(betas.data + k * betas.stride, betas.data + k * betas.stride + betas.n_cols);
    now.f.assign(scores.data() + k * n, scores.data() + (k + 1) * n);
    now.pull = pull(now.f.data());
    for (index_t i = 0; i < n; ++i) on_rows[k * n + i] = targets.data[k * targets.stride + i] - now.pull[at(i)];
  }
  const index_t n_columns = features_.n_columns();
  auto along = AlignedBuffer<double>(n_sets * n_columns, "slopes along the columns");
  features_.slopes({on_rows.data(), n_sets, n}, betas, lam_, {along.data(), n_sets, n_columns}, team_);
  for (index_t k = 0; k < n_sets; ++k) {
    Residual& now = found[at(k)];
    now.rest.resize(at(features_.n_features()));
    features_.to_features(along.data() + k * n_columns, now.rest.data());
    now.steepest = features_.steepest(along.data() + k * n_columns, lam_, largest_weight_);
  }
  return found;
}

QuadraticMinimum Quadratic::minimum(const double* targets, Residual now, double enough) const {
  QuadraticMinimum best;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double size = std::abs(inner(targets, now.f.data(), features_.n_rows()));
    const double small = std::max(kLeastExcess * size, enough);
    double excess = inner(now.rest, now.rest) / lam_;  // a bound, as the matrix is at least lam
    if (!(excess <= small)) excess = excess_of(now.rest);
    if (sweep == 0 || excess < best.excess) best = {now.beta, now.f, excess, misfit_of(targets, now)};
    if (!(excess > small) || sweep + 1 == kSweeps) break;
    std::vector<double> beta = std::move(now.beta);
    descend(beta, std::move(now.rest), excess);
    const index_t n_features = features_.n_features();
    now = std::move(residuals({targets, 1, features_.n_rows()}, {beta.data(), 1, n_features})[0]);
  }
  return best;
}

void Quadratic::descend(std::vector<double>& beta, std::vector<double> rest, double excess) const {
  const index_t n = features_.n_rows();
  const index_t n_columns = features_.n_columns();
  const auto n_features = static_cast<index_t>(beta.size());
  const double first = excess;
  std::vector<double> step = solve(rest);
  std::vector<double> f(at(n));
  std::vector<double> along(at(n_columns));
  std::vector<double> image(beta.size());
  for (int k = 0; k < kSweepSteps; ++k) {
    const BlasMatrix<const double> direction(step.data(), 1, n_features);
    features_.scores(direction, {f.data(), 1, n}, team_);
    const std::vector<double> pulled = pull(f.data());
    features_.slopes({pulled.data(), 1, n}, direction, -lam_, {along.data(), 1, n_columns}, team_);
    features_.to_features(along.data(), image.data());
    const double curvature = inner(step, image);
    if (!(curvature > 0)) return;
    for (std::size_t j = 0; j < beta.size(); ++j) {
      beta[j] += excess / curvature * step[j];
      rest[j] -= excess / curvature * image[j];
    }
    const std::vector<double> ahead = solve(rest);
    const double last = std::exchange(excess, inner(rest, ahead));
    const bool goes_on = kLeastExcess * first < excess && excess < kInfinity;  // false for NaN
    if (!goes_on) return;
    for (std::size_t j = 0; j < step.size(); ++j) step[j] = ahead[j] + excess / last * step[j];
  }
}

std::vector<double> Quadratic::pull(const double* f) const {
  const index_t n = features_.n_rows();
  const double middle = inner(weights_.data(), f, n) / total_weight_;
  std::vector<double> pulled(at(n));
  for (index_t i = 0; i < n; ++i) pulled[at(i)] = weights_[at(i)] * (f[i] - middle) + 2 * dot(laplacian_, i, f);
  return pulled;
}

// rest'A^-1 rest
double Quadratic::excess_of(const std::vector<double>& rest) const {
  std::vector<double> half(rest);
  blas_.trsm(Op::transpose, factor_, {half.data(), 1, static_cast<index_t>(half.size())});
  return inner(half, half);
}

double Quadratic::misfit_of(const double* targets, const Residual& now) const {
  const index_t n = features_.n_rows();
  const double size = std::sqrt(inner(targets, targets, n)) + std::sqrt(inner(now.pull, now.pull)) +
                      kGradientRounding * std::sqrt(inner(weights_, weights_));
  return now.steepest / (size / std::sqrt(largest_weight_));
}

// A^-1 right
std::vector<double> Quadratic::solve(std::vector<double> right) const {
  const BlasMatrix<double> row(right.data(), 1, static_cast<index_t>(right.size()));
  blas_.trsm(Op::transpose, factor_, row);
  blas_.trsm(Op::none, factor_, row);
  return right;
}

}  // namespace fastpu::detail
