// Stump boosting against a slow reading of stump_boost.hpp, and its promises about threads, levels and forms of input.
#include "fastpu/boosting/stump_boost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "boosting_data.hpp"
#include "check.hpp"
#include "fastpu/boosting/stump_ensemble.hpp"

namespace {

using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::BoostStatus;
using fastpu::BoostStep;
using fastpu::BoostTrainingSet;
using fastpu::FeatureOrder;
using fastpu::index_t;
using fastpu::StumpBoostOptions;
using fastpu::StumpBoostResult;
using fastpu::Team;

constexpr double kTie = 1e-12;

BoostTrainingSet training_set(const BinnedFeatures& features, const BoostingData& data, bool weighted = false) {
  BoostTrainingSet set;
  set.features = &features;
  set.labels = data.y.data();
  set.sample_weight = weighted ? data.weight.data() : nullptr;
  return set;
}

BoostTrainingSet exact_training_set(const BinnedFeatures& features, const FeatureOrder& order,
                                    const BoostingData& data) {
  BoostTrainingSet set = training_set(features, data);
  set.order = &order;
  set.value = [&data](index_t row, index_t feature) { return data.dense().row(row)[feature]; };
  return set;
}

StumpBoostResult boost(const BoostTrainingSet& set, const StumpBoostOptions& options, Team& team) {
  return stump_boost(set, nullptr, options, {}, team);
}

// Weights from f in every round, every cut of every feature looked at row by row.
StumpBoostResult slow_boost(const BinnedFeatures& b, const BoostingData& data, const StumpBoostOptions& o,
                            bool weighted) {
  const auto n = static_cast<std::size_t>(data.n);
  std::vector<double> f(n, 0.0);
  const bool ada = o.loss == "ada";
  const double gamma = o.gamma;
  const auto w = [&](std::size_t i) { return weighted ? data.weight[i] : 1.0; };
  const auto mean = [&](int group, double sign) {
    double sum = 0;
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (data.y[i] != group) continue;
      sum += w(i) * std::exp(sign * f[i]);
      total += w(i);
    }
    return std::pair{sum / total, total};
  };
  StumpBoostResult result;
  for (index_t round = 0; round < o.n_rounds; ++round) {
    const auto [a, n_p] = mean(1, -1);
    const auto [bb, n_u] = mean(0, 1);
    const double c = mean(0, -1).first;
    const auto [d, n_n] = mean(-1, 1);
    const double pn = gamma * a * d;
    const double pu = (1 - gamma) / 2 * a * bb;
    const double un = (1 - gamma) / 2 * c * d;
    const double risk = ada ? (1 - gamma) / 2 * (a + bb) + gamma / 2 * (c + d) : pn + pu + un;
    std::vector<double> g(n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double plus = w(i) * std::exp(-f[i]);
      const double minus = w(i) * std::exp(f[i]);
      if (ada) {
        g[i] = data.y[i] > 0   ? (1 - gamma) / 2 * plus / n_p
               : data.y[i] < 0 ? -gamma / 2 * minus / n_n
                               : gamma / 2 * plus / n_u - (1 - gamma) / 2 * minus / n_u;
      } else {
        g[i] = data.y[i] > 0   ? (pn + pu) * plus / (a * n_p)
               : data.y[i] < 0 ? -(pn + un) * minus / (d * n_n)
                               : un * plus / (c * n_u) - pu * minus / (bb * n_u);
      }
      g[i] /= risk;
      total += g[i];
    }
    double best = 0;
    std::vector<std::vector<double>> score(static_cast<std::size_t>(data.d));
    for (index_t e = 0; e < data.d; ++e) {
      for (index_t k = 0; k < b.cuts->count(e); ++k) {
        double above = 0;
        for (index_t i = 0; i < data.n; ++i) {
          if (data.dense().row(i)[e] > b.cuts->of(e)[k]) above += g[static_cast<std::size_t>(i)];
        }
        score[static_cast<std::size_t>(e)].push_back(ada ? 2 * above - total : above);
        best = std::max(best, std::abs(score[static_cast<std::size_t>(e)].back()));
      }
    }
    for (index_t e = 0; e < data.d && static_cast<index_t>(result.features.size()) == round; ++e) {
      for (index_t k = 0; k < b.cuts->count(e); ++k) {
        const double s = score[static_cast<std::size_t>(e)][static_cast<std::size_t>(k)];
        if (std::abs(s) < best - kTie) continue;
        const double theta = b.cuts->of(e)[k];
        const double alpha = std::atanh(std::min(std::abs(s), 1 - 1e-6)) - (ada ? 0 : std::atanh(o.rho));
        result.features.push_back(static_cast<std::int32_t>(e));
        result.thresholds.push_back(theta);
        result.polarity.push_back(s > 0 ? 1 : -1);
        result.alphas.push_back(alpha);
        for (index_t i = 0; i < data.n; ++i) {
          const bool fires = (data.dense().row(i)[e] > theta) == (s > 0);
          f[static_cast<std::size_t>(i)] += fires ? alpha : ada ? -alpha : 0;
        }
        break;
      }
    }
  }
  return result;
}

