#include "fastpu/boosting/stump_boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "boosting/boost_loss.hpp"
#include "boosting/boost_state.hpp"
#include "boosting/eval_auc.hpp"
#include "boosting/stump_search.hpp"
#include "data/float_key.hpp"

namespace fastpu {

namespace {

using detail::BoostLoss;
using detail::BoostState;
using detail::Boundary;
using detail::EvalAuc;
using detail::kPerfect;
using detail::PerSlot;
using detail::RowBits;
using detail::StumpSearch;

void check(const StumpBoostOptions& options, const BoostTrainingSet& train, const BoostEvalSet* eval) {
  if (!(options.stop_tol >= 0) || std::isinf(options.stop_tol)) {
    throw std::invalid_argument("stop_tol must be in [0, inf), got " + std::to_string(options.stop_tol));
  }
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
  if (train.order != nullptr && eval != nullptr && std::holds_alternative<const BinnedFeatures*>(eval->features)) {
    throw std::invalid_argument("eval_set may hold BinnedFeatures only where X does");
  }
  for (index_t e = 0; train.categorical != nullptr && e < train.features->n_features; ++e) {
    if (train.categorical[e] == 0 || (!train.features->is_sparse() && train.features->cuts->are_of_categories(e)))
      continue;
    throw std::invalid_argument("feature " + std::to_string(e) + " is not binned by categories");
  }
  if (train.categorical != nullptr && eval != nullptr &&
      std::visit([](const auto& x) { return requires { x.row_start; }; }, eval->features)) {
    throw std::invalid_argument("eval_set must be dense where features are categorical");
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

// The shares of the sums of all groups that lie on the firing side of a stump.
PerSlot firing_shares(const Boundary& stump, bool fires_above, const StumpSearch& search, const BoostState& state) {
  const PerSlot above = search.sums_above(stump);
  PerSlot fires{};
  for (std::size_t k = 0; k < detail::kSlots; ++k) {
    const double share = state.sums()[k] > 0 ? std::min(1.0, above[k] / state.sums()[k]) : 0.0;
    fires[k] = fires_above ? share : 1.0 - share;
  }
  return fires;
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
  const std::unique_ptr<BoostLoss> loss =
      make_boost_loss(options.loss, detail::group_weights(*train.features, train.labels, train.sample_weight));
  const double low = loss->low();
  const double rho = loss->penalty();
  const PerSlot shares = loss->slot_shares();
  const bool use_unlabelled = shares[detail::kUnlabelledPlus] + shares[detail::kUnlabelledMinus] > 0;
  BoostState state(*train.features, train.labels, train.sample_weight, use_unlabelled, options.isa, team);
  StumpSearch search(state, train.order, train.categorical, low, team);
  std::unique_ptr<EvalAuc> judge;
  if (eval != nullptr) judge = std::make_unique<EvalAuc>(*eval, *train.features);

  StumpBoostResult result;
  result.low = low;
  RowBits above(static_cast<std::size_t>(state.n_words()));
  double log_objective = loss->recompute(state.log_means());
  double alpha_sum = 0;
  double best_auc = -1;
  index_t best_auc_round = 0;

  for (index_t round = 1; round <= options.n_rounds; ++round) {
    // The stump of largest |gain|, turned so that its gain is positive.
    const Boundary stump = search.best(state.gain_coefs(loss->slot_shares()));
    const double delta = std::min(1.0, std::abs(stump.score));
    result.last_gain = delta - rho;
    if (stump.feature < 0 || std::min(delta, kPerfect) <= rho + options.stop_tol) {
      result.status = BoostStatus::no_gain;
      break;
    }
    const bool fires_above = stump.score > 0;

    // The weight of the stump.
    const double alpha = loss->step(delta, [&] { return firing_shares(stump, fires_above, search, state); });

    // The weights of the rows, the groups and the terms after the stump has been added.
    search.rows_above(stump, above);
    const double z = loss->update(state.add_stump(above, {fires_above, alpha, low}));
    alpha_sum += alpha;
    log_objective += rho * alpha + std::log(z);
    if (state.is_stale()) {
      state.refresh();
      log_objective = loss->recompute(state.log_means()) + rho * alpha_sum;
    }

    const double threshold =
        stump.by_categories ? static_cast<double>(result.sets.size()) : threshold_of(stump, train, search);
    if (stump.by_categories) result.sets.push_back(stump.codes);
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
      info.eval_auc = judge->add_stump(
          {stump.feature, threshold, stump.cut, stump.by_categories ? &stump.codes : nullptr}, fires_above, alpha, low);
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
