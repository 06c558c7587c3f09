// The convex risk of uPU: optimality against loops of a few lines, the same bits for all threads, no minimum.
#include "fastpu/risk/upu.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::at;
using fastpu::ConvexPuLoss;
using fastpu::DenseView;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::Team;
using fastpu::UpuOptions;
using fastpu::UpuProblem;
using fastpu::UpuStatus;

struct Rows {
  index_t n;
  index_t d;
  std::vector<double> values;
  std::vector<std::int8_t> labels;

  Rows(index_t n_rows, index_t n_features, double apart) : n(n_rows), d(n_features) {
    std::mt19937 random(static_cast<unsigned>(n * d));
    std::normal_distribution<double> normal;
    for (index_t i = 0; i < n; ++i) {
      labels.push_back(i % 4 == 0 ? 1 : 0);
      const bool is_positive = i % 4 == 0 || i % 4 == 1;
      for (index_t f = 0; f < d; ++f) values.push_back(normal(random) + (is_positive && f == 0 ? apart : 0.0));
    }
  }
  UpuProblem problem() const {
    UpuProblem found;
    found.x = DenseView<double>{values.data(), n, d};
    found.labels = labels.data();
    return found;
  }
};

UpuOptions options_of(double lam, ConvexPuLoss loss = ConvexPuLoss::logistic) {
  UpuOptions found;
  found.loss = loss;
  found.prior = 0.3;
  found.lam = lam;
  return found;
}

// The largest entry of the gradient, the intercept's included.
double slope_at(const Rows& rows, const UpuOptions& options, const fastpu::UpuResult& found) {
  double n[2] = {0, 0};
  for (const std::int8_t label : rows.labels) ++n[label];
  std::vector<double> gradient(at(rows.d + 1), 0.0);
  for (index_t i = 0; i < rows.n; ++i) {
    const double* x = rows.values.data() + i * rows.d;
    double f = found.intercept;
    for (index_t k = 0; k < rows.d; ++k) f += x[k] * found.coef[at(k)];
    double slope = -options.prior / n[1];
    if (rows.labels[at(i)] == 0)
      slope = (options.loss == ConvexPuLoss::logistic ? 1 / (1 + std::exp(-f)) : (1 + f) / 2) / n[0];
    for (index_t k = 0; k < rows.d; ++k) gradient[at(k)] += slope * x[k];
    gradient[at(rows.d)] += slope;
  }
  double most = std::fabs(gradient[at(rows.d)]);
  for (index_t k = 0; k < rows.d; ++k) {
    most = std::max(most, std::fabs(gradient[at(k)] + options.lam * found.coef[at(k)]));
  }
  return most;
}

}  // namespace

CASE("the gradient is zero at the end, with Cholesky and with conjugate gradients") {
  Team team(2);
  for (const index_t d : {index_t{1}, index_t{6}, index_t{2050}}) {
    const Rows rows(d > 100 ? 60 : 400, d, 1.0);
    for (const ConvexPuLoss loss : {ConvexPuLoss::logistic, ConvexPuLoss::squared}) {
      for (const double lam : {0.01, 1.0}) {
        const UpuOptions options = options_of(lam, loss);
        const auto found = fit_upu(rows.problem(), options, {}, team);
        CHECK(found.status == UpuStatus::tol);
        CHECK(slope_at(rows, options, found) < 1e-8);
        for (std::size_t k = 1; k < found.risks.size(); ++k) CHECK(found.risks[k] <= found.risks[k - 1] + 1e-15);
      }
    }
  }
}

CASE("all threads and levels give the same bits") {
  const Rows rows(5000, 9, 1.0);
  std::set<std::vector<double>> found;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > fastpu::best_isa()) continue;
    for (const int n_threads : {1, 2, 5}) {
      Team team(n_threads, {}, isa);
      auto result = fit_upu(rows.problem(), options_of(0.01), {}, team);
      result.coef.push_back(result.intercept);
      found.insert(result.coef);
    }
  }
  CHECK(found.size() == 1);
}

CASE("the callback ends the fit, and bad options are refused") {
  const Rows rows(100, 3, 1.0);
  Team team(1);
  const auto stop = [](const fastpu::UpuStep& step) { return step.n_iter == 2; };
  const auto found = fit_upu(rows.problem(), options_of(0.1), stop, team);
  CHECK(found.status == UpuStatus::callback && found.risks.size() == 3);
  UpuOptions options = options_of(0.1);
  options.tol = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS(std::invalid_argument, fit_upu(rows.problem(), options, {}, team), "tol must be > 0");
  CHECK_THROWS(std::invalid_argument, fit_upu(rows.problem(), options_of(-1), {}, team), "lam must be finite");
  for (const double prior : {0.0, 1.0, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
    options = options_of(0.1);
    options.prior = prior;
    CHECK_THROWS(std::invalid_argument, fit_upu(rows.problem(), options, {}, team), "prior must be in (0, 1), got");
  }
}
