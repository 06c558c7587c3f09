// Losses "logistic" and "upu" for trees. With l(z) = log(1 + e^-z) and s(F) = 1 / (1 + e^-F), the derivative of
// l(F) is -s(-F), that of l(-F) is s(F), and l(F) - l(-F) = -F; the second derivative of both is s(F) s(-F).
#include <stdexcept>

#include "boosting/loss_formula.hpp"
#include "common/check_option.hpp"

namespace fastpu::detail {

namespace {

class LogisticFormula : public LossFormula {
 public:
  bool is_exponential() const final { return false; }

  double objective(const LossMeans& means) const final {
    check(means);
    return objective_of(means);
  }
  LossSlopes slopes(const LossMeans& means) const final {
    check(means);
    return slopes_of(means.n() / means.weight.positive, means.n() / means.weight.unlabelled);
  }

 private:
  virtual double objective_of(const LossMeans& means) const = 0;
  // per_positive and per_unlabelled are n times the weight of a row in the mean of its group.
  virtual LossSlopes slopes_of(double per_positive, double per_unlabelled) const = 0;

  static void check(const LossMeans& means) {
    if (means.weight.positive > 0 && means.weight.unlabelled > 0) return;
    throw std::invalid_argument("the loss needs rows of the label 1 and rows of the label 0, of positive weight");
  }
};

class Logistic final : public LogisticFormula {
  double objective_of(const LossMeans& means) const override {
    return means.mean[kLossPositive] + means.mean[kLossUnlabelled];
  }
  LossSlopes slopes_of(double per_positive, double per_unlabelled) const override {
    return {.plus = {0, per_unlabelled, 0}, .minus = {0, 0, per_positive}, .curve = {0, per_unlabelled, per_positive}};
  }
};

class Upu final : public LogisticFormula {
 public:
  explicit Upu(double prior) : prior_(prior) {}

 private:
  double objective_of(const LossMeans& means) const override {
    const double positive_risk = prior_ * means.mean[kLossPositive];
    const double negative_risk = means.mean[kLossUnlabelled] - prior_ * means.mean[kLossAsNegative];
    return positive_risk + negative_risk;
  }
  LossSlopes slopes_of(double per_positive, double per_unlabelled) const override {
    const double both = prior_ * per_positive;  // s(F) + s(-F) = 1
    return {.plus = {0, per_unlabelled, -both}, .minus = {0, 0, both}, .curve = {0, per_unlabelled, 0}};
  }

  double prior_;
};

}  // namespace

std::unique_ptr<LossFormula> make_logistic_formula() { return std::make_unique<Logistic>(); }
std::unique_ptr<LossFormula> make_upu_formula(double prior) {
  check_option(prior > 0 && prior < 1, "prior", "in (0, 1)", prior);
  return std::make_unique<Upu>(prior);
}

}  // namespace fastpu::detail
