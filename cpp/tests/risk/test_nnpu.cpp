// nnPU: gradients against differences, the same bits for all threads and levels, the generator, and what is refused.
#include "fastpu/risk/nnpu.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "fastpu/common/random.hpp"

namespace {

using fastpu::at;
using fastpu::CsrView;
using fastpu::DenseView;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::NnpuOptions;
using fastpu::PuLoss;
using fastpu::PuNet;
using fastpu::PuRisk;
using fastpu::PuRows;
using fastpu::Team;

// Rows, dense and sparse, of which every fourth is positive.
template <class T>
struct Rows {
  index_t n;
  index_t d;
  std::vector<T> dense;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start{0};
  std::vector<std::int8_t> labels;
  std::vector<double> weights;

  Rows(index_t n_rows, index_t n_features) : n(n_rows), d(n_features) {
    std::mt19937 random(static_cast<unsigned>(n * d));
    std::normal_distribution<double> normal;
    for (index_t i = 0; i < n; ++i) {
      labels.push_back(i % 4 == 0 ? 1 : 0);
      weights.push_back(1 + static_cast<double>(i % 3));
      for (index_t f = 0; f < d; ++f) {
        const double drawn = normal(random) + (i % 4 == 0 ? 0.5 : 0.0);
        const T value = std::fabs(drawn) < 0.4 ? T{0} : static_cast<T>(drawn);
        dense.push_back(value);
        if (value == 0) continue;
        values.push_back(value);
        columns.push_back(static_cast<std::int32_t>(f));
      }
      row_start.push_back(static_cast<index_t>(values.size()));
    }
  }
  PuRows<DenseView<T>> as_dense() const { return {{dense.data(), n, d}, labels.data(), nullptr}; }
  PuRows<CsrView<T>> as_csr() const {
    return {{values.data(), columns.data(), row_start.data(), n, d}, labels.data(), nullptr};
  }
};

template <class T>
PuNet<T> make_net(index_t d, index_t h) {
  std::mt19937 random(static_cast<unsigned>(7 * d + h));
  std::normal_distribution<double> normal;
  PuNet<T> net;
  net.n_features = d;
  net.n_hidden = h;
  const auto draw = [&](index_t n) {
    std::vector<T> drawn(at(n));
    for (T& value : drawn) value = static_cast<T>(normal(random) / std::sqrt(static_cast<double>(d)));
    return drawn;
  };
  net.hidden_coef = draw(d * h);
  net.hidden_intercept = draw(h);
  net.coef = draw(h > 0 ? h : d);
  net.intercept = static_cast<T>(0.1);
  return net;
}

std::vector<Isa> levels() {
  std::vector<Isa> found;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= fastpu::best_isa()) found.push_back(isa);
  }
  return found;
}

template <class T>
std::vector<double> all_of(const PuNet<T>& net) {
  std::vector<double> found;
  for (const auto* part : {&net.hidden_coef, &net.hidden_intercept, &net.coef}) {
    found.insert(found.end(), part->begin(), part->end());
  }
  found.push_back(static_cast<double>(net.intercept));
  return found;
}

// The risk of the net and its gradient, as the first epoch of a fit shows them: with eps as large as the learning rate,
// and both far above the gradient, a step of Adam goes along the gradient itself.
template <class View>
fastpu::NnpuEpoch first_epoch(const PuRows<View>& rows, const PuRisk& risk, const PuNet<double>& net,
                              PuNet<double>& gradient) {
  NnpuOptions options;
  static_cast<PuRisk&>(options) = risk;
  options.learning_rate = options.eps = 1e12;
  options.n_epochs = 1;
  Team team(2);
  gradient = net;
  const auto result = fit_nnpu(rows, static_cast<const PuRows<View>*>(nullptr), options, {}, team, gradient);
  for (const auto part : {&PuNet<double>::hidden_coef, &PuNet<double>::hidden_intercept, &PuNet<double>::coef}) {
    for (std::size_t k = 0; k < (net.*part).size(); ++k) (gradient.*part)[k] = (net.*part)[k] - (gradient.*part)[k];
  }
  gradient.intercept = net.intercept - gradient.intercept;
  return result.epochs[0];
}

// Trained for a few epochs, with its scores.
template <class View>
std::vector<double> train(const PuRows<View>& rows, index_t h, index_t batch_size, int n_threads, Isa isa) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  auto net = make_net<T>(rows.x.n_cols, h);
  NnpuOptions options;
  options.prior = 0.8;
  options.learning_rate = 0.02;
  options.n_epochs = 6;
  options.batch_size = batch_size;
  options.seed = 3;
  options.early_stopping_rounds = 4;
  Team team(n_threads, {}, isa);
  fit_nnpu(rows, &rows, options, {}, team, net);
  std::vector<double> found = all_of(net);
  std::vector<double> scores(at(rows.x.n_rows));
  nnpu_scores(rows.x, net, team, scores.data());
  found.insert(found.end(), scores.begin(), scores.end());
  return found;
}

}  // namespace