void check_same_stumps(const StumpBoostResult& a, const StumpBoostResult& b, double tolerance) {
  CHECK(a.features == b.features);
  CHECK(a.thresholds == b.thresholds);
  CHECK(a.polarity == b.polarity);
  REQUIRE(a.alphas.size() == b.alphas.size());
  for (std::size_t t = 0; t < a.alphas.size(); ++t) CHECK(std::abs(a.alphas[t] - b.alphas[t]) <= tolerance);
}

bool same_bits(const StumpBoostResult& a, const StumpBoostResult& b) {
  return a.features == b.features && a.thresholds == b.thresholds && a.polarity == b.polarity && a.alphas == b.alphas &&
         a.deltas == b.deltas && a.z == b.z && a.objective == b.objective;
}

}  // namespace

CASE("fast equals slow") {
  for (const char* const loss : {"auc", "ada"}) {
    for (const bool weighted : {false, true}) {
      for (unsigned seed = 0; seed < 4; ++seed) {
        const BoostingData data = boosting_data(150, 4, seed);
        Team team(2);
        const BinnedFeatures b =
            bin_features(data.dense(), BinOptions{20, weighted ? data.weight.data() : nullptr}, team);
        StumpBoostOptions options;
        options.loss = loss;
        options.n_rounds = 40;
        options.gamma = 0.3;
        const StumpBoostResult fast = boost(training_set(b, data, weighted), options, team);
        check_same_stumps(fast, slow_boost(b, data, options, weighted), 1e-11);
        CHECK(fast.low == (options.loss == "ada" ? -1 : 0));
      }
    }
  }
}

CASE("the exact search finds what cutting at every boundary finds, and steps as far") {
  for (const auto& [loss, step] : {std::pair("auc", BoostStep::jensen), std::pair("auc", BoostStep::line_search),
                                   std::pair("ada", BoostStep::jensen)}) {
    const BoostingData data = boosting_data(3000, 4, 11);
    Team team(2);
    StumpBoostOptions options;
    options.loss = loss;
    options.step = step;
    options.n_rounds = 60;
    const BinnedFeatures all = bin_features(data.dense(), BinOptions{fastpu::kMaxDenseCuts, nullptr}, team);
    const StumpBoostResult expected = boost(training_set(all, data), options, team);
    for (const index_t bins : {3, 50, 255}) {
      FeatureOrder order;
      const BinnedFeatures coarse = bin_features(data.dense(), BinOptions{bins, nullptr}, team, &order);
      check_same_stumps(boost(exact_training_set(coarse, order, data), options, team), expected, 1e-11);
    }
  }
}

