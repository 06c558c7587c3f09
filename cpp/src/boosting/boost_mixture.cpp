#include "boosting/boost_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace fastpu::detail {

namespace {

// The terms of loss auc; those of loss ada are the slots themselves.
enum Term : std::size_t { kPN, kPU, kUN };

// The two slots whose totals multiply to a term of loss auc. (There is no fourth term: its weight is 0.)
constexpr std::array<std::size_t, 4> kFirst = {kLabelledPlus, kLabelledPlus, kUnlabelledPlus, 0};
constexpr std::array<std::size_t, 4> kSecond = {kLabelledMinus, kUnlabelledMinus, kLabelledMinus, 0};

}  // namespace

GroupWeights group_weights(const BinnedFeatures& features, const std::int8_t* labels, const double* sample_weight) {
  GroupWeights sums;
  for (index_t i = 0; i < features.n_rows; ++i) {
    if (labels[i] < -1 || labels[i] > 1) {
      throw std::invalid_argument("labels must be +1, 0 or -1, got " + std::to_string(labels[i]) + " in row " +
                                  std::to_string(i));
    }
    const double w = sample_weight != nullptr ? sample_weight[i] : 1.0;
    (labels[i] > 0 ? sums.positive : labels[i] < 0 ? sums.negative : sums.unlabelled) += w;
  }
  return sums;
}

BoostMixture::BoostMixture(BoostLoss loss, double gamma, const GroupWeights& weights) : loss_(loss) {
  const bool p = weights.positive > 0;
  const bool u = weights.unlabelled > 0;
  const bool n = weights.negative > 0;
  if (int{p} + int{u} + int{n} < 2) {
    throw std::invalid_argument(
        "y must hold at least two of positive (+1), unlabelled (0) and negative (-1) rows of "
        "positive weight, got weights " +
        std::to_string(weights.positive) + ", " + std::to_string(weights.unlabelled) + ", " +
        std::to_string(weights.negative));
  }
  if (loss_ == BoostLoss::auc) {
    if (p && u && n) {
      prior_ = {gamma, (1 - gamma) / 2, (1 - gamma) / 2, 0};
    } else {
      prior_[!u ? kPN : !n ? kPU : kUN] = 1;
    }
  } else {
    prior_[kLabelledPlus] = p ? (1 - gamma) / 2 : 0;
    prior_[kUnlabelledPlus] = u ? gamma / 2 : 0;
    prior_[kLabelledMinus] = n ? gamma / 2 : 0;
    prior_[kUnlabelledMinus] = u ? (1 - gamma) / 2 : 0;
    const double plus = prior_[kLabelledPlus] + prior_[kUnlabelledPlus];
    const double minus = prior_[kLabelledMinus] + prior_[kUnlabelledMinus];
    if (!(plus > 0) || !(minus > 0)) {
      throw std::invalid_argument(
          "gamma = " + std::to_string(gamma) +
          " leaves only one class of positive weight with these labels; choose gamma in (0, 1)");
    }
    for (double& weight : prior_) weight /= plus + minus;
  }
  share_ = prior_;
}

bool BoostMixture::uses_unlabelled() const {
  return loss_ == BoostLoss::auc ? prior_[kPU] + prior_[kUN] > 0
                                 : prior_[kUnlabelledPlus] + prior_[kUnlabelledMinus] > 0;
}

void BoostMixture::recompute(const PerSlot& log_totals, const PerSlot& log_weights) {
  std::array<double, kTerms> logs{};
  logs.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t t = 0; t < kTerms; ++t) {
    if (!(prior_[t] > 0)) continue;
    const auto mean = [&](std::size_t slot) { return log_totals[slot] - log_weights[slot]; };
    logs[t] = std::log(prior_[t]) + (loss_ == BoostLoss::auc ? mean(kFirst[t]) + mean(kSecond[t]) : mean(t));
  }
  const double top = std::ranges::max(logs);
  double sum = 0;
  for (std::size_t t = 0; t < kTerms; ++t) sum += share_[t] = std::exp(logs[t] - top);
  for (double& share : share_) share /= sum;
  log_risk_ = top + std::log(sum);
}

double BoostMixture::term(std::size_t t, const PerSlot& factor) const {
  if (!(prior_[t] > 0)) return 0;
  return share_[t] * (loss_ == BoostLoss::auc ? factor[kFirst[t]] * factor[kSecond[t]] : factor[t]);
}

double BoostMixture::update(const PerSlot& factor) {
  double z = 0;
  for (std::size_t t = 0; t < kTerms; ++t) z += share_[t] = term(t, factor);
  for (double& share : share_) share /= z;
  return z;
}

PerSlot BoostMixture::slot_shares() const {
  if (loss_ == BoostLoss::ada) return share_;
  PerSlot slots{};
  slots[kUnlabelledMinus] = share_[kPU];
  slots[kUnlabelledPlus] = share_[kUN];
  slots[kLabelledMinus] = share_[kPN] + share_[kUN];
  slots[kLabelledPlus] = share_[kPN] + share_[kPU];
  return slots;
}

GainCoefs BoostMixture::gain_coefs(const PerSlot& sums) const {
  PerSlot coef = slot_shares();
  for (std::size_t k = 0; k < kSlots; ++k) coef[k] = sums[k] > 0 ? coef[k] / sums[k] : 0.0;
  return {coef[kUnlabelledMinus], coef[kUnlabelledPlus], coef[kLabelledMinus], coef[kLabelledPlus]};
}

std::pair<double, double> BoostMixture::ordered(const PerSlot& fires) const {
  double right = 0;
  double wrong = 0;
  for (const std::size_t t : {kPN, kPU, kUN}) {
    right += share_[t] * fires[kFirst[t]] * (1 - fires[kSecond[t]]);
    wrong += share_[t] * (1 - fires[kFirst[t]]) * fires[kSecond[t]];
  }
  return {right, wrong};
}

}  // namespace fastpu::detail
