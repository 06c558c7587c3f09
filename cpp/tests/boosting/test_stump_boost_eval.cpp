// The evaluation set of boosting, and what early stopping makes of it.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "boosting_data.hpp"
#include "check.hpp"
#include "fastpu/boosting/stump_boost.hpp"

namespace {

using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::BoostStatus;
using fastpu::BoostTrainingSet;
using fastpu::index_t;
using fastpu::StumpBoostOptions;
using fastpu::StumpBoostResult;
using fastpu::Team;

BoostTrainingSet training_set(const BinnedFeatures& features, const BoostingData& data) {
  BoostTrainingSet set;
  set.features = &features;
  set.labels = data.y.data();
  return set;
}

}  // namespace

CASE("the evaluation set is judged by its AUC, early stopping keeps the best round") {
  const BoostingData data = boosting_data(400, 5, 61);
  const BoostingData other = boosting_data(200, 5, 62);
  Team team(2);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{30, nullptr}, team);
  const fastpu::BoostEvalSet eval{other.dense(), other.y.data()};
  StumpBoostOptions options;
  options.n_rounds = 500;
  options.early_stopping_rounds = 7;
  const StumpBoostResult r = stump_boost(training_set(b, data), &eval, options, {}, team);
  REQUIRE(r.status == BoostStatus::early_stopping);
  const auto best = std::ranges::max_element(r.eval_auc);
  CHECK(r.best_round == best - r.eval_auc.begin() + 1);
  CHECK(static_cast<index_t>(r.eval_auc.size()) == r.best_round + 7);
  std::vector<double> f(200, 0.0);
  for (std::size_t t = 0; t < r.alphas.size(); ++t) {
    double wins = 0;
    double pairs = 0;
    for (index_t i = 0; i < other.n; ++i) {
      const bool fires = (other.dense().row(i)[r.features[t]] > r.thresholds[t]) == (r.polarity[t] > 0);
      f[static_cast<std::size_t>(i)] += fires ? r.alphas[t] : 0;
    }
    for (std::size_t i = 0; i < f.size(); ++i) {
      for (std::size_t j = 0; j < f.size(); ++j) {
        if (other.y[i] != 1 || other.y[j] != -1) continue;
        wins += f[i] > f[j] ? 1 : f[i] == f[j] ? 0.5 : 0;
        pairs += 1;
      }
    }
    CHECK(std::abs(r.eval_auc[t] - wins / pairs) < 1e-12);
  }
}

CASE("weights of the evaluation set count its rows, and those of weight 0 not at all") {
  const BoostingData data = boosting_data(300, 4, 64);
  BoostingData other = boosting_data(150, 4, 65);
  Team team(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{30, nullptr}, team);
  BoostingData repeated{0, 4, {}, {}, {}};
  for (std::size_t i = 0; i < 150; ++i) {
    for (int times = 0; times < static_cast<int>(other.weight[i]); ++times) {
      repeated.x.insert(repeated.x.end(), other.x.begin() + 4 * static_cast<std::ptrdiff_t>(i),
                        other.x.begin() + 4 * static_cast<std::ptrdiff_t>(i + 1));
      repeated.y.push_back(other.y[i]);
      ++repeated.n;
    }
  }
  REQUIRE(repeated.n != other.n);
  const fastpu::BoostEvalSet weighted{other.dense(), other.y.data(), other.weight.data()};
  const fastpu::BoostEvalSet plain{repeated.dense(), repeated.y.data()};
  StumpBoostOptions options;
  options.n_rounds = 40;
  const std::vector<double> found = stump_boost(training_set(b, data), &weighted, options, {}, team).eval_auc;
  const std::vector<double> expected = stump_boost(training_set(b, data), &plain, options, {}, team).eval_auc;
  REQUIRE(found.size() == expected.size());
  for (std::size_t t = 0; t < found.size(); ++t) CHECK(std::abs(found[t] - expected[t]) < 1e-12);
  for (std::size_t i = 0; i < 150; ++i) other.weight[i] = other.y[i] > 0 ? 0 : 1;
  CHECK_THROWS(std::invalid_argument, stump_boost(training_set(b, data), &weighted, options, {}, team),
               "got 0 positive");
}

CASE("of rounds with the same AUC early stopping keeps the first") {
  const BoostingData data = boosting_data(200, 3, 63);
  const std::vector<double> constant(static_cast<std::size_t>(data.n * data.d), 0.0);
  Team team(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
  const fastpu::BoostEvalSet eval{fastpu::DenseView<double>{constant.data(), data.n, data.d}, data.y.data()};
  StumpBoostOptions options;
  options.early_stopping_rounds = 4;
  const StumpBoostResult r = stump_boost(training_set(b, data), &eval, options, {}, team);
  CHECK(r.status == BoostStatus::early_stopping);
  CHECK(r.best_round == 1);
  CHECK(r.eval_auc == std::vector<double>(5, 0.5));
}
