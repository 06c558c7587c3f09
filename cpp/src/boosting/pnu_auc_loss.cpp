// Loss "pnu_auc" for trees: log R, R = gamma A_P B_N + (1 - gamma)/2 (A_P B_U + A_U B_N), A_G = mean_G e^-F and
// B_G = mean_G e^F. With the shares that the three products have in R,
//     d log R / d log A_P = the share of the products with A_P,     d log A_P / d F_i = -w_i e^-F_i / sum_P w e^-F,
// and so on.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "boosting/loss_formula.hpp"
#include "common/check_option.hpp"

namespace fastpu::detail {

namespace {

using Slots = std::array<double, kLossSlots>;

class PnuAucFormula final : public LossFormula {
 public:
  explicit PnuAucFormula(double gamma) : gamma_(gamma) {}

  bool is_exponential() const override { return true; }

  double objective(const LossMeans& means) const override {
    Slots shares{};
    return evaluate(means, shares);
  }

  LossSlopes slopes(const LossMeans& means) const override {
    Slots shares{};
    evaluate(means, shares);
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
  struct Product {
    double weight;
    ExpSlot falling;
    ExpSlot rising;
    double share = 0;
  };

  std::array<Product, 3> products(const PerGroup& weight) const {
    const bool has_positive = weight.positive > 0;
    const bool has_unlabelled = weight.unlabelled > 0;
    const bool has_negative = weight.negative > 0;
    const int n_groups = int{has_positive} + int{has_unlabelled} + int{has_negative};
    if (n_groups < 2) {
      throw std::invalid_argument("pnu_auc needs rows of at least two of the labels 1, 0 and -1, of positive weight");
    }
    const double mixed = n_groups == 3 ? (1 - gamma_) / 2 : 1.0;
    const double labelled = n_groups == 3 ? gamma_ : 1.0;
    return {{{has_positive && has_negative ? labelled : 0.0, kFallingPositive, kRisingNegative},
             {has_positive && has_unlabelled ? mixed : 0.0, kFallingPositive, kRisingUnlabelled},
             {has_unlabelled && has_negative ? mixed : 0.0, kFallingUnlabelled, kRisingNegative}}};
  }

  // Returns log R, and writes the share of R that each slot has a part in.
  double evaluate(const LossMeans& means, Slots& shares) const {
    auto all = products(means.weight);
    double top = -kInfinity;
    for (Product& product : all) {
      product.share = product.weight > 0
                          ? std::log(product.weight) + (means.mean[product.falling] + means.mean[product.rising])
                          : -kInfinity;
      top = std::max(top, product.share);
    }
    double sum = 0;
    for (Product& product : all) sum += product.share = std::exp(product.share - top);
    for (const Product& product : all) {
      shares[product.falling] += product.share / sum;
      shares[product.rising] += product.share / sum;
    }
    return top + std::log(sum);
  }

  double gamma_;
};

}  // namespace

std::unique_ptr<LossFormula> make_pnu_auc_formula(double gamma) {
  check_option(gamma >= 0 && gamma <= 1, "gamma", "in [0, 1]", gamma);
  return std::make_unique<PnuAucFormula>(gamma);
}

}  // namespace fastpu::detail
