// A loss for trees: functions of a row's score, and a formula of their means.
//
// A loss is a function of the weighted means, over the groups of rows P, U and N, of one or two functions of a row's
// score F. With m_k,G the mean of function k over group G, and n the sum of the weights of all rows,
//
//     g_i = w_i sum_k slope_k,G phi_k'(F_i),   slope_k,G = n / weight of G times d objective / d m_k,G,
//     h_i = w_i sum_k curve_k,G c_k(F_i),      where the loss says which curvatures c_k >= 0 it takes.
//
// To add a loss, write a class like those of softplus_losses.hpp in a header of its own, and name it in the list of
// tree_losses.hpp. Everything else (passes over the rows, threads, shards, instruction-set levels, bounds) is there.
// The class has, beside the functions of LossFormula,
//
//     kInfo        name and properties, as Python reads them; is_by_row if partials() reads no means
//     kFunctions   1 or 2, the number of functions of the score
//     kCurves      the number of curvatures, at most kFunctions; with kSumsBounds curvature k is that of function k, so
//                  there are kFunctions of them
//     kMeans       the means that the loss needs: pairs of a function and a group
//     kSumsBounds  true: the sums of |phi_k'| and c_k are taken along with the means, and bound those of |g| and h.
//                  false: the class bounds them itself, from the means
//     values       writes the functions of the score
//     derivatives  writes their first derivatives and the curvatures
//     size         (without kSumsBounds) a bound of all |values|
//
// In these three functions V is several scores side by side, and `Math` of loss_lanes.hpp lists what can be computed of
// them.
#pragma once

#include <array>
#include <cstdint>

#include "boosting/loss_passes.hpp"
#include "fastpu/boosting/tree_loss_terms.hpp"

namespace fastpu::detail {

enum class LossGroup : std::int8_t { negative = -1, unlabelled = 0, positive = 1 };

struct MeanOf {
  int function;
  LossGroup group;
};

struct LossMeans {
  // In the order of kMeans. For "pnu_auc", by ExpSlot: logarithms of the means of e^F and e^-F.
  std::array<double, kMostMeans> mean{};
  PerGroup weight{};  // sums of the weights of the rows that take part

  double n() const { return weight.negative + weight.unlabelled + weight.positive; }
  double weight_of(LossGroup group) const;
};

// The formula of a loss. Every function but the first two has a default, which "pnu_auc" alone replaces: it is computed
// from logarithms of means.
class LossFormula {
 public:
  LossFormula(const LossFormula&) = delete;
  LossFormula& operator=(const LossFormula&) = delete;
  virtual ~LossFormula() = default;

  virtual double objective(const LossMeans& means) const = 0;
  // Slopes and curves without the factor n / weight of the group: derivatives of the objective by the means.
  virtual LossSlopes partials(const LossMeans& means) const = 0;

  // Throws std::invalid_argument if a group that the loss needs has no weight.
  virtual void check_groups(const PerGroup& weight) const = 0;
  // The factors that bring what is summed into [-1, 1].
  virtual LossScale scale(const TreeLossTops& tops) const;
  // Sets the means; the weights of the groups are there.
  virtual void read_means(const TreeLossTops& tops, const TreeLossSums& sums, LossMeans& means) const = 0;
  // Slopes and curves as the passes take them.
  virtual LossSlopes slopes(const LossScale& scale, const LossMeans& means) const;
  virtual TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& sums, const LossMeans& means) const = 0;

 protected:
  LossFormula() = default;
};

// A power of two that brings numbers from 0 to `top` into [0, 1].
double scale_below(double top);
// The sum of a slot in the units that it was summed in.
double whole_sum(const TreeLossSums& sums, int slot);
// The sum of squares over a group whose rows have the same |g|, in proportion to their weights.
double sum_of_squares(double sum, double weight);
// The most that the rounding of sums may take from a mean, in the units of the sums.
inline constexpr double kLeastMean = 0x1p-61;

// What the means of a loss are read from: the list that its class has as kMeans.
struct MeansList {
  const MeanOf* means;
  int n;
};

// A formula of plain means, from which those of single losses are derived.
class MeansFormula : public LossFormula {
 public:
  void check_groups(const PerGroup& weight) const override;
  void read_means(const TreeLossTops& tops, const TreeLossSums& sums, LossMeans& means) const override;
  // By the sums of |phi_k'| and c_k, which are there with kSumsBounds.
  TreeLossBounds bounds(const TreeLossTops& tops, const TreeLossSums& sums, const LossMeans& means) const override;

 protected:
  explicit MeansFormula(MeansList list) : list_(list) {}

 private:
  MeansList list_;
};

}  // namespace fastpu::detail
