// The losses that stumps are boosted for. The risk of the first is that of the loss "pnu_auc" for trees, too. To add
// one, write its formula here, and its terms and its line in the list in boost_loss.cpp.
//
// The risk R of a loss is a sum of terms, each of which is a weight times the mean of one slot, or times the means of
// two. A slot is a sum of exponentials, so that a stump multiplies row weights by constants, and a round only changes
// the rows on the smaller side of its stump. With E_G the weighted mean over group G, the losses are
//
//     auc   (PNUAUCBoost; RankBoost when there is no U)
//           R(f) = l_PN E_P[e^-f] E_N[e^f] + l_PU E_P[e^-f] E_U[e^f] + l_UN E_U[e^-f] E_N[e^f],
//           (l_PN, l_PU, l_UN) = (gamma, (1-gamma)/2, (1-gamma)/2), or 1 for the only pair that has both its groups,
//           minimised as J(f) = R(f) exp(rho sum_t alpha_t) over stumps that vote 1 or 0. With a, d the weights of P, N
//           and b, c those of U, each summing to 1 over its group, and pi the shares of the terms in R, the gains of
//           the rows are  g = (pi_PN + pi_PU) a on P,  pi_UN c - pi_PU b on U,  -(pi_PN + pi_UN) d on N.
//     ada   (PNU-AdaBoost: AdaBoost on P, N and U taken twice, as positives and as negatives)
//           R(f) = (1-gamma)/2 (E_P[e^-f] + E_U[e^f]) + gamma/2 (E_U[e^-f] + E_N[e^f]),
//           without the terms of missing groups and with the rest scaled to sum 1, over stumps that vote 1 or -1. The
//           gain of a stump is its edge, and atanh(edge) is both the Jensen step and the line search.
#pragma once

#include <functional>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/row_weights.hpp"

namespace fastpu::detail {

inline constexpr double kPerfect = 1.0 - 1e-6;  // a larger gain counts as perfect, and gets the step of this gain

// weight * m_first * m_second, or weight * m_first where second is kSlots.
struct RiskTerm {
  double weight;
  Slot first;
  Slot second = kSlots;
  double share = weight;  // in the risk; at f = 0, where all means are 1, it is the weight
};

class BoostLoss {
 public:
  // Throws std::invalid_argument for an unknown name, a parameter out of range, or fewer than two groups that hold
  // weight.
  BoostLoss(const BoostLossOptions& options, const PerGroup& weights);

  // The vote of a stump where it does not fire; it votes 1 where it does.
  double low() const { return low_; }
  // rho in the objective R(f) exp(rho sum_t alpha_t).
  double penalty() const { return penalty_; }
  // The step along a stump of this gain > 0; firing_shares() computes the share of each slot on its firing side.
  double step(double gain, const std::function<PerSlot()>& firing_shares) const;

  // Takes the logarithms of the means of the slots; returns log R.
  double recompute(const PerSlot& log_means);
  // Takes the factors by which the means changed; returns the factor of R.
  double update(const PerSlot& factors);
  // d log R / d log m_k for the means m_k of the slots, from which the gains of all rows follow
  // (BoostState::gain_coefs).
  PerSlot slot_shares() const;

 private:
  double line_search(double jensen, const PerSlot& firing_shares) const;
  void divide_shares(double sum);

  BoostLossOptions options_;
  double low_;
  double penalty_;
  std::vector<RiskTerm> terms_;  // their weights sum to 1, and none is 0
};

}  // namespace fastpu::detail
