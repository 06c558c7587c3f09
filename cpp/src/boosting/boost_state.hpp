// The state of stump boosting between rounds: row weights, group histograms and their sums.
//
// The weights of a group are kept up to a common factor, so that a stump touches the rows of its smaller side only:
// multiplying one side by m1 and the other by m2 is multiplying the smaller one by m1/m2, and the factor m2 goes into
// the group's logarithmic total. What rounding does to the sums is bounded by refreshing weights, sums and histograms
// from f (which is kept to twice the working precision) before any sum has lost more than a few bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "boosting/slots.hpp"
#include "boosting/stump_kernels.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu::detail {

// A bit a row, in words of 64.
using RowBits = std::vector<std::uint64_t>;

// How rows change when a stump is added: f += alpha * h(x), h(x) = 1 where the stump fires, else `low`.
struct StumpEffect {
  bool fires_above = true;  // it fires on the rows above the cut, or on the others
  double alpha = 0;
  double low = 0;
};

class BoostState {
 public:
  // use_unlabelled false leaves U out.
  BoostState(const BinnedFeatures& features, const std::int8_t* labels, const double* weight, bool use_unlabelled,
             Isa isa, Team& team);

  // Adds a stump; above has a bit for each row above its cut. Histograms are merged later, feature by feature, by
  // settle. Returns the factors by which the four group totals changed.
  PerSlot add_stump(const RowBits& above, const StumpEffect& effect);

  // Whether the sums have lost so many bits that refresh() should be called.
  bool is_stale() const;
  void refresh();

  // Brings the histograms of a feature up to date; to be called once for each feature after add_stump or refresh.
  // Different features may be settled by different threads.
  void settle(index_t feature);
  void all_settled();

  const double* unlabelled_bins(index_t feature) const { return histogram_.data() + first_pair(feature); }
  const double* labelled_bins(index_t feature) const { return histogram_.data() + first_pair(feature) + kind_offset_; }
  const RowState& row(index_t i) const { return rows_[i]; }
  bool is_labelled(index_t i) const { return ((labelled_[static_cast<std::size_t>(i / 64)] >> (i % 64)) & 1U) != 0; }
  // Sums of the weights as stored; 0 for an empty group.
  const PerSlot& sums() const { return sums_; }
  // How many rows of positive weight the group of each slot has.
  const PerSlot& group_rows() const { return group_rows_; }
  // log of the weighted mean of exp(+-f) over the group; NaN for an empty group.
  PerSlot log_means() const;
  // What the rows gain by a vote of 1, for a loss whose risk is shared out to the groups like this.
  GainCoefs gain_coefs(const PerSlot& shares) const;
  index_t n_words() const { return static_cast<index_t>(active_.size()); }
  const StumpKernels& kernels() const { return kernels_; }
  const BinnedFeatures& features() const { return features_; }

 private:
  index_t first_pair(index_t feature) const {
    return features_.is_sparse() ? 2 * features_.first_bin(feature) : feature * 4 * bin_stride_;
  }
  void add_rows(const RowBits& listed, index_t n_listed, const std::array<RowChange, 2>& changes);
  PairSums add_list(std::size_t kind, const std::uint32_t* rows, index_t n, const RowChange& change,
                    std::int64_t* histogram);
  PairSums add_list_directly(std::size_t kind, const std::uint32_t* rows, index_t n, const RowChange& change);
  template <class Code>
  DenseCodes<Code> dense_codes() const;
  PairSums add_sparse(const std::uint32_t* rows, index_t n, const RowChange& change, std::int64_t* histogram);
  void zero_bin(index_t feature, std::size_t kind, std::int64_t* added) const;
  template <class T>
  void fill_with_zeros(AlignedBuffer<T>& values);
  template <class Visit>
  void for_row_blocks(Visit&& visit);

  const BinnedFeatures& features_;
  const double* weight_;
  const StumpKernels& kernels_;
  Team& team_;
  index_t bin_stride_ = 0;   // dense: bins between the starts of two kinds
  index_t kind_offset_ = 0;  // from the unlabelled to the labelled bins
  index_t n_active_ = 0;
  double codes_per_row_ = 0;
  RowBits active_;
  RowBits labelled_;
  RowBits small_;  // the rows of the smaller side of the last stump
  AlignedBuffer<RowState> rows_;
  AlignedBuffer<std::int8_t> group_;  // +1, 0, -1 as the labels
  AlignedBuffer<double> histogram_;
  std::vector<AlignedBuffer<std::int64_t>> added_;   // per worker: what the listed rows add, in fixed point
  std::vector<std::array<PairSums, 2>> added_sums_;  // per worker and kind
  std::vector<std::int64_t*> pending_;               // the workers' arrays that wait for settle
  std::array<PairSums, 2> pending_sums_;
  PerSlot pending_factor_{};  // from fixed point to the change of the histogram
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
