// Loss "pnu_auc" for trees: log R for the risk R of the loss "auc" for stumps. With A_G = mean_G e^-F, B_G = mean_G e^F
// and the shares that the three products of these have in R,
//     d log R / d log A_P = the share of the products with A_P,     d log A_P / d F_i = -w_i e^-F_i / sum_P w e^-F,
// and so on.
#include <cmath>

#include "boosting/boost_loss.hpp"
#include "boosting/loss_formula.hpp"
#include "common/check_option.hpp"

namespace fastpu::detail {

namespace {

class PnuAucFormula final : public LossFormula {
 public:
  explicit PnuAucFormula(double gamma) { options_.gamma = gamma; }

  bool is_exponential() const override { return true; }

  double objective(const LossMeans& means) const override {
    return BoostLoss(options_, means.weight).recompute(means.mean);
  }

  LossSlopes slopes(const LossMeans& means) const override {
    BoostLoss loss(options_, means.weight);
    loss.recompute(means.mean);
    const PerSlot shares = loss.slot_shares();
    const double log_n = std::log(means.n());
    // log of n times the share of a slot over its sum
    const auto exponent = [&](ExpSlot slot, double weight) {
      return shares[slot] > 0 ? log_n + std::log(shares[slot]) - means.mean[slot] - std::log(weight) : -kInfinity;
    };
    LossSlopes slopes;
    slopes.plus = {exponent(kRisingNegative, means.weight.negative),
                   exponent(kRisingUnlabelled, means.weight.unlabelled), -kInfinity};
    slopes.minus = {-kInfinity, exponent(kFallingUnlabelled, means.weight.unlabelled),
                    exponent(kFallingPositive, means.weight.positive)};
    return slopes;
  }

 private:
  BoostLossOptions options_;
};

}  // namespace

std::unique_ptr<LossFormula> make_pnu_auc_formula(double gamma) {
  check_option(gamma >= 0 && gamma <= 1, "gamma", "in [0, 1]", gamma);
  return std::make_unique<PnuAucFormula>(gamma);
}

}  // namespace fastpu::detail
