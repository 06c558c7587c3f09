#include "boosting/boost_loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/to_text.hpp"

namespace fastpu::detail {

namespace {

struct NamedLoss {
  const char* name;
  std::unique_ptr<BoostLoss> (*make)(const BoostLossOptions&, const GroupWeights&);
};

constexpr NamedLoss kLosses[] = {{"auc", make_auc_loss}, {"ada", make_ada_loss}};

}  // namespace

BoostLoss::BoostLoss(std::vector<RiskTerm> terms) : terms_(std::move(terms)) {
  std::erase_if(terms_, [](const RiskTerm& term) { return !(term.weight > 0); });
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

double jensen_step(double gain, double rho) { return std::atanh(std::min(gain, kPerfect)) - std::atanh(rho); }

std::vector<std::string> boost_loss_names() {
  std::vector<std::string> names;
  for (const NamedLoss& loss : kLosses) names.emplace_back(loss.name);
  return names;
}

std::unique_ptr<BoostLoss> make_boost_loss(const BoostLossOptions& options, const GroupWeights& weights) {
  if (!(options.gamma >= 0) || options.gamma > 1) {
    throw std::invalid_argument("gamma must be in [0, 1], got " + to_text(options.gamma));
  }
  if (!(options.rho >= 0) || options.rho >= 1) {
    throw std::invalid_argument("rho must be in [0, 1), got " + to_text(options.rho));
  }
  if (int{weights.positive > 0} + int{weights.unlabelled > 0} + int{weights.negative > 0} < 2) {
    throw std::invalid_argument(
        "y must hold at least two of positive (+1), unlabelled (0) and negative (-1) rows of "
        "positive weight, got weights " +
        to_text(weights.positive) + ", " + to_text(weights.unlabelled) + ", " + to_text(weights.negative));
  }
  for (const NamedLoss& loss : kLosses) {
    if (options.name == loss.name) return loss.make(options, weights);
  }
  throw std::invalid_argument("there is no loss '" + options.name + "'");
}

}  // namespace fastpu::detail
