// The state of stump boosting between rounds: group histograms and their sums.
//
// The weights of a group are kept up to a common factor, so that a stump changes the rows of its smaller side only:
// instead of multiplying one side by m1 and the other by m2, the smaller side is multiplied by m1 / m2, and m2 goes
// into the logarithm of the group's total. Rounding errors stay small, as weights, sums and histograms are refreshed
// from f (which is kept to twice the working precision) before any sum has lost more than a few bits.
//
// What rows add to the histograms does not depend on where they are held, as their weights are added up as whole
// numbers.
#pragma once

#include <cstdint>

#include "boosting/stump_kernels.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu::detail {

class BoostState {
 public:
  // Of the features only the cuts are read. Rows of U take part if use_unlabelled.
  BoostState(const BinnedFeatures& features, StumpRows& rows, bool use_unlabelled, Team& team);

  // Adds a stump: f += alpha * h(x), h(x) = 1 where it fires, above the boundary or else below it, and `low` on the
  // other side. Returns the factors by which the four group totals changed. The histograms are brought up to date
  // later, feature by feature, by settle().
  PerSlot add_stump(const StumpBoundary& boundary, bool fires_above, double alpha, double low);

  // Whether the sums have lost so many bits that refresh() should be called.
  bool is_stale() const;
  void refresh();

  // Brings the histograms of a feature up to date; to be called once for each feature before its bins are read: after
  // add_stump(), or after the refresh() that comes last. A second call would count the rows of sparse features twice.
  // Different threads may do this for different features.
  void settle(index_t feature);

  const double* unlabelled_bins(index_t feature) const { return histogram_.data() + layout_.first_pair(feature); }
  const double* labelled_bins(index_t feature) const { return unlabelled_bins(feature) + layout_.kind_offset; }
  // Sums of the weights as stored; 0 for an empty group.
  const PerSlot& sums() const { return sums_; }
  // How many rows of positive weight the group of each slot has.
  const PerSlot& group_rows() const { return group_rows_; }
  // log of the weighted mean of exp(+-f) over the group; NaN for an empty group.
  PerSlot log_means() const;
  // The coefficients that give the gains of the rows, for a loss whose slots have these shares in the risk.
  GainCoefs gain_coefs(const PerSlot& shares) const;
  const StumpKernels& kernels() const { return kernels_; }
  const BinnedFeatures& features() const { return features_; }

 private:
  void set_scale(StumpChange& change) const;
  void zero_bin(index_t feature, std::size_t kind, std::int64_t* added) const;

  const BinnedFeatures& features_;
  StumpRows& rows_;
  const StumpKernels& kernels_;
  Team& team_;
  StumpHistogram layout_;
  index_t n_active_ = 0;
  AlignedBuffer<double> histogram_;
  AddedRows added_;         // in fixed point: what settle() is to add
  PerSlot added_factor_{};  // what its numbers are multiplied by
  PerSlot group_rows_{};
  PerSlot sums_{};
  PerSlot peak_sums_{};
  PerSlot log_totals_{};   // log of the sum of sample_weight * exp(+-f) over the group
  PerSlot log_weights_{};  // log of the sum of sample weights: log_totals_ at f = 0
  double offset_ = 0;      // true f = stored f + offset
  double offset_low_ = 0;  // its rounding error
  index_t rounds_since_refresh_ = 0;
  double movement_since_refresh_ = 0;
};

}  // namespace fastpu::detail