CASE("the gradient is that of differences") {
  const Rows<double> rows(150, 5);
  for (const index_t h : {index_t{0}, index_t{3}}) {
    for (const PuLoss loss : {PuLoss::sigmoid, PuLoss::logistic, PuLoss::squared}) {
      PuRisk risk;
      risk.loss = loss;
      risk.prior = 0.3;
      risk.beta = 1e9;  // the risk of uPU
      auto given = rows.as_dense();
      given.weights = rows.weights.data();
      auto net = make_net<double>(5, h);
      PuNet<double> gradient;
      first_epoch(given, risk, net, gradient);
      PuNet<double> unused;
      const auto check_slope = [&](double& parameter, double slope) {
        constexpr double kStep = 1e-6;
        const double kept = parameter;
        parameter = kept + kStep;
        const double above = first_epoch(given, risk, net, unused).risk;
        parameter = kept - kStep;
        const double below = first_epoch(given, risk, net, unused).risk;
        parameter = kept;
        CHECK(std::fabs((above - below) / (2 * kStep) - slope) < 1e-7);
      };
      for (const auto part : {&PuNet<double>::hidden_coef, &PuNet<double>::hidden_intercept, &PuNet<double>::coef}) {
        for (std::size_t k = 0; k < (net.*part).size(); ++k) check_slope((net.*part)[k], (gradient.*part)[k]);
      }
      check_slope(net.intercept, gradient.intercept);
    }
  }
}

CASE("all threads and levels give the same bits") {
  const Rows<float> narrow(300, 70);
  const Rows<double> wide(300, 70);
  for (const index_t h : {index_t{0}, index_t{1}, index_t{19}, index_t{100}}) {
    for (const index_t batch_size : {index_t{0}, index_t{130}}) {
      std::set<std::vector<double>> f32;
      std::set<std::vector<double>> f64;
      std::set<std::vector<double>> csr32;
      std::set<std::vector<double>> csr64;
      for (const Isa isa : levels()) {
        for (const int n_threads : {1, 3}) {
          f32.insert(train(narrow.as_dense(), h, batch_size, n_threads, isa));
          f64.insert(train(wide.as_dense(), h, batch_size, n_threads, isa));
          csr32.insert(train(narrow.as_csr(), h, batch_size, n_threads, isa));
          csr64.insert(train(wide.as_csr(), h, batch_size, n_threads, isa));
        }
      }
      CHECK(f32.size() == 1 && f64.size() == 1 && csr32.size() == 1 && csr64.size() == 1);
      const auto& dense = *f64.begin();
      const auto& sparse = *csr64.begin();
      for (std::size_t k = 0; k < dense.size(); ++k) CHECK(std::fabs(dense[k] - sparse[k]) < 1e-10);
    }
  }
}

CASE("a step back follows R- alone, and gamma_nn = 0 has none") {
  const Rows<double> rows(80, 3);
  auto net = make_net<double>(3, 0);
  net.coef = {2, 2, 2};
  net.intercept = -1;
  PuRisk risk;
  risk.prior = 1.0;
  std::vector<std::vector<double>> found;
  for (const double gamma : {0.0, 0.5, 1.0}) {
    risk.gamma_nn = gamma;
    PuNet<double> gradient;
    const auto seen = first_epoch(rows.as_dense(), risk, net, gradient);
    REQUIRE(seen.n_reversed == 1);
    CHECK(seen.risk == seen.positive);
    found.push_back(gradient.coef);
  }
  for (std::size_t f = 0; f < 3; ++f) {
    CHECK(found[0][f] == 0);
    CHECK(std::fabs(found[1][f] - 0.5 * found[2][f]) < 1e-15);
  }
}

CASE("the callback and early stopping end a fit") {
  const Rows<double> rows(80, 3);
  const auto given = rows.as_dense();
  Team team(2);
  NnpuOptions options;
  options.n_epochs = 1000;
  options.learning_rate = 0.1;
  auto net = make_net<double>(3, 4);
  auto result = fit_nnpu(
      given, static_cast<const PuRows<DenseView<double>>*>(nullptr), options,
      [](const fastpu::NnpuEpoch& seen) { return seen.epoch == 5; }, team, net);
  CHECK(result.status == fastpu::NnpuStatus::callback && result.epochs.size() == 5 && result.best_epoch == 5);
  CHECK(std::isnan(result.epochs[0].eval_risk));
  options.early_stopping_rounds = 3;
  options.learning_rate = 1;  // too long a step to fall in every epoch
  net = make_net<double>(3, 4);
  result = fit_nnpu(given, &given, options, {}, team, net);
  CHECK(result.status == fastpu::NnpuStatus::early_stopping);
  CHECK(static_cast<index_t>(result.epochs.size()) == result.best_epoch + 3);
  const double best = result.epochs[at(result.best_epoch - 1)].eval_risk;
  PuNet<double> unused;
  CHECK(first_epoch(given, options, net, unused).risk == best);
}

CASE("the generator is SplitMix64, and shuffles evenly") {
  fastpu::Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);  // of the reference implementation
  CHECK(random.next() == 3203168211198807973U);
  std::vector<int> counts(6, 0);
  for (int k = 0; k < 6000; ++k) {
    std::vector<int> values{0, 1, 2};
    random.shuffle(values);
    ++counts[2 * at(values[0]) + (values[1] > values[2] ? 1U : 0U)];
  }
  for (const int count : counts) CHECK(count > 850 && count < 1150);
}

CASE("what makes no sense is refused") {
  const Rows<double> rows(20, 3);
  auto given = rows.as_dense();
  Team team(1);
  const auto fit = [&](const NnpuOptions& options) {
    auto net = make_net<double>(3, 2);
    fit_nnpu(given, static_cast<const PuRows<DenseView<double>>*>(nullptr), options, {}, team, net);
  };
  NnpuOptions options;
  options.learning_rate = 0;
  CHECK_THROWS(std::invalid_argument, fit(options), "learning_rate must be finite and > 0, got 0");
  options = {};
  options.prior = 1.25;
  CHECK_THROWS(std::invalid_argument, fit(options), "prior must be in [0, 1], got 1.25");
  options = {};
  const std::vector<std::int8_t> one_kind(20, 1);
  given.labels = one_kind.data();
  CHECK_THROWS(std::invalid_argument, fit(options), "there must be positive and unlabelled rows, got 20 and 0");
}
