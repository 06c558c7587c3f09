#include "boosting/loss_formula.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace fastpu::detail {

namespace {

double of_group(const PerGroup& numbers, LossGroup group) {
  if (group == LossGroup::negative) return numbers.negative;
  return group == LossGroup::unlabelled ? numbers.unlabelled : numbers.positive;
}

}  // namespace

double scale_below(double top) { return top > 0 ? std::ldexp(1.0, std::min(-std::ilogb(top) - 1, 1000)) : 1.0; }

double whole_sum(const TreeLossSums& sums, int slot) {
  const auto first = static_cast<double>(sums.values[at(index_t{2} * slot)]);
  const auto second = static_cast<double>(sums.values[at(index_t{2} * slot + 1)]);
  return (first + second / kDigits) / kDigits;
}

double sum_of_squares(double sum, double weight) { return weight > 0 ? sum / weight * sum : 0.0; }

double LossMeans::weight_of(LossGroup group) const { return of_group(weight, group); }

LossScale LossFormula::scale(const TreeLossTops& tops) const {
  LossScale scale;
  scale.weight = scale_below(tops.values[kTopWeight]);
  scale.value = scale_below(tops.values[kTopValue]);
  scale.slope = scale_below(tops.values[kTopSlope]);
  scale.curve = scale_below(tops.values[kTopCurve]);
  return scale;
}

LossSlopes LossFormula::slopes(const LossScale& /*scale*/, const LossMeans& means) const {
  LossSlopes slopes = partials(means);
  const auto times_n_over_weight = [&](PerGroup& of) {
    const auto scaled = [&](double number, double weight) { return number == 0 ? 0.0 : number * (means.n() / weight); };
    of = {scaled(of.negative, means.weight.negative), scaled(of.unlabelled, means.weight.unlabelled),
          scaled(of.positive, means.weight.positive)};
  };
  for (PerGroup& slope : slopes.slope) times_n_over_weight(slope);
  for (PerGroup& curve : slopes.curve) times_n_over_weight(curve);
  return slopes;
}

void MeansFormula::check_groups(const PerGroup& weight) const {
  std::string needed;
  bool are_there = true;
  for (const LossGroup group : {LossGroup::positive, LossGroup::unlabelled, LossGroup::negative}) {
    const auto is_of_group = [group](const MeanOf& mean) { return mean.group == group; };
    if (!std::any_of(list_.means, list_.means + list_.n, is_of_group)) continue;
    needed += (needed.empty() ? "" : " and ") + ("rows of the label " + std::to_string(static_cast<int>(group)));
    are_there = are_there && of_group(weight, group) > 0;
  }
  if (!are_there) throw std::invalid_argument("the loss needs " + needed + ", of positive weight");
}

void MeansFormula::read_means(const TreeLossTops& tops, const TreeLossSums& sums, LossMeans& means) const {
  const double unit = scale(tops).value;
  for (int m = 0; m < list_.n; ++m) {
    const double weight = means.weight_of(list_.means[m].group);
    means.mean[static_cast<std::size_t>(m)] = whole_sum(sums, m) / unit / weight;
  }
}

TreeLossBounds MeansFormula::bounds(const TreeLossTops& tops, const TreeLossSums& sums, const LossMeans& means) const {
  const LossScale units = scale(tops);
  const LossSlopes slopes = this->slopes(units, means);
  PerGroup g;
  double h = 0;
  for (int m = 0; m < list_.n; ++m) {
    const auto [function, group] = list_.means[m];
    const auto k = static_cast<std::size_t>(function);
    const double weight = means.weight_of(group);
    const double slope = (whole_sum(sums, kSlopeSlots + m) + kLeastMean * weight) / units.slope;
    const double curve = (whole_sum(sums, kCurveSlots + m) + kLeastMean * weight) / units.curve;
    const double of_mean = std::abs(of_group(slopes.slope[k], group)) * slope;
    (group == LossGroup::negative ? g.negative : group == LossGroup::unlabelled ? g.unlabelled : g.positive) += of_mean;
    h += of_group(slopes.curve[k], group) * curve;
  }
  const double all = sum_of_squares(g.negative, means.weight.negative) +
                     sum_of_squares(g.unlabelled, means.weight.unlabelled) +
                     sum_of_squares(g.positive, means.weight.positive);
  return {g.negative + g.unlabelled + g.positive, h, h > 0 ? all / h : 0.0};
}

}  // namespace fastpu::detail
