// The terms of the risk and their shares: how the four group weights of the rows combine to gains.
#pragma once

#include <array>
#include <utility>

#include "boosting/boost_state.hpp"
#include "fastpu/boosting/boost_problem.hpp"

namespace fastpu::detail {

// Sums of sample weights.
struct GroupWeights {
  double positive = 0;
  double unlabelled = 0;
  double negative = 0;
};

GroupWeights group_weights(const BinnedFeatures& features, const std::int8_t* labels, const double* sample_weight);

// Loss auc: the shares pi_PN, pi_PU, pi_UN of the pair terms. Loss ada: the shares of the four slots.
class BoostMixture {
 public:
  // Throws std::invalid_argument if fewer than two groups hold weight.
  BoostMixture(BoostLoss loss, double gamma, const GroupWeights& weights);

  bool uses_unlabelled() const;
  // Shares and risk from the group totals and their values at f = 0.
  void recompute(const PerSlot& log_totals, const PerSlot& log_weights);
  // Shares after the group totals changed by these factors; returns the factor of the risk.
  double update(const PerSlot& factor);
  // log of the risk at the last recompute.
  double log_risk() const { return log_risk_; }
  // Gains of rows whose weights sum to `sums`.
  GainCoefs gain_coefs(const PerSlot& sums) const;
  // Loss auc: shares of the pairs that a stump orders rightly and wrongly; it fires on these shares of the groups.
  std::pair<double, double> ordered(const PerSlot& fires) const;

 private:
  static constexpr std::size_t kTerms = 4;
  double term(std::size_t t, const PerSlot& factor) const;
  PerSlot slot_shares() const;

  BoostLoss loss_;
  std::array<double, kTerms> prior_{};  // weights of the terms at f = 0, sum 1
  std::array<double, kTerms> share_{};
  double log_risk_ = 0;
};

}  // namespace fastpu::detail