// As many positive as unlabelled rows: in the first round every row is a step up or down, of equal length, and many
// boundaries of the only feature tie.
CASE("of boundaries that tie the exact search takes the one that cutting at every boundary takes") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    BoostingData data = boosting_data(200, 1, seed);
    for (index_t i = 0; i < data.n; ++i) {
      data.x[static_cast<std::size_t>(i)] = static_cast<double>((i * 77) % data.n);
      data.y[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : 0;
    }
    std::shuffle(data.y.begin(), data.y.end(), std::mt19937(seed));
    Team team(1);
    StumpBoostOptions options;
    options.n_rounds = 1;
    const BinnedFeatures all = bin_features(data.dense(), BinOptions{fastpu::kMaxDenseCuts, nullptr}, team);
    const StumpBoostResult expected = boost(training_set(all, data), options, team);
    for (const index_t bins : {3, 8}) {
      FeatureOrder order;
      const BinnedFeatures coarse = bin_features(data.dense(), BinOptions{bins, nullptr}, team, &order);
      check_same_stumps(boost(exact_training_set(coarse, order, data), options, team), expected, 1e-11);
    }
  }
}

// Labels that the features say nothing about: after a round the vote that helps most is the same for all rows, and a
// threshold below or above all rows that count would be that vote.
CASE("a vote that is the same for all rows is no candidate") {
  const index_t n = 200;
  Team team(1);
  StumpBoostOptions options;
  options.loss = "ada";
  options.n_rounds = 20;
  for (unsigned seed = 0; seed < 4; ++seed) {
    BoostingData data = boosting_data(n, 3, seed);
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> value(0, 3);
    for (double& x : data.x) x = value(random);
    std::shuffle(data.y.begin(), data.y.end(), random);
    const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
    const StumpBoostResult expected = slow_boost(b, data, options, false);
    check_same_stumps(boost(training_set(b, data), options, team), expected, 1e-11);

    const SparseCopy sparse(data);
    const BinnedFeatures s = bin_features(sparse.view(), BinOptions{}, team);
    check_same_stumps(boost(training_set(s, data), options, team), expected, 1e-11);

    FeatureOrder order;
    const BinnedFeatures coarse = bin_features(data.dense(), BinOptions{2, nullptr}, team, &order);
    check_same_stumps(boost(exact_training_set(coarse, order, data), options, team), expected, 1e-11);

    // Rows of weight 0 below and above all others.
    BoostingData wider = data;
    for (const double end : {-9.0, 9.0}) {
      wider.x.insert(wider.x.end(), static_cast<std::size_t>(data.d), end);
      wider.y.push_back(0);
    }
    wider.n += 2;
    wider.weight.assign(static_cast<std::size_t>(wider.n), 1.0);
    std::fill(wider.weight.end() - 2, wider.weight.end(), 0.0);
    const BinnedFeatures w = bin_features(wider.dense(), BinOptions{}, team);
    check_same_stumps(boost(training_set(w, wider, true), options, team), expected, 1e-11);
  }
}

CASE("every number of threads and every level gives the same bits") {
  const BoostingData data = boosting_data(30000, 12, 21);
  const SparseCopy sparse(data);
  StumpBoostOptions options;
  options.n_rounds = 25;
  Team one(1);
  const BinnedFeatures dense_bins = bin_features(data.dense(), BinOptions{}, one);
  const BinnedFeatures sparse_bins = bin_features(sparse.view(), BinOptions{}, one);
  for (const BinnedFeatures* b : {&dense_bins, &sparse_bins}) {
    const StumpBoostResult expected = boost(training_set(*b, data), options, one);
    CHECK(expected.features.size() == 25);
    for (const int n_threads : {2, 3, 7}) {
      Team team(n_threads);
      CHECK(same_bits(boost(training_set(*b, data), options, team), expected));
    }
    for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
      Team at_level(1, {}, static_cast<fastpu::Isa>(level));
      CHECK(same_bits(boost(training_set(*b, data), options, at_level), expected));
    }
  }
}

CASE("a search that is shared out gives the same bits for every number of threads") {
  const BoostingData data = boosting_data(20000, 24, 22);
  StumpBoostOptions options;
  options.n_rounds = 12;
  Team one(1);
  FeatureOrder order;
  const BinnedFeatures many = bin_features(data.dense(), BinOptions{2000, nullptr}, one);
  const BinnedFeatures few = bin_features(data.dense(), BinOptions{20, nullptr}, one, &order);
  CHECK(many.total_bins() > 16384);
  for (const BoostTrainingSet& set : {training_set(many, data), exact_training_set(few, order, data)}) {
    const StumpBoostResult expected = boost(set, options, one);
    CHECK(expected.features.size() == 12);
    for (const int n_threads : {2, 3, 7}) {
      Team team(n_threads);
      CHECK(same_bits(boost(set, options, team), expected));
    }
  }
}

