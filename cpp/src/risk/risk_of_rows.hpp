// The risk of fastpu/risk/nnpu.hpp on batches of rows, and its gradient by the parameters of f.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/risk/nnpu_problem.hpp"
#include "risk/net_layers.hpp"

namespace fastpu::detail {

// l(z) and l'(z).
struct LossAt {
  double value;
  double slope;
};

inline LossAt loss_at(PuLoss loss, double z) {
  if (loss == PuLoss::squared) return {0.25 * (1 - z) * (1 - z), -0.5 * (1 - z)};
  const double small = std::exp(-std::fabs(z));                         // which cannot overflow
  const double share = z >= 0 ? small / (1 + small) : 1 / (1 + small);  // 1 / (1 + e^z)
  if (loss == PuLoss::logistic) return {std::log1p(small) + std::max(-z, 0.0), -share};
  const double slope = small / ((1 + small) * (1 + small));
  return {share, -slope};
}

// The risk of a batch of rows and its two parts.
struct PuRiskValue {
  double positive = 0;  // R+
  double negative = 0;  // R-
  double value = 0;     // R+ + max(R-, -beta)
  bool is_reversed = false;
};

// The sums of weighted losses that a block of rows adds to the risk.
struct RiskSums {
  double positive = 0;     // l(f) of positive rows
  double as_negative = 0;  // l(-f) of positive rows
  double unlabeled = 0;    // l(-f) of unlabelled rows
  double mass_positive = 0;
  double mass_unlabeled = 0;

  void add(const RiskSums& other) {
    positive += other.positive;
    as_negative += other.as_negative;
    unlabeled += other.unlabeled;
    mass_positive += other.mass_positive;
    mass_unlabeled += other.mass_unlabeled;
  }
  PuRiskValue risk(const PuRisk& options) const {
    PuRiskValue risk;
    const double per_positive = mass_positive > 0 ? options.prior / mass_positive : 0.0;
    risk.positive = per_positive * positive;
    risk.negative = (mass_unlabeled > 0 ? unlabeled / mass_unlabeled : 0.0) - per_positive * as_negative;
    risk.is_reversed = risk.negative < -options.beta;
    risk.value = risk.positive + (risk.is_reversed ? -options.beta : risk.negative);
    return risk;
  }
};

template <class View>
class RiskOfRows {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  // Prepares for gradients of batches of at most `most` rows; `most` = 0 allows batches of any size, without
  // gradients.
  RiskOfRows(NetLayers<View>& layers, const PuRows<View>& rows, const PuRisk& risk, index_t most)
      : layers_(layers),
        rows_(rows),
        risk_(risk),
        has_gradient_(most > 0),
        hidden_(most * layers.stride(), "hidden values"),
        slopes_(most, "slopes of the loss"),
        g_(most, "the gradient of each row"),
        sums_(at(count_blocks(std::max(most, rows.n()), kNetRows))) {}

  PuRiskValue forward(const NetBatch& batch, const NetArrays<T>& net) {
    const int workers = layers_.workers(rows_.x, batch.n);
    layers_.team().for_blocks(batch.n, kNetRows, workers, [&](index_t first, index_t end, int worker) {
      const index_t n = end - first;
      T* hidden = has_gradient_ ? hidden_.data() + first * layers_.stride() : layers_.hidden_of(worker);
      T scores[kNetRows];
      layers_.forward(rows_.x, batch, first, n, net, hidden, scores);
      RiskSums sums;
      for (index_t i = 0; i < n; ++i) add_row(batch.row(first + i), first + i, static_cast<double>(scores[i]), sums);
      sums_[at(first / kNetRows)] = sums;
    });
    total_ = {};
    for (index_t first = 0; first < batch.n; first += kNetRows) total_.add(sums_[at(first / kNetRows)]);
    return total_.risk(risk_);
  }

  // To be called after forward() with the same batch, which has returned `risk`. Computes the gradient of the risk, or,
  // if R- < -beta, of -gamma_nn R-.
  void backward(const NetBatch& batch, const PuRiskValue& risk, const NetArrays<T>& net, NetArrays<T>& gradient) {
    const double per_positive = total_.mass_positive > 0 ? risk_.prior / total_.mass_positive : 0.0;
    const double per_unlabeled = total_.mass_unlabeled > 0 ? 1 / total_.mass_unlabeled : 0.0;
    for (index_t i = 0; i < batch.n; ++i) {
      const RowSlopes slopes = slopes_[i];
      const bool is_positive = rows_.labels[batch.row(i)] > 0;
      // In R-, l(-f) of an unlabelled row has the derivative -l'(-f) by f.
      const double of_negative = (is_positive ? per_positive : -per_unlabeled) * slopes.at_negative;
      const double of_positive = is_positive ? per_positive * slopes.at : 0.0;
      g_[i] = static_cast<T>(risk.is_reversed ? -risk_.gamma_nn * of_negative : of_positive + of_negative);
    }
    layers_.backward(rows_.x, batch, g_.data(), hidden_.data(), net, gradient);
  }

 private:
  // l'(f) and l'(-f) of a row, times its weight.
  struct RowSlopes {
    double at;
    double at_negative;
  };

  void add_row(index_t row, index_t i, double score, RiskSums& sums) {
    const double weight = rows_.weights == nullptr ? 1.0 : rows_.weights[row];
    const LossAt as_negative = loss_at(risk_.loss, -score);
    double slope = 0;
    if (rows_.labels[row] > 0) {
      const LossAt as_positive = loss_at(risk_.loss, score);
      sums.positive += weight * as_positive.value;
      sums.as_negative += weight * as_negative.value;
      sums.mass_positive += weight;
      slope = as_positive.slope;
    } else {
      sums.unlabeled += weight * as_negative.value;
      sums.mass_unlabeled += weight;
    }
    if (has_gradient_) slopes_[i] = {weight * slope, weight * as_negative.slope};
  }

  NetLayers<View>& layers_;
  PuRows<View> rows_;
  PuRisk risk_;
  bool has_gradient_;
  AlignedBuffer<T> hidden_;
  AlignedBuffer<RowSlopes> slopes_;
  AlignedBuffer<T> g_;
  std::vector<RiskSums> sums_;  // one for each block
  RiskSums total_;
};

}  // namespace fastpu::detail
