// The losses that stumps are boosted for.
//
// The risk R of a loss is a sum of terms, each of which is a weight times the mean of one slot, or times the means of
// two. A slot is a sum of exponentials, so that a stump multiplies row weights by constants, and a round only changes
// the rows on the smaller side of its stump. With m_k the means of the slots, a loss has
//     slot_shares  d log R / d log m_k, from which the gains of all rows follow (BoostState::gain_coefs),
//     low          the vote of a stump where it does not fire; it votes 1 where it does,
//     penalty      rho in the objective R(f) exp(rho sum_t alpha_t),
//     step         alpha along the chosen stump.
//
// To add a loss, write its file like auc_loss.cpp and ada_loss.cpp, declare its function at the end of this header, and
// name it in the table of boost_loss.cpp. Nothing else in C++ knows one loss from another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/boosting/stump_rows.hpp"

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
  BoostLoss(const BoostLoss&) = delete;
  BoostLoss& operator=(const BoostLoss&) = delete;
  virtual ~BoostLoss() = default;

  virtual double low() const = 0;
  virtual double penalty() const = 0;
  // The step along a stump of this gain > 0; firing_shares() computes the share of each slot on its firing side.
  virtual double step(double gain, const std::function<PerSlot()>& firing_shares) const = 0;

  // Takes the logarithms of the means of the slots; returns log R.
  double recompute(const PerSlot& log_means);
  // Takes the factors by which the means changed; returns the factor of R.
  double update(const PerSlot& factors);
  PerSlot slot_shares() const;

 protected:
  // The weights of the terms sum to 1; terms of weight 0 are left out.
  explicit BoostLoss(std::vector<RiskTerm> terms);

  const std::vector<RiskTerm>& terms() const { return terms_; }

 private:
  void divide_shares(double sum);

  std::vector<RiskTerm> terms_;
};

// atanh(gain) - atanh(rho), the step of BoostStep::jensen.
double jensen_step(double gain, double rho);

std::vector<std::string> boost_loss_names();

// Throws std::invalid_argument for an unknown name, a parameter out of range, or fewer than two groups that hold
// weight.
std::unique_ptr<BoostLoss> make_boost_loss(const BoostLossOptions& options, const GroupWeights& weights);

std::unique_ptr<BoostLoss> make_auc_loss(const BoostLossOptions& options, const GroupWeights& weights);
std::unique_ptr<BoostLoss> make_ada_loss(const BoostLossOptions& options, const GroupWeights& weights);

}  // namespace fastpu::detail
