// Losses "logistic" and "upu" for trees, with the softplus log(1 + e^F) as the function of the score. With
// l(z) = log(1 + e^-z), n = sum of all weights and mean_G the weighted mean over group G,
//
//     logistic  mean_P l(F) + mean_U l(-F)
//     upu       prior mean_P (-F) + mean_U l(-F),   -F = l(F) - l(-F)
//
// With s(F) = 1 / (1 + e^-F), the derivative of the rising l(-F) is s(F), that of the falling l(F) is -s(-F), and the
// second derivative of both is s(F) s(-F).
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "boosting/loss_formula.hpp"
#include "common/check_option.hpp"

namespace fastpu::detail {

class SoftplusLoss : public MeansFormula {
 public:
  enum Function : int { kRising, kFalling };
  enum Mean : std::size_t { kFallingOfPositive, kRisingOfUnlabelled, kRisingOfPositive };

  static constexpr int kFunctions = 2;
  static constexpr int kCurves = 1;  // that of both functions
  static constexpr MeanOf kMeans[] = {
      {kFalling, LossGroup::positive}, {kRising, LossGroup::unlabelled}, {kRising, LossGroup::positive}};
  static constexpr bool kSumsBounds = false;

  template <class Math, class V>
  static V size(V score) {
    return Math::abs(score) + Math::all(1.0);
  }

  template <class Math, class V>
  static void values(V score, V* value) {
    const V bend = Math::log_of_one_and(Math::exp(V{} - Math::abs(score)));
    value[kRising] = Math::max(score, V{}) + bend;
    value[kFalling] = Math::max(V{} - score, V{}) + bend;
  }

  template <class Math, class V>
  static void derivatives(V score, V* slope, V* curve) {
    const V t = Math::exp(V{} - Math::abs(score));
    const V large = Math::all(1.0) / (Math::all(1.0) + t);
    const V small = t * large;
    slope[kRising] = Math::where_less(score, V{}, small, large);
    slope[kFalling] = V{} - Math::where_less(score, V{}, large, small);
    curve[0] = large * small;
  }

  // s(F) is 1 - e^-l(-F), a concave function of l(-F): so the mean of s(F) is at most this function of the mean of
  // l(-F). In the same way the mean of s(F) s(-F) = s(F) (1 - s(F)) is at most that function of the mean of s(F).
  TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& /*sums*/, const LossMeans& means) const final {
    const LossScale units = scale(tops);
    const LossSlopes slopes = this->slopes(units, means);
    const auto most_slope = [&](Mean mean) { return -std::expm1(-(means.mean[mean] + kLeastMean / units.value)); };
    const auto most_curve = [](double s) { return s < 0.5 ? s * (1 - s) : 0.25; };
    const double rising = most_slope(kRisingOfPositive);
    const double falling = most_slope(kFallingOfPositive);
    const double unlabelled = most_slope(kRisingOfUnlabelled);
    const double plus = std::abs(slopes.slope[kRising].positive);
    const double minus = std::abs(slopes.slope[kFalling].positive);
    const PerGroup& weight = means.weight;
    const double g_positive = weight.positive * std::min(plus * rising + minus * falling, std::max(plus, minus));
    const double g_unlabelled = weight.unlabelled * std::abs(slopes.slope[kRising].unlabelled) * unlabelled;
    const double h = weight.positive * slopes.curve[0].positive * most_curve(std::min(rising, falling)) +
                     weight.unlabelled * slopes.curve[0].unlabelled * most_curve(unlabelled);
    const double all = sum_of_squares(g_positive, weight.positive) + sum_of_squares(g_unlabelled, weight.unlabelled);
    return {g_positive + g_unlabelled, h, h > 0 ? all / h : 0.0};
  }

 protected:
  SoftplusLoss() : MeansFormula({kMeans, 3}) {}
};

class LogisticLoss final : public SoftplusLoss {
 public:
  static constexpr TreeLossInfo kInfo{.name = "logistic", .is_by_row = true};

  explicit LogisticLoss(const TreeLossOptions& /*options*/) {}

  double objective(const LossMeans& means) const override {
    return means.mean[kFallingOfPositive] + means.mean[kRisingOfUnlabelled];
  }
  LossSlopes partials(const LossMeans& /*means*/) const override {
    LossSlopes by;
    by.slope[kFalling].positive = by.slope[kRising].unlabelled = 1;
    by.curve[0].positive = by.curve[0].unlabelled = 1;
    return by;
  }
};

class UpuLoss final : public SoftplusLoss {
 public:
  static constexpr TreeLossInfo kInfo{.name = "upu", .needs_prior = true, .is_by_row = true};

  explicit UpuLoss(const TreeLossOptions& options) : prior_(options.prior) {
    check_option(prior_ > 0 && prior_ < 1, "prior", "in (0, 1)", prior_);
  }

  double objective(const LossMeans& means) const override {
    const double positive_risk = prior_ * means.mean[kFallingOfPositive];
    const double negative_risk = means.mean[kRisingOfUnlabelled] - prior_ * means.mean[kRisingOfPositive];
    return positive_risk + negative_risk;
  }
  // The second derivatives of both functions over P cancel.
  LossSlopes partials(const LossMeans& /*means*/) const override {
    LossSlopes by;
    by.slope[kFalling].positive = prior_;
    by.slope[kRising].positive = -prior_;
    by.slope[kRising].unlabelled = by.curve[0].unlabelled = 1;
    return by;
  }

 private:
  double prior_;
};

}  // namespace fastpu::detail
