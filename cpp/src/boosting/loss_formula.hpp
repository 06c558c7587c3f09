// The formulas of a loss for trees: its value as a function of a few means, and the coefficients of the derivatives.
//
// To add a loss, write its class like those in pnu_auc_loss.cpp and logistic_losses.cpp, declare the function that
// makes it below, and name it in the table of tree_loss.cpp.
#pragma once

#include <array>
#include <memory>

#include "boosting/tree_loss_kernels.hpp"

namespace fastpu::detail {

struct LossMeans {
  // By ExpSlot, for an exponential loss: logarithms of the means of e^F and e^-F. By LogSlot, for a logistic loss:
  // means of log(1 + e^F) and log(1 + e^-F).
  std::array<double, kLossSlots> mean{};
  PerGroup weight{};  // sums of the weights of the rows that take part

  double n() const { return weight.negative + weight.unlabelled + weight.positive; }
};

// The formulas of one loss.
class LossFormula {
 public:
  LossFormula(const LossFormula&) = delete;
  LossFormula& operator=(const LossFormula&) = delete;
  virtual ~LossFormula() = default;

  virtual bool is_exponential() const = 0;
  virtual double objective(const LossMeans& means) const = 0;
  // For an exponential loss `plus` and `minus` are the logarithms of those in LossSlopes, as if exponentials had no
  // offset. Those of a logistic loss depend on the weights alone.
  virtual LossSlopes slopes(const LossMeans& means) const = 0;

 protected:
  LossFormula() = default;
};

// These throw std::invalid_argument for a parameter out of range.
std::unique_ptr<LossFormula> make_pnu_auc_formula(double gamma);
std::unique_ptr<LossFormula> make_logistic_formula();
std::unique_ptr<LossFormula> make_upu_formula(double prior);

}  // namespace fastpu::detail
