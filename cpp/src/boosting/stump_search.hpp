// The search for the stump of largest |Delta| over all cuts and, in features with an order, over every boundary
// inside the bins too.
//
// Inside a bin Delta stays between (Delta above the bin) - (the bin's negative weight) and (Delta above the bin) + (its
// positive weight). Only bins whose bound reaches the best candidate so far are searched inside; the others cannot win,
// so the result is that of the full search.
//
// A categorical feature has one candidate, a set of its categories (see stump_boost.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "boosting/boost_state.hpp"
#include "boosting/local_stump_rows.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu::detail {

struct Boundary : StumpBoundary {
  double score = 0;  // the signed gain
};

class StumpSearch {
 public:
  // `order` may be null, and so may `rows`, the rows that it orders, if it is; `categorical` may be null. The score of
  // a stump is the gain of the votes 1 above its threshold and `low` below: (1 - low) Delta + low (sum of all g), which
  // is Delta itself for low = 0, and the edge for low = -1.
  StumpSearch(BoostState& state, const FeatureOrder* order, const LocalStumpRows* rows, const std::uint8_t* categorical,
              double low, Team& team);

  // Brings the histograms up to date and returns the best boundary: of all whose |score| is within 1e-12 of the
  // largest, the first in order of feature, then threshold.
  Boundary best(const GainCoefs& coefs);

  // Sums of the stored weights of the rows above a boundary.
  PerSlot sums_above(const Boundary& boundary) const;

  // The place of a feature in the lists of `order`, or -1.
  index_t order_of(index_t feature) const { return order_of_[at(feature)]; }

 private:
  struct Scan;
  // A bin that may have the best boundary inside.
  struct PromisingBin {
    index_t feature;
    index_t bin;
    double bound;   // no |score| inside exceeds it
    double above;   // Delta above the bin
    double center;  // as in Scan
  };
  double row_gain(std::uint32_t row, const GainCoefs& k) const;
  void load(index_t feature, const GainCoefs& coefs, Scan& scan) const;
  void find_cuts(index_t feature, const GainCoefs& k);
  void find_middle(index_t feature);
  bool is_larger_above(const Boundary& boundary) const;
  bool is_categorical(index_t feature) const { return categorical_ != nullptr && categorical_[feature] != 0; }
  Boundary best_set(index_t feature, const Scan& scan, const GainCoefs& k) const;
  double bin_bound(const Scan& scan, index_t feature, index_t bin, const GainCoefs& k) const;
  template <class Visit>
  void visit_inside(index_t feature, index_t bin, double above, const GainCoefs& coefs, Visit&& visit) const;
  void list_promising_bins(index_t feature, const GainCoefs& coefs, Scan& scan) const;
  void look_inside(const GainCoefs& coefs);
  Boundary first_reaching(index_t feature, double limit, const GainCoefs& coefs, Scan& scan) const;

  BoostState& state_;
  const BinnedFeatures& features_;
  const FeatureOrder* order_;
  const LocalStumpRows* rows_;
  const std::uint8_t* categorical_;
  double low_;
  Team& team_;
  std::vector<index_t> order_of_;
  std::vector<double> best_of_feature_;
  // Found in the first search: per feature the cuts first_cut_ <= k < end_cut_, which have rows on both sides, and if
  // there are categorical features, the codes that rows have.
  std::vector<index_t> first_cut_;
  std::vector<index_t> end_cut_;
  std::vector<CategorySet> occupied_;
  // Also found then, when the weights are those of the sample: per feature the bin in which the middle of the rows is,
  // and which share of the rows of this bin lies below it; of a categorical feature the rows that have each code.
  std::vector<std::int32_t> middle_bin_;
  std::vector<double> middle_share_;
  std::vector<std::vector<double>> rows_of_code_;
  std::vector<Scan> scans_;  // per worker
  std::vector<PromisingBin> promising_;
  std::vector<double> best_inside_;  // for each promising bin the best |score| inside; -1 where it was not searched
};

// The gains of the bins of one feature, and their sums from the lowest bin on.
struct StumpSearch::Scan {
  std::vector<double> gain;
  std::vector<double> prefix;
  double total = 0;   // of all gains, which rounding may leave unequal to 0
  double center = 0;  // score = slope * Delta + center
  double slope = 1;
  double best = -1;  // of this worker's features in this round
  std::vector<PromisingBin> promising;
  void start_round() {
    best = -1;
    promising.clear();
  }
  double above(index_t bin) const { return total - prefix[at(bin)]; }
  double score(double delta) const { return slope * delta + center; }
};

}  // namespace fastpu::detail
