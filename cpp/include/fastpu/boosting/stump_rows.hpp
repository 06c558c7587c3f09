// The rows that stumps are boosted on, wherever they are. stump_boost calls
//
//     groups, start   once, for their numbers
//     tops, weigh     to compute their weights afresh from their scores
//     count_above     for the smaller side of the stump of a round
//     add             for what the rows of this side add to the histograms before the stump changes their weights
//
// Rows on one machine are held by one object (make_stump_rows). On several machines each holds a shard, and what these
// answer is added up, or for tops the largest is taken. Then stump_boost makes the same stumps, bit by bit, as on one
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/member_exchange.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// What a stump divides the rows by. The rows above are those with code > cut; or, where position >= 0, those from this
// position on in the order of the feature, `cut` being the bin that is divided; or those with a code in a set.
struct StumpBoundary {
  index_t feature = -1;  // -1: there is none
  index_t cut = 0;
  index_t position = -1;
  bool by_categories = false;
  CategorySet codes{};
  bool missing_above = false;  // where missing values are, if training had none; not read by StumpRows
};

struct StumpGroups {
  std::array<index_t, 3> n_rows{};  // of positive weight: negative, unlabelled, positive
  PerGroup weight;                  // sums of sample weights
};

// What happens to all rows, or to those on one side of the boundary that was counted last.
struct StumpChange {
  bool is_of_all = true;
  bool is_above = true;             // the side
  std::array<RowChange, 2> rows{};  // to unlabelled and to labelled rows
};

// Sums over the slots in whole numbers of two digits: a sum is (first + second / kWeightDigit) / kWeightDigit.
struct WeightSums {
  std::array<std::int64_t, kSlots> first{};
  std::array<std::int64_t, kSlots> second{};
};
inline constexpr double kWeightDigit = 0x1p29;
inline constexpr index_t kMostStumpRows = index_t{1} << 34;  // their sums have room in 64 bits

// What rows add to the histogram, in fixed point.
struct AddedRows {
  std::vector<std::int64_t*> histograms;  // to be added up by the caller, who sets them to 0 again
  std::array<PairSums, 2> sums;           // of unlabelled and labelled rows
};

// Where the bins, of two numbers each, are in a histogram: feature by feature, in each feature the bins of unlabelled
// rows before those of labelled ones. Of sparse features all bins of unlabelled rows come before all of labelled ones.
struct StumpHistogram {
  explicit StumpHistogram(const BinnedFeatures& features);

  index_t first_pair(index_t feature) const {
    return features_->is_sparse() ? 2 * features_->first_bin(feature) : feature * 4 * bin_stride;
  }

  index_t bin_stride = 0;   // dense: bins from the first unlabelled to the first labelled one of a feature
  index_t kind_offset = 0;  // numbers from an unlabelled bin to the labelled one of the same code
  index_t size = 0;         // numbers in all

 private:
  const BinnedFeatures* features_;
};

class StumpRows {
 public:
  StumpRows() = default;
  StumpRows(const StumpRows&) = delete;
  StumpRows& operator=(const StumpRows&) = delete;
  virtual ~StumpRows() = default;

  virtual StumpGroups groups() = 0;
  // Begins a fit, in which the rows of P and N take part, and those of U if use_unlabelled.
  virtual void start(bool use_unlabelled) = 0;
  // The number of the rows above a boundary that take part.
  virtual index_t count_above(const StumpBoundary& boundary) = 0;
  // The largest log(sample_weight) +- f in every slot, the exponents of the weights; -inf for a slot without rows.
  virtual PerSlot tops() = 0;
  // Sets the weights to exp(exponent - top), and returns their sums.
  virtual WeightSums weigh(const PerSlot& tops) = 0;
  // Adds up the weights of the rows that a change is made to, and then changes them.
  virtual AddedRows add(const StumpChange& change) = 0;
};

// Rows that are held here: all of them, or a shard. The training set is used, not copied. Throws std::invalid_argument
// for labels that are not +1, 0 or -1.
std::unique_ptr<StumpRows> make_stump_rows(const BoostTrainingSet& train, Team& team);

// The rows of all members of a fit, which answer with the sums over the members: every member then makes the same
// stumps. `own` are the rows of this member, a shard, or null if it has none. `features`, of which only the cuts are
// read, and the exchange must outlive the rows.
std::unique_ptr<StumpRows> join_stump_rows(std::unique_ptr<StumpRows> own, const BinnedFeatures& features,
                                           MemberExchange& exchange);

}  // namespace fastpu
