// The rows of boosted stumps that this machine holds: all of them, or a shard.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "boosting/stump_kernels.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "tree/code_kernels.hpp"

namespace fastpu::detail {

// A bit for each row, in words of 64.
using RowBits = std::vector<std::uint64_t>;

class LocalStumpRows final : public StumpRows {
 public:
  // As make_stump_rows.
  LocalStumpRows(const BoostTrainingSet& train, Team& team);

  StumpGroups groups() override { return groups_; }
  void start(bool use_unlabelled) override;
  index_t count_above(const StumpBoundary& boundary) override;
  PerSlot tops() override;
  WeightSums weigh(const PerSlot& tops) override;
  AddedRows add(const StumpChange& change) override;

  const RowState& row(index_t i) const { return states_[i]; }
  bool is_labelled(index_t i) const { return ((labelled_[at(i / 64)] >> (i % 64)) & 1U) != 0; }

 private:
  index_t n_words() const { return static_cast<index_t>(active_.size()); }
  bool is_active(index_t i) const { return ((active_[at(i / 64)] >> (i % 64)) & 1U) != 0; }
  std::pair<double, double> exponents(index_t i) const;
  void find_above(const StumpBoundary& boundary);
  // The rows that a change is made to.
  const RowBits& changed(const StumpChange& change);
  PairSums add_list(std::size_t kind, const std::uint32_t* rows, index_t n, const RowChange& change,
                    std::int64_t* histogram);
  PairSums add_sparse(const std::uint32_t* rows, index_t n, const RowChange& change, std::int64_t* histogram);
  template <class Visit>
  void for_row_blocks(Visit&& visit);

  const BinnedFeatures& features_;
  const FeatureOrder* order_;
  const double* weight_;
  const StumpKernels& kernels_;
  const CodeKernels& code_kernels_;
  Team& team_;
  StumpHistogram histogram_;
  double codes_per_row_ = 0;
  StumpGroups groups_;
  RowBits active_;  // the rows that take part
  RowBits labelled_;
  RowBits above_;  // those above the boundary that was counted last
  RowBits side_;   // the rows that the last change was made to
  AlignedBuffer<RowState> states_;
  AlignedBuffer<std::int8_t> group_;                 // +1, 0, -1 as the labels
  std::vector<AlignedBuffer<std::int64_t>> added_;   // per worker: a histogram of weights in fixed point
  std::vector<std::array<PairSums, 2>> added_sums_;  // per worker and kind: the sums of these weights
};

}  // namespace fastpu::detail
