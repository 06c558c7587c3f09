// Loss "ada" (PNU-AdaBoost): AdaBoost on P, N and U taken twice, as positives and as negatives,
//     R(f) = (1-gamma)/2 (E_P[e^-f] + E_U[e^f]) + gamma/2 (E_U[e^-f] + E_N[e^f]),
// without the terms of missing groups and with the rest scaled to sum 1, over stumps that vote 1 or -1. The gain of a
// stump is its edge, and atanh(edge) is both the Jensen step and the line search.
#include <stdexcept>
#include <string>

#include "boosting/boost_loss.hpp"
#include "common/to_text.hpp"

namespace fastpu::detail {

namespace {

std::vector<RiskTerm> class_terms(double gamma, const GroupWeights& weights) {
  const bool has_unlabelled = weights.unlabelled > 0;
  const double positive = weights.positive > 0 ? (1 - gamma) / 2 : 0;
  const double unlabelled_plus = has_unlabelled ? gamma / 2 : 0;
  const double negative = weights.negative > 0 ? gamma / 2 : 0;
  const double unlabelled_minus = has_unlabelled ? (1 - gamma) / 2 : 0;
  const double plus = positive + unlabelled_plus;
  const double minus = negative + unlabelled_minus;
  if (!(plus > 0) || !(minus > 0)) {
    throw std::invalid_argument("gamma = " + to_text(gamma) +
                                " leaves only one class of positive weight with these labels; choose gamma in (0, 1)");
  }
  const double sum = plus + minus;
  return {{unlabelled_minus / sum, kUnlabelledMinus},
          {unlabelled_plus / sum, kUnlabelledPlus},
          {negative / sum, kLabelledMinus},
          {positive / sum, kLabelledPlus}};
}

class AdaLoss final : public BoostLoss {
 public:
  AdaLoss(double gamma, const GroupWeights& weights) : BoostLoss(class_terms(gamma, weights)) {}

  double low() const override { return -1; }
  double penalty() const override { return 0; }
  double step(double gain, const std::function<PerSlot()>&) const override { return jensen_step(gain, 0); }
};

}  // namespace

std::unique_ptr<BoostLoss> make_ada_loss(const BoostLossOptions& options, const GroupWeights& weights) {
  if (options.step != BoostStep::jensen) {
    throw std::invalid_argument("step must be 'jensen' for the loss of AdaBoost, where it is the line search too");
  }
  return std::make_unique<AdaLoss>(options.gamma, weights);
}

}  // namespace fastpu::detail
