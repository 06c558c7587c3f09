// The rows that stumps are boosted on, wherever they are. stump_boost asks for what it needs of them:
//
//     groups, start   how many there are, once
//     tops, weigh     their weights, afresh from their scores
//     count_above     the smaller side of the stump of a round
//     add or list     what the rows of this side add to the histograms, before the stump changes their weights
//
// The rows of one machine are its own (make_stump_rows). Of several machines each has a shard, and what they answer is
// added up, the tops by their largest; listed rows are put into one order. Then stump_boost makes the same stumps, bit
// by bit, as on one machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// The rows above a boundary are those with code > cut or, where position >= 0, those at this position or later in the
// feature's order (and cut is the bin that the boundary divides), or, in a categorical feature, those with a code in
// the set.
struct StumpBoundary {
  index_t feature = -1;  // -1: there is none
  index_t cut = 0;
  index_t position = -1;
  bool by_categories = false;
  CategorySet codes{};

  friend bool operator==(const StumpBoundary&, const StumpBoundary&) = default;
};

// Sums of sample weights.
struct GroupWeights {
  double positive = 0;
  double unlabelled = 0;
  double negative = 0;
};

// The rows of positive weight.
struct StumpGroups {
  std::array<index_t, 3> n_rows{};  // negative, unlabelled, positive
  GroupWeights weight;
};

// What happens to the rows on one side of a boundary, unlabelled and labelled ones, or to all rows where there is no
// boundary.
struct StumpChange {
  StumpBoundary boundary;
  bool is_above = true;  // the side
  std::array<RowChange, 2> rows;
};

// Sums over the slots as whole numbers of two digits: a sum is (first + second / kWeightDigit) / kWeightDigit.
struct WeightSums {
  std::array<std::int64_t, kSlots> first{};
  std::array<std::int64_t, kSlots> second{};
};
inline constexpr double kWeightDigit = 0x1p29;
inline constexpr index_t kMostStumpRows = index_t{1} << 34;  // their sums have room in 64 bits

// What rows add, in fixed point: the histograms are the sum of these, which the caller sets to 0 again.
struct AddedRows {
  std::vector<std::int64_t*> histograms;
  std::array<PairSums, 2> sums;  // of unlabelled and labelled rows
};

// Rows as they were before a change, in their order: the codes and the states at these numbers. Changing the states
// changes rows that are held here; rows elsewhere have been changed there.
struct ListedRows {
  const std::uint8_t* codes = nullptr;  // rows of BinnedFeatures::row_stride codes
  RowState* states = nullptr;
  const std::uint32_t* numbers = nullptr;
  index_t n = 0;
};

// Where the pairs of bins are in a histogram: feature by feature, in each the unlabelled rows before the labelled ones;
// of sparse features all unlabelled rows before all labelled ones.
struct StumpHistogram {
  explicit StumpHistogram(const BinnedFeatures& features);

  index_t first_pair(index_t feature) const {
    return features_->is_sparse() ? 2 * features_->first_bin(feature) : feature * 4 * bin_stride;
  }

  index_t bin_stride = 0;   // dense: bins between the starts of two kinds
  index_t kind_offset = 0;  // from the unlabelled to the labelled bins
  index_t size = 0;

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
  // Whether U takes part, or rows of P and N alone.
  virtual void start(bool use_unlabelled) = 0;
  // Of the rows that take part.
  virtual index_t count_above(const StumpBoundary& boundary) = 0;
  // The largest exponent of the weights in every slot: sample_weight * exp(+-f), -inf where there is none.
  virtual PerSlot tops() = 0;
  // Sets the weights to exp(exponent - top); returns their sums.
  virtual WeightSums weigh(const PerSlot& tops) = 0;
  // Changes rows, after adding up their weights.
  virtual AddedRows add(const StumpChange& change) = 0;
  // The rows to be changed, unlabelled and labelled ones, which are few; of dense features. The caller changes them.
  virtual std::array<ListedRows, 2> list(const StumpChange& change) = 0;
  // Changes f alone, by the step of unlabelled rows; before anything else comes weigh.
  virtual void move(const StumpChange& change) = 0;
};

// Rows that are held here, all of them or a shard; the training set is used, not copied.
// Throws std::invalid_argument for labels that are not +1, 0 or -1.
std::unique_ptr<StumpRows> make_stump_rows(const BoostTrainingSet& train, Isa isa, Team& team);

// How many of the rows that take part are in every bin (BinnedFeatures::first_bin); of sparse features those alone that
// have an entry.
std::vector<index_t> count_bins(const BoostTrainingSet& train, bool use_unlabelled);

}  // namespace fastpu
