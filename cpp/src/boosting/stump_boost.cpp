#include "fastpu/boosting/stump_boost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "boosting/boost_loss.hpp"
#include "boosting/boost_state.hpp"
#include "boosting/eval_auc.hpp"
#include "boosting/local_stump_rows.hpp"
#include "boosting/stump_search.hpp"
#include "common/check_option.hpp"
#include "data/float_key.hpp"
#include "fastpu/common/early_stopping.hpp"

namespace fastpu {

namespace {

using detail::BoostLoss;
using detail::BoostState;
using detail::Boundary;
using detail::EvalAuc;
using detail::kPerfect;
using detail::LocalStumpRows;
using detail::StumpSearch;

void check(const StumpBoostOptions& options, const BoostTrainingSet& train, const BoostEvalSet* eval) {
  const bool is_finite = options.stop_tol >= 0 && std::isfinite(options.stop_tol);
  detail::check_option(is_finite, "stop_tol", "in [0, inf)", options.stop_tol);
  detail::check_at_least("n_rounds", options.n_rounds, 1);
  detail::check_at_least("early_stopping_rounds", options.early_stopping_rounds, 0);
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
  const auto& rows = train.order->rows[at(search.order_of(boundary.feature))];
  const auto value = [&](index_t position) {
    const double x = train.value(rows[position] & FeatureOrder::kRow, boundary.feature);
    return std::isnan(x) ? -kInfinity : x;
  };
  return detail::midpoint_threshold(value(boundary.position - 1), value(boundary.position));
}

// The shares of the sums of all groups that lie on the firing side of a stump.
PerSlot firing_shares(const Boundary& stump, bool fires_above, const StumpSearch& search, const BoostState& state) {
  const PerSlot above = search.sums_above(stump);
  PerSlot fires{};
  for (std::size_t k = 0; k < kSlots; ++k) {
    const double share = state.sums()[k] > 0 ? std::min(1.0, above[k] / state.sums()[k]) : 0.0;
    fires[k] = fires_above ? share : 1.0 - share;
  }
  return fires;
}

// One fit. If the rows are held here and ordered, `local` is `rows`; otherwise it is null.
class StumpBooster {
 public:
  StumpBooster(const BoostTrainingSet& train, StumpRows& rows, const LocalStumpRows* local, const BoostEvalSet* eval,
               const StumpBoostOptions& options, Team& team)
      : train_(train),
        options_(options),
        loss_(options, rows.groups().weight),
        state_(*train.features, rows, uses_unlabelled(loss_), team),
        search_(state_, train.order, local, train.categorical, loss_.low(), team),
        stopping_(options.early_stopping_rounds),
        team_(team) {
    if (eval != nullptr) judge_ = std::make_unique<EvalAuc>(*eval, *train.features, team);
    result_.low = loss_.low();
    log_objective_ = loss_.recompute(state_.log_means());
  }

  StumpBoostResult run(const BoostCallback& callback) {
    while (true) {
      if (n_rounds() > 0 && result_.deltas.back() >= kPerfect) return finished(BoostStatus::perfect);
      if (stopping_.is_over()) return finished(BoostStatus::early_stopping);
      if (n_rounds() >= options_.n_rounds) return finished(BoostStatus::n_rounds);

      // The stump of largest |gain|, turned so that its gain is positive.
      const Boundary stump = search_.best(state_.gain_coefs(loss_.slot_shares()));
      const double delta = std::min(1.0, std::abs(stump.score));
      result_.last_gain = delta - loss_.penalty();
      if (stump.feature < 0 || std::min(delta, kPerfect) <= loss_.penalty() + options_.stop_tol) {
        return finished(BoostStatus::no_gain);
      }
      const bool fires_above = stump.score > 0;

      // The weight of the stump.
      const double alpha = loss_.step(delta, [&] { return firing_shares(stump, fires_above, search_, state_); });

      // The weights of the rows, the groups and the terms after the stump has been added.
      const double z = loss_.update(state_.add_stump(stump, fires_above, alpha, loss_.low()));
      alpha_sum_ += alpha;
      log_objective_ += loss_.penalty() * alpha + std::log(z);
      if (state_.is_stale()) refresh();

      const BoostRound info = record(stump, fires_above, alpha, delta, z, log_objective_);
      team_.poll();
      if (callback && callback(info)) return finished(BoostStatus::callback);
    }
  }

 private:
  static bool uses_unlabelled(const BoostLoss& loss) {
    const PerSlot shares = loss.slot_shares();
    return shares[kUnlabelledPlus] + shares[kUnlabelledMinus] > 0;
  }

  index_t n_rounds() const { return static_cast<index_t>(result_.features.size()); }

  void refresh() {
    state_.refresh();
    log_objective_ = loss_.recompute(state_.log_means()) + loss_.penalty() * alpha_sum_;
  }

  BoostRound record(const Boundary& stump, bool fires_above, double alpha, double delta, double z, double objective) {
    const double threshold =
        stump.by_categories ? static_cast<double>(result_.sets.size()) : threshold_of(stump, train_, search_);
    if (stump.by_categories) result_.sets.push_back(stump.codes);
    result_.features.push_back(static_cast<std::int32_t>(stump.feature));
    result_.thresholds.push_back(threshold);
    result_.polarity.push_back(fires_above ? 1 : -1);
    result_.missing_above.push_back(stump.missing_above ? 1 : 0);
    result_.alphas.push_back(alpha);
    result_.deltas.push_back(delta);
    result_.z.push_back(z);
    result_.objective.push_back(objective);
    result_.best_round = n_rounds();
    BoostRound info{n_rounds(),
                    stump.feature,
                    threshold,
                    fires_above ? 1 : -1,
                    delta,
                    alpha,
                    z,
                    objective,
                    std::numeric_limits<double>::quiet_NaN()};
    if (judge_ == nullptr) return info;
    info.eval_auc = judge_->add_stump(stump, threshold, fires_above, alpha, loss_.low());
    result_.eval_auc.push_back(info.eval_auc);
    stopping_.add(info.eval_auc);
    if (options_.early_stopping_rounds > 0) result_.best_round = stopping_.best_round();
    return info;
  }

  StumpBoostResult finished(BoostStatus status) {
    result_.status = status;
    return std::move(result_);
  }

  const BoostTrainingSet& train_;
  const StumpBoostOptions& options_;
  BoostLoss loss_;
  BoostState state_;
  StumpSearch search_;
  EarlyStopping stopping_;
  Team& team_;
  std::unique_ptr<EvalAuc> judge_;
  StumpBoostResult result_;
  double log_objective_ = 0;
  double alpha_sum_ = 0;
};

}  // namespace

StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team) {
  check(options, train, eval);
  LocalStumpRows rows(train, team);
  return StumpBooster(train, rows, &rows, eval, options, team).run(callback);
}

StumpBoostResult stump_boost_as_member(const BoostTrainingSet& own, MemberExchange& exchange, const BoostEvalSet* eval,
                                       const StumpBoostOptions& options, const BoostCallback& callback, Team& team) {
  check(options, own, eval);
  std::unique_ptr<StumpRows> own_rows;
  if (own.labels != nullptr) own_rows = make_stump_rows(own, team);
  const std::unique_ptr<StumpRows> rows = join_stump_rows(std::move(own_rows), *own.features, exchange);
  return StumpBooster(own, *rows, nullptr, eval, options, team).run(callback);
}

}  // namespace fastpu
