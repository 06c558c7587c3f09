// Loss "auc" (PNUAUCBoost; RankBoost when there is no U): with E_G the weighted mean over group G,
//     R(f) = l_PN E_P[e^-f] E_N[e^f] + l_PU E_P[e^-f] E_U[e^f] + l_UN E_U[e^-f] E_N[e^f],
//     (l_PN, l_PU, l_UN) = (gamma, (1-gamma)/2, (1-gamma)/2), or 1 for the only pair that has both its groups,
// minimised as J(f) = R(f) exp(rho sum_t alpha_t) over stumps that vote 1 or 0. With a, d the weights of P, N and b, c
// those of U, each summing to 1 over its group, and pi the shares of the terms in R, the gains of the rows are
//     g = (pi_PN + pi_PU) a on P,  pi_UN c - pi_PU b on U,  -(pi_PN + pi_UN) d on N.
#include <algorithm>
#include <cmath>

#include "boosting/boost_loss.hpp"

namespace fastpu::detail {

namespace {

std::vector<RiskTerm> pair_terms(double gamma, const GroupWeights& weights) {
  if (!(weights.unlabelled > 0)) return {{1, kLabelledPlus, kLabelledMinus}};
  if (!(weights.negative > 0)) return {{1, kLabelledPlus, kUnlabelledMinus}};
  if (!(weights.positive > 0)) return {{1, kUnlabelledPlus, kLabelledMinus}};
  return {{gamma, kLabelledPlus, kLabelledMinus},
          {(1 - gamma) / 2, kLabelledPlus, kUnlabelledMinus},
          {(1 - gamma) / 2, kUnlabelledPlus, kLabelledMinus}};
}

class AucLoss final : public BoostLoss {
 public:
  AucLoss(const BoostLossOptions& options, const GroupWeights& weights)
      : BoostLoss(pair_terms(options.gamma, weights)), rho_(options.rho), step_(options.step) {}

  double low() const override { return 0; }
  double penalty() const override { return rho_; }
  double step(double gain, const std::function<PerSlot()>& firing_shares) const override {
    const double jensen = jensen_step(gain, rho_);
    return step_ == BoostStep::jensen ? jensen : line_search(jensen, firing_shares());
  }

 private:
  // Minimises e^{rho alpha} (W+ e^-alpha + W0 + W- e^alpha) over the pairs that the stump orders rightly, not, wrongly.
  double line_search(double jensen, const PerSlot& firing_shares) const {
    double right = 0;
    double wrong = 0;
    for (const RiskTerm& term : terms()) {
      right += term.share * firing_shares[term.first] * (1 - firing_shares[term.second]);
      wrong += term.share * (1 - firing_shares[term.first]) * firing_shares[term.second];
    }
    const double rest = std::max(0.0, 1.0 - right - wrong);
    const double most = std::atanh(kPerfect);
    // The positive root of (1 + rho) W- x^2 + rho W0 x - (1 - rho) W+ = 0 for x = e^alpha, in the form without
    // cancellation.
    const double root = std::sqrt(rho_ * rho_ * rest * rest + 4.0 * (1.0 - rho_ * rho_) * right * wrong);
    const double below = rho_ * rest + root;
    if (!(below > 0)) return most;
    const double alpha = std::log(2.0 * (1.0 - rho_) * right / below);
    // Never shorter than the Jensen step, up to rounding where right and wrong are close to it.
    return std::min(most, std::max(alpha, jensen));
  }

  double rho_;
  BoostStep step_;
};

}  // namespace

std::unique_ptr<BoostLoss> make_auc_loss(const BoostLossOptions& options, const GroupWeights& weights) {
  return std::make_unique<AucLoss>(options, weights);
}

}  // namespace fastpu::detail
