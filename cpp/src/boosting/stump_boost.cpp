#include "fastpu/boosting/stump_boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "boosting/boost_mixture.hpp"
#include "boosting/boost_state.hpp"
#include "boosting/eval_auc.hpp"
#include "boosting/stump_search.hpp"
#include "data/float_key.hpp"

namespace fastpu {

namespace {

using detail::BoostMixture;
using detail::BoostState;
using detail::Boundary;
using detail::EvalAuc;
using detail::PerSlot;
using detail::RowBits;
using detail::StumpSearch;

constexpr double kPerfect = 1.0 - 1e-6;  // Delta from here on counts as perfect, and is cut to it in the step

void check_unit(const char* name, double value, double high, bool open_high) {
  if (value >= 0 && (open_high ? value < high : value <= high)) return;
  throw std::invalid_argument(std::string(name) + " must be in [0, " + std::to_string(high) + (open_high ? ")" : "]") +
                              ", got " + std::to_string(value));
}

void check(const StumpBoostOptions& options, const BoostTrainingSet& train, const BoostEvalSet* eval) {
  check_unit("gamma", options.gamma, 1, false);
  check_unit("rho", options.rho, 1, true);
  check_unit("stop_tol", options.stop_tol, std::numeric_limits<double>::infinity(), true);
  if (options.n_rounds < 1) {
    throw std::invalid_argument("n_rounds must be an integer >= 1, got " + std::to_string(options.n_rounds));
  }
  if (options.early_stopping_rounds < 0) {
    throw std::invalid_argument("early_stopping_rounds must be an integer >= 1, got " +
                                std::to_string(options.early_stopping_rounds));
  }
  if (options.early_stopping_rounds > 0 && eval == nullptr) {
    throw std::invalid_argument("early_stopping_rounds needs an eval_set");
  }
  if (options.loss == BoostLoss::ada && options.step != BoostStep::jensen) {
    throw std::invalid_argument("step must be 'jensen' for the loss of AdaBoost, where it is the line search too");
  }
  if (train.order != nullptr && eval != nullptr && std::holds_alternative<const BinnedFeatures*>(eval->features)) {
    throw std::invalid_argument("eval_set may hold BinnedFeatures only where X does");
  }
}

double threshold_of(const Boundary& boundary, const BoostTrainingSet& train, const StumpSearch& search) {
  if (boundary.position < 0) return train.features->cuts->of(boundary.feature)[boundary.cut];
  const auto& rows = train.order->rows[static_cast<std::size_t>(search.order_of(boundary.feature))];
  const auto value = [&](index_t position) {
    const double x = train.value(rows[position] & FeatureOrder::kRow, boundary.feature);
    return std::isnan(x) ? -std::numeric_limits<double>::infinity() : x;
  };
  return detail::midpoint_threshold(value(boundary.position - 1), value(boundary.position));
}

// The step along a stump of the given Delta > 0, whose firing side holds the shares `fires` of the group weights.
double step_length(const StumpBoostOptions& options, const BoostMixture& mixture, double delta, const PerSlot& fires) {
  const double jensen =
      std::atanh(std::min(delta, kPerfect)) - (options.loss == BoostLoss::auc ? std::atanh(options.rho) : 0.0);
  if (options.step == BoostStep::jensen) return jensen;
  // Minimises e^{rho alpha} (W+ e^-alpha + W0 + W- e^alpha) over the pairs that the stump orders rightly, not, wrongly.
  const auto [right, wrong] = mixture.ordered(fires);
  const double rest = std::max(0.0, 1.0 - right - wrong);
  const double rho = options.rho;
  const double most = std::atanh(kPerfect);
  // The positive root of (1 + rho) W- x^2 + rho W0 x - (1 - rho) W+ = 0 for x = e^alpha, in the form without
  // cancellation.
  const double root = std::sqrt(rho * rho * rest * rest + 4.0 * (1.0 - rho * rho) * right * wrong);
  const double below = rho * rest + root;
  if (!(below > 0)) return most;
  const double alpha = std::log(2.0 * (1.0 - rho) * right / below);
  // Never shorter than the Jensen step, up to rounding where right and wrong are close to it.
  return std::min(most, std::max(alpha, jensen));
}

}  // namespace

index_t exact_search_bins(index_t n_rows, index_t n_features) {
  constexpr index_t kCutAll = 600;  // with so few rows, cutting everywhere beats looking into bins
  constexpr index_t kOneByte = 255;
  constexpr index_t kFewest = 15;
  constexpr index_t kMostBins = 1 << 21;  // 64 MB of histograms, and as much for a thread
  const index_t wanted = n_rows <= kCutAll ? std::max<index_t>(1, n_rows - 1) : kOneByte;
  return std::min(wanted, std::max(kFewest, kMostBins / n_features));
}

StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team) {
  check(options, train, eval);
  const bool ada = options.loss == BoostLoss::ada;
  const double low = ada ? -1.0 : 0.0;
  const double rho = ada ? 0.0 : options.rho;

  const detail::GroupWeights weights = detail::group_weights(*train.features, train.labels, train.sample_weight);
  BoostMixture mixture(options.loss, options.gamma, weights);
  BoostState state(*train.features, train.labels, train.sample_weight, mixture.uses_unlabelled(), options.isa, team);
  StumpSearch search(state, train.order, ada ? detail::Score::edge : detail::Score::delta, team);
  std::unique_ptr<EvalAuc> judge;
  if (eval != nullptr) judge = std::make_unique<EvalAuc>(*eval, *train.features);

  StumpBoostResult result;
  RowBits above(static_cast<std::size_t>(state.n_words()));
  double log_objective = 0;
  double alpha_sum = 0;
  double best_auc = -1;
  index_t best_auc_round = 0;
  mixture.recompute(state.log_totals(), state.log_weights());
  log_objective = mixture.log_risk();

  for (index_t round = 1; round <= options.n_rounds; ++round) {
    // The stump of largest |Delta|, turned so that Delta is positive.
    const Boundary stump = search.best(mixture.gain_coefs(state.sums()));
    const double delta = std::min(1.0, std::abs(stump.score));
    result.last_gain = delta - rho;
    if (stump.feature < 0 || std::min(delta, kPerfect) <= rho + options.stop_tol) {
      result.status = BoostStatus::no_gain;
      break;
    }
    const bool fires_above = stump.score > 0;

    // Its weight.
    PerSlot fires{};
    if (options.step == BoostStep::line_search) {
      const PerSlot sums = search.sums_above(stump);
      for (std::size_t k = 0; k < detail::kSlots; ++k) {
        const double share = state.sums()[k] > 0 ? std::min(1.0, sums[k] / state.sums()[k]) : 0.0;
        fires[k] = fires_above ? share : 1.0 - share;
      }
    }
    const double alpha = step_length(options, mixture, delta, fires);

    // The weights of the rows, the groups and the terms after it.
    search.rows_above(stump, above);
    const PerSlot factor = state.add_stump(above, {fires_above, alpha, low});
    const double z = mixture.update(factor);
    alpha_sum += alpha;
    log_objective += rho * alpha + std::log(z);
    if (state.is_stale()) {
      state.refresh();
      mixture.recompute(state.log_totals(), state.log_weights());
      log_objective = mixture.log_risk() + rho * alpha_sum;
    }

    const double threshold = threshold_of(stump, train, search);
    result.features.push_back(static_cast<std::int32_t>(stump.feature));
    result.thresholds.push_back(threshold);
    result.polarity.push_back(fires_above ? 1 : -1);
    result.alphas.push_back(alpha);
    result.deltas.push_back(delta);
    result.z.push_back(z);
    result.objective.push_back(log_objective);
    result.best_round = round;

    BoostRound info{round,
                    stump.feature,
                    threshold,
                    fires_above ? 1 : -1,
                    delta,
                    alpha,
                    z,
                    log_objective,
                    std::numeric_limits<double>::quiet_NaN()};
    bool stop_early = false;
    if (judge != nullptr) {
      info.eval_auc = judge->add_stump(stump.feature, threshold, stump.cut, fires_above, alpha, low);
      result.eval_auc.push_back(info.eval_auc);
      if (info.eval_auc > best_auc) {
        best_auc = info.eval_auc;
        best_auc_round = round;
      }
      if (options.early_stopping_rounds > 0) {
        result.best_round = best_auc_round;
        stop_early = round - result.best_round >= options.early_stopping_rounds;
      }
    }
    team.poll();
    if (callback && callback(info)) {
      result.status = BoostStatus::callback;
      break;
    }
    if (delta >= kPerfect) {
      result.status = BoostStatus::perfect;
      break;
    }
    if (stop_early) {
      result.status = BoostStatus::early_stopping;
      break;
    }
  }
  return result;
}

}  // namespace fastpu
