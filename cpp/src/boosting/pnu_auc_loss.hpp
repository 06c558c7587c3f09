// Loss "pnu_auc" for trees: log R for the risk R of the loss "auc" for stumps. With A_G = mean_G e^-F, B_G = mean_G e^F
// and the shares that the three products of these have in R,
//     d log R / d log A_P = the share of the products with A_P,     d log A_P / d F_i = -w_i e^-F_i / sum_P w e^-F,
// and so on. It is the one loss that is computed from logarithms of means, for e^F may be more than a number holds, so
// it has passes of its own (pnu_auc_passes.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "boosting/boost_loss.hpp"
#include "boosting/loss_formula.hpp"
#include "common/check_option.hpp"

namespace fastpu::detail {

class PnuAucLoss final : public LossFormula {
 public:
  static constexpr TreeLossInfo kInfo{
      .name = "pnu_auc", .takes_negatives = true, .needs_gamma = true, .needs_log_weights = true};

  explicit PnuAucLoss(const TreeLossOptions& options) {
    check_option(options.gamma >= 0 && options.gamma <= 1, "gamma", "in [0, 1]", options.gamma);
    options_.gamma = options.gamma;
  }

  void check_groups(const PerGroup& weight) const override { BoostLoss(options_, weight); }

  double objective(const LossMeans& means) const override {
    return BoostLoss(options_, means.weight).recompute(logarithms(means));
  }

  // By the logarithms of the means.
  LossSlopes partials(const LossMeans& means) const override {
    BoostLoss loss(options_, means.weight);
    loss.recompute(logarithms(means));
    const PerSlot shares = loss.slot_shares();
    LossSlopes by;
    by.slope[kPlus] = {shares[kRisingNegative], shares[kRisingUnlabelled], 0};
    by.slope[kMinus] = {0, shares[kFallingUnlabelled], shares[kFallingPositive]};
    return by;
  }

  LossScale scale(const TreeLossTops& tops) const override {
    LossScale scale;
    scale.weight = scale_below(tops.values[kTopWeight]);
    const auto has_rows = [&](ExpSlot slot) { return std::isfinite(tops.values[slot]); };
    const auto offset = [&](ExpSlot slot) { return has_rows(slot) ? -tops.values[slot] : -kInfinity; };
    scale.rising.negative = offset(kRisingNegative);
    scale.falling.positive = offset(kFallingPositive);
    // Rows of U are summed for their products with P and with N.
    if (has_rows(kFallingPositive)) scale.rising.unlabelled = offset(kRisingUnlabelled);
    if (has_rows(kRisingNegative)) scale.falling.unlabelled = offset(kFallingUnlabelled);
    return scale;
  }

  void read_means(const TreeLossTops& tops, const TreeLossSums& sums, LossMeans& means) const override {
    const PerGroup& w = means.weight;
    const std::array<double, kExpSlots> weights{w.unlabelled, w.unlabelled, w.negative, w.positive};
    for (int slot = 0; slot < kExpSlots; ++slot) {
      const auto k = static_cast<std::size_t>(slot);
      means.mean[k] = tops.values[k] + std::log(whole_sum(sums, slot)) - std::log(weights[k]);
    }
  }

  // n times the share of a slot over its sum, as factors of exponentials with the offsets of `scale`.
  LossSlopes slopes(const LossScale& scale, const LossMeans& means) const override {
    LossSlopes slopes = partials(means);
    const double log_n = std::log(means.n());
    const auto factor = [&](double& share, ExpSlot slot, double weight, double offset) {
      const double exponent = share > 0 ? log_n + std::log(share) - means.mean[slot] - std::log(weight) : -kInfinity;
      share = exponent > -kInfinity ? std::exp(exponent - offset) : 0.0;
    };
    const PerGroup& w = means.weight;
    factor(slopes.slope[kPlus].negative, kRisingNegative, w.negative, scale.rising.negative);
    factor(slopes.slope[kPlus].unlabelled, kRisingUnlabelled, w.unlabelled, scale.rising.unlabelled);
    factor(slopes.slope[kMinus].unlabelled, kFallingUnlabelled, w.unlabelled, scale.falling.unlabelled);
    factor(slopes.slope[kMinus].positive, kFallingPositive, w.positive, scale.falling.positive);
    return slopes;
  }

  // |g| and h of a row are n times its shares in the slots that it is summed in, and the shares of all rows in the two
  // slots of a product sum to 2. A factor allows for the rounding of the exponents.
  TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& /*sums*/, const LossMeans& means) const override {
    constexpr double kRounding = 1e-15;
    double size = 1;
    for (int slot = 0; slot < kExpSlots; ++slot) {
      const double top = tops.values[at(slot)];
      if (std::isfinite(top)) size = std::max(size, std::abs(top));
    }
    const double n = means.n();
    const double sum = 2 * n * std::min(std::exp(kRounding * size), kMostSize);
    const double all = sum_of_squares(n, means.weight.positive) + sum_of_squares(n, means.weight.unlabelled) +
                       sum_of_squares(n, means.weight.negative);
    return {sum, sum, all / (2 * n)};
  }

 private:
  static PerSlot logarithms(const LossMeans& means) {
    return {means.mean[0], means.mean[1], means.mean[2], means.mean[3]};
  }

  BoostLossOptions options_;
};

}  // namespace fastpu::detail
