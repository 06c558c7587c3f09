// The search for the stump of largest |Delta| over all cuts and, in features with an order, over every boundary
// inside the bins too.
//
// Inside a bin Delta stays between (Delta above the bin) - (the bin's negative weight) and (Delta above the bin) + (its
// positive weight); only bins whose bound reaches the best candidate so far are looked into. What is passed over
// cannot win, so the result is that of the full search.
//
// A categorical feature has one candidate, a set of its categories (see stump_boost.hpp).
#pragma once

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
  // `order` may be null; `rows`, the rows that it orders, are needed with it alone. `categorical` may be null. Compared
  // is the gain of a stump that votes 1 above its threshold and `low` below: (1 - low) Delta + low (sum of all g),
  // which is Delta itself for low = 0 and the edge for low = -1.
  StumpSearch(BoostState& state, const FeatureOrder* order, const LocalStumpRows* rows, const std::uint8_t* categorical,
              double low, Team& team);

  // Settles the histograms and returns the best boundary: of all whose |score| is within 1e-12 of the largest, the
  // first in order of feature, then threshold.
  Boundary best(const GainCoefs& coefs);

  // Sums of the stored weights of the rows above a boundary.
  PerSlot sums_above(const Boundary& boundary) const;

  // Position in the order's lists, or -1.
  index_t order_of(index_t feature) const { return order_of_[static_cast<std::size_t>(feature)]; }

 private:
  struct Scan;
  // A bin that may hold the best boundary inside it.
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
  std::vector<index_t> first_cut_;     // per feature: the cuts with rows on both sides are first_cut_ <= k < end_cut_;
  std::vector<index_t> end_cut_;       // found in the first search
  std::vector<CategorySet> occupied_;  // per feature, where some are categorical: the codes with rows; found there too
  std::vector<Scan> scans_;            // per worker
  std::vector<PromisingBin> promising_;
  std::vector<double> best_inside_;  // for each of them the best |score| inside, -1 where it was not looked for
};

// The gains of the bins of one feature, and their sums from the lowest bin on.
struct StumpSearch::Scan {
  std::vector<double> gain;
  std::vector<double> prefix;
  double total = 0;   // as computed, not taken to be 0
  double center = 0;  // score = slope * Delta + center
  double slope = 1;
  double best = -1;  // of this worker's features in this round
  std::vector<PromisingBin> promising;
  void start_round() {
    best = -1;
    promising.clear();
  }
  double above(index_t bin) const { return total - prefix[static_cast<std::size_t>(bin)]; }
  double score(double delta) const { return slope * delta + center; }
};

}  // namespace fastpu::detail