CASE("sparse equals dense") {
  // 19 features: two whole words of codes and a part of one.
  const BoostingData data = boosting_data(6000, 19, 32);
  const SparseCopy sparse(data);
  Team team(2);
  StumpBoostOptions options;
  options.n_rounds = 40;
  for (const index_t bins : {40, 300}) {  // codes of one byte and of two
    const BinnedFeatures a = bin_features(data.dense(), BinOptions{bins, nullptr}, team);
    const BinnedFeatures b = bin_features(sparse.view(), BinOptions{bins, nullptr}, team);
    for (const BoostStep step : {BoostStep::jensen, BoostStep::line_search}) {
      options.step = step;
      check_same_stumps(boost(training_set(a, data), options, team), boost(training_set(b, data), options, team),
                        1e-11);
    }
  }
}

CASE("sums that shrink by many orders of magnitude stay exact") {
  // Nearly separable: a round multiplies the risk by about a third, so that sums kept without refresh would be rounding
  // alone.
  BoostingData data = boosting_data(400, 3, 33);
  for (index_t i = 0; i < data.n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (data.y[at] == 0) data.y[at] = i % 2 == 0 ? std::int8_t{1} : std::int8_t{-1};
    for (index_t e = 0; e < data.d; ++e) {
      double& x = data.x[static_cast<std::size_t>(i * data.d + e)];
      x = (std::isnan(x) ? 0.0 : x) + 3.0 * data.y[at];
    }
  }
  data.y[2] = 0;  // the slow reading wants all three groups
  Team team(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
  StumpBoostOptions options;
  options.n_rounds = 100;
  options.gamma = 0.9;
  options.rho = 0;
  const StumpBoostResult fast = boost(training_set(b, data), options, team);
  REQUIRE(fast.objective.size() == 100);
  CHECK(fast.objective.back() < -12);
  check_same_stumps(fast, slow_boost(b, data, options, false), 1e-9);
}

CASE("the objective falls, thousands of rounds stay finite") {
  const BoostingData data = boosting_data(300, 5, 41);
  Team team(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
  StumpBoostOptions options;
  options.n_rounds = 5000;
  options.rho = 0;
  const StumpBoostResult result = boost(training_set(b, data), options, team);
  REQUIRE(result.objective.size() == 5000);
  for (std::size_t t = 1; t < result.objective.size(); ++t) {
    CHECK(std::isfinite(result.objective[t]));
    CHECK(result.objective[t] <= result.objective[t - 1] + 1e-12);
  }
}

CASE("scores of all forms of input agree with the sum over the stumps") {
  const BoostingData data = boosting_data(500, 5, 51);
  const SparseCopy sparse(data);
  Team team(2);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{30, nullptr}, team);
  const BinnedFeatures s = bin_features(sparse.view(), BinOptions{30, nullptr}, team);
  for (const char* const loss : {"auc", "ada"}) {
    StumpBoostOptions options;
    options.loss = loss;
    options.n_rounds = 120;
    const StumpBoostResult r = boost(training_set(b, data), options, team);
    fastpu::StumpEnsembleView view{
        r.features.data(), r.thresholds.data(), r.polarity.data(), r.alphas.data(), 120, 5, 0};
    view.low = r.low;
    std::vector<double> scores[4];
    for (auto& v : scores) v.resize(500);
    stump_scores(view, data.dense(), scores[0].data(), team);
    stump_scores(view, sparse.view(), scores[1].data(), team);
    stump_scores(view, b, scores[2].data(), team);
    stump_scores(view, s, scores[3].data(), team);
    for (index_t i = 0; i < data.n; ++i) {
      double sum = 0;
      for (std::size_t t = 0; t < r.alphas.size(); ++t) {
        const bool fires = (data.dense().row(i)[r.features[t]] > r.thresholds[t]) == (r.polarity[t] > 0);
        sum += fires ? r.alphas[t] : view.low * r.alphas[t];
      }
      for (const auto& v : scores) CHECK(std::abs(v[static_cast<std::size_t>(i)] - sum) < 1e-11);
    }
  }
}

CASE("scores of many rows have the same bits for every number of threads") {
  const BoostingData data = boosting_data(40000, 5, 52);
  const SparseCopy sparse(data);
  Team one(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{30, nullptr}, one);
  StumpBoostOptions options;
  options.n_rounds = 10;
  const StumpBoostResult r = boost(training_set(b, data), options, one);
  const fastpu::StumpEnsembleView view{
      r.features.data(), r.thresholds.data(), r.polarity.data(), r.alphas.data(), 10, 5, 0};
  const auto scores = [&](const auto& x, int n_threads) {
    Team team(n_threads);
    std::vector<double> out(static_cast<std::size_t>(data.n));
    stump_scores(view, x, out.data(), team);
    return out;
  };
  for (const int n_threads : {2, 3, 7}) {
    CHECK(scores(data.dense(), n_threads) == scores(data.dense(), 1));
    CHECK(scores(sparse.view(), n_threads) == scores(sparse.view(), 1));
    CHECK(scores(b, n_threads) == scores(b, 1));
  }
}

CASE("callbacks see every round, stop the fit, and may throw") {
  const BoostingData data = boosting_data(200, 3, 71);
  Team team(2);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
  StumpBoostOptions options;
  index_t seen = 0;
  const auto stop_at_five = [&](const fastpu::BoostRound& round) {
    CHECK(round.round == ++seen);
    return round.round == 5;
  };
  const StumpBoostResult r = stump_boost(training_set(b, data), nullptr, options, stop_at_five, team);
  CHECK(r.status == BoostStatus::callback);
  CHECK(r.alphas.size() == 5);
  const auto fail = [](const fastpu::BoostRound&) -> bool { throw std::runtime_error("no more"); };
  CHECK_THROWS(std::runtime_error, stump_boost(training_set(b, data), nullptr, options, fail, team), "no more");
}

CASE("bad options and labels are refused by name") {
  BoostingData data = boosting_data(20, 2, 81);
  Team team(1);
  const BinnedFeatures b = bin_features(data.dense(), BinOptions{}, team);
  const auto refused = [&](auto change, const char* message) {
    StumpBoostOptions options;
    change(options);
    CHECK_THROWS(std::invalid_argument, boost(training_set(b, data), options, team), message);
  };
  refused([](auto& o) { o.gamma = 1.5; }, "gamma must be in [0");
  refused([](auto& o) { o.gamma = std::numeric_limits<double>::quiet_NaN(); }, "gamma");
  refused([](auto& o) { o.rho = 1; }, "rho must be in [0");
  refused([](auto& o) { o.stop_tol = -1; }, "stop_tol");
  const auto search_lines = [](auto& o) { o.loss = "ada", o.step = BoostStep::line_search; };
  refused(search_lines, "step must be 'jensen'");
  refused([](auto& o) { o.loss = "pnu_auc"; }, "there is no loss 'pnu_auc'");
  refused([](auto& o) { o.n_rounds = 0; }, "n_rounds must be at least 1, got 0");
  refused([](auto& o) { o.early_stopping_rounds = 3; }, "early_stopping_rounds needs an eval_set");
  std::vector<std::int8_t> eval_labels = data.y;
  eval_labels[7] = -89;
  const fastpu::BoostEvalSet eval{&b, eval_labels.data()};
  CHECK_THROWS(std::invalid_argument, stump_boost(training_set(b, data), &eval, StumpBoostOptions{}, {}, team),
               "labels of eval_set must be +1, 0 or -1, got -89 in row 7");
  data.y.assign(20, 1);
  refused([](auto&) {}, "at least two of positive");
  data.y[3] = 2;
  refused([](auto&) {}, "got 2 in row 3");
}
