#include "boosting/boost_loss.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "common/check_option.hpp"

namespace fastpu::detail {

namespace {

std::vector<RiskTerm> pair_terms(double gamma, const PerGroup& weights) {
  if (!(weights.unlabelled > 0)) return {{1, kLabelledPlus, kLabelledMinus}};
  if (!(weights.negative > 0)) return {{1, kLabelledPlus, kUnlabelledMinus}};
  if (!(weights.positive > 0)) return {{1, kUnlabelledPlus, kLabelledMinus}};
  return {{gamma, kLabelledPlus, kLabelledMinus},
          {(1 - gamma) / 2, kLabelledPlus, kUnlabelledMinus},
          {(1 - gamma) / 2, kUnlabelledPlus, kLabelledMinus}};
}

std::vector<RiskTerm> class_terms(double gamma, const PerGroup& weights) {
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

struct StumpLoss {
  StumpLossInfo info;
  std::vector<RiskTerm> (*terms)(double gamma, const PerGroup& weights);
};

constexpr StumpLoss kStumpLosses[] = {
    {{.name = "auc", .low = 0, .only_ranks = true}, pair_terms},
    {{.name = "ada", .low = -1, .only_ranks = false}, class_terms},
};

const StumpLoss& loss_of(const std::string& name) {
  for (const StumpLoss& loss : kStumpLosses) {
    if (name == loss.info.name) return loss;
  }
  throw std::invalid_argument("there is no loss '" + name + "'");
}

void check(const StumpLossInfo& loss, const BoostLossOptions& options, const PerGroup& weights) {
  check_option(options.gamma >= 0 && options.gamma <= 1, "gamma", "in [0, 1]", options.gamma);
  check_option(options.rho >= 0 && options.rho < 1, "rho", "in [0, 1)", options.rho);
  if (loss.low != 0 && options.step != BoostStep::jensen) {
    throw std::invalid_argument("step must be 'jensen' for the loss '" + options.loss +
                                "', which has no other step along a stump");
  }
  if (int{weights.positive > 0} + int{weights.unlabelled > 0} + int{weights.negative > 0} < 2) {
    throw std::invalid_argument(
        "y must hold at least two of positive (+1), unlabelled (0) and negative (-1) rows of "
        "positive weight, got weights " +
        to_text(weights.positive) + ", " + to_text(weights.unlabelled) + ", " + to_text(weights.negative));
  }
}

}  // namespace

}  // namespace fastpu::detail

namespace fastpu {

std::vector<StumpLossInfo> stump_losses() {
  std::vector<StumpLossInfo> infos;
  for (const detail::StumpLoss& loss : detail::kStumpLosses) infos.push_back(loss.info);
  return infos;
}

}  // namespace fastpu

namespace fastpu::detail {

BoostLoss::BoostLoss(const BoostLossOptions& options, const PerGroup& weights) : options_(options) {
  const StumpLoss& loss = loss_of(options.loss);
  check(loss.info, options, weights);
  low_ = loss.info.low;
  penalty_ = loss.info.only_ranks ? options.rho : 0;
  terms_ = loss.terms(options.gamma, weights);
  std::erase_if(terms_, [](const RiskTerm& term) { return !(term.weight > 0); });
}

double BoostLoss::step(double gain, const std::function<PerSlot()>& firing_shares) const {
  const double jensen = std::atanh(std::min(gain, kPerfect)) - std::atanh(penalty());
  return options_.step == BoostStep::jensen ? jensen : line_search(jensen, firing_shares());
}

// Minimises e^{rho alpha} (W+ e^-alpha + W0 + W- e^alpha) over the pairs that the stump orders rightly, not, wrongly.
double BoostLoss::line_search(double jensen, const PerSlot& firing_shares) const {
  const double rho = options_.rho;
  double right = 0;
  double wrong = 0;
  for (const RiskTerm& term : terms_) {
    right += term.share * firing_shares[term.first] * (1 - firing_shares[term.second]);
    wrong += term.share * (1 - firing_shares[term.first]) * firing_shares[term.second];
  }
  const double rest = std::max(0.0, 1.0 - right - wrong);
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

double BoostLoss::recompute(const PerSlot& log_means) {
  double top = -kInfinity;
  for (RiskTerm& term : terms_) {
    const double second = term.second == kSlots ? 0.0 : log_means[term.second];
    term.share = std::log(term.weight) + (log_means[term.first] + second);
    top = std::max(top, term.share);
  }
  double sum = 0;
  for (RiskTerm& term : terms_) sum += term.share = std::exp(term.share - top);
  divide_shares(sum);
  return top + std::log(sum);
}

double BoostLoss::update(const PerSlot& factors) {
  double sum = 0;
  for (RiskTerm& term : terms_) {
    const double second = term.second == kSlots ? 1.0 : factors[term.second];
    sum += term.share *= factors[term.first] * second;
  }
  divide_shares(sum);
  return sum;
}

void BoostLoss::divide_shares(double sum) {
  for (RiskTerm& term : terms_) term.share /= sum;
}

PerSlot BoostLoss::slot_shares() const {
  PerSlot shares{};
  for (const RiskTerm& term : terms_) {
    shares[term.first] += term.share;
    if (term.second != kSlots) shares[term.second] += term.share;
  }
  return shares;
}

}  // namespace fastpu::detail
