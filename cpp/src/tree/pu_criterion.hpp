// What a split of positive and unlabelled rows is judged by.
//
// P and U are the rows of the two groups in a node, each counted as often as the tree drew it, and p = P / (all P),
// u = U / (all U). A criterion gives the loss of a node that is a leaf, and a split gains the loss of the node less the
// losses of its children:
//     Gini   loss 2 p u / (p + u) = (p + u) 2 q (1 - q),  q = p / (p + u);                    value q
//     risk   loss 4 W_p W_n / (W_p + W_n),  W_p = prior p,  W_n = u - prior p;  value (W_p - W_n) / (W_p + W_n)
//            where W_n < 0: loss 4 W_n (uPU) or 0 (nnPU), value 1.
// The risk is that of the squared loss with values in [-1, 1] (Wilton et al., NeurIPS 2022).
//
// If a split has nothing to do with the labels, p_L u - u_L p has the mean 0 and the variance
// V = p u (2 u / all P + p / all U), in units of (share of the node that goes left) (share that goes right), as P is
// drawn with replacement and U without. The mean of the gain is then 2 V / (p + u)^3 for Gini, and (2 prior)^2 V / u^3
// for the risk.
#pragma once

#include <cmath>
#include <cstdint>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

struct PuCounts {
  std::uint32_t p = 0;
  std::uint32_t u = 0;

  std::uint32_t rows() const { return p + u; }
  PuCounts& operator+=(const PuCounts& other) {
    p += other.p;
    u += other.u;
    return *this;
  }
  friend PuCounts operator+(PuCounts a, const PuCounts& b) { return a += b; }
  friend PuCounts operator-(const PuCounts& a, const PuCounts& b) { return {a.p - b.p, a.u - b.u}; }
  // Whether a has the smaller share of positives; exact.
  friend bool ranks_below(const PuCounts& a, const PuCounts& b) {
    return std::uint64_t{a.p} * b.u < std::uint64_t{b.p} * a.u;
  }
};

// V, as above; p and u are the shares of the groups in the node, per_p and per_u those of one row.
inline double chance_variance(double p, double u, double per_p, double per_u) {
  return p * u * (2.0 * u * per_p + p * per_u);
}

class GiniCriterion {
 public:
  explicit GiniCriterion(const PuCounts& all) : per_p_(1.0 / all.p), per_u_(1.0 / all.u) {}

  // NaN for a node without rows.
  double loss(const PuCounts& node) const {
    const double p = node.p * per_p_;
    const double u = node.u * per_u_;
    return 2.0 * p * u / (p + u);
  }
  double value(const PuCounts& node) const {
    const double p = node.p * per_p_;
    return p / (p + node.u * per_u_);
  }
  static bool is_leaf(const PuCounts& node) { return node.p == 0 || node.u == 0; }
  // The mean gain of a split that has nothing to do with the labels, in a node that is not a leaf.
  double chance_gain(const PuCounts& node) const {
    const double p = node.p * per_p_;
    const double u = node.u * per_u_;
    return 2.0 * chance_variance(p, u, per_p_, per_u_) / ((p + u) * (p + u) * (p + u));
  }
  // Splits must gain more than this.
  static double least_gain(const PuCounts& /*node*/) { return -kInfinity; }

 private:
  double per_p_;
  double per_u_;
};

class RiskCriterion {
 public:
  // `non_negative` for nnPU, else uPU.
  RiskCriterion(const PuCounts& all, double prior, bool non_negative)
      : per_p_(1.0 / all.p), per_u_(1.0 / all.u), prior_(prior), non_negative_(non_negative) {}

  double loss(const PuCounts& node) const {
    const double u = node.u * per_u_;
    const double w_p = prior_ * (node.p * per_p_);
    const double w_n = u - w_p;
    if (w_n > 0) return 4.0 * w_p * w_n / u;
    return non_negative_ ? 0.0 : 4.0 * w_n;
  }
  double value(const PuCounts& node) const {
    const double u = node.u * per_u_;
    const double w_p = prior_ * (node.p * per_p_);
    const double w_n = u - w_p;
    return w_n >= 0 && u > 0 ? (w_p - w_n) / u : 1.0;
  }
  bool is_leaf(const PuCounts& node) const {
    return node.p == 0 || (non_negative_ && node.u * per_u_ - prior_ * (node.p * per_p_) <= 0);
  }
  // As in GiniCriterion; 0 where there are no rows of U.
  double chance_gain(const PuCounts& node) const {
    if (node.u == 0) return 0.0;
    const double p = node.p * per_p_;
    const double u = node.u * per_u_;
    return 4.0 * prior_ * prior_ * chance_variance(p, u, per_p_, per_u_) / (u * u * u);
  }
  // The largest gain that rounding could make of a gain of 0.
  double least_gain(const PuCounts& node) const {
    const double w_p = prior_ * (node.p * per_p_);
    return 1e-12 * (w_p + std::abs(node.u * per_u_ - w_p));
  }

 private:
  double per_p_;
  double per_u_;
  double prior_;
  bool non_negative_;
};

}  // namespace fastpu::detail
