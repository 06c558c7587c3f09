// Boosts trees on one set of rows, round after round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/to_text.hpp"
#include "fastpu/boosting/boosted_rows.hpp"
#include "fastpu/boosting/tree_inputs.hpp"
#include "fastpu/common/random.hpp"
#include "tree/newton_tree.hpp"

namespace fastpu::detail {

// How often sums over so many rows are halved: never if they fit a word. If they do not, there must be several holders,
// each of whose sums fits a word; a row then has 15 units or more on average, so that rounding changes little.
inline int halvings(index_t n_rows) {
  int n = 0;
  while (n_rows > kMostNewtonRows && (n_rows >> n) > kMostNewtonRows / 4) ++n;
  return n;
}

inline index_t share_of(double share, index_t n) {
  return std::clamp<index_t>(std::llround(share * static_cast<double>(n)), 1, n);
}

struct MadeRound {
  GrownTree tree;
  double risk = 0;  // after the round
};

// The unit that rows are counted in by their weights: weights that are whole numbers are counted exactly, and others to
// a 2^40th of what a leaf must have, if the sum over all rows does not overflow then. What rounding may take from the
// count of a leaf that has just enough is forgiven.
inline CountUnit count_unit(double min_leaf_rows, index_t n_rows) {
  constexpr int kFinest = 40;
  constexpr int kFineEnough = 20;  // finer than any whole number
  constexpr double kForgiven = 0x1p-32;
  const int size = std::ilogb(min_leaf_rows);
  const int room = 61 - std::ilogb(static_cast<double>(std::max<index_t>(n_rows, 1))) - size;
  const double scale = std::ldexp(1.0, std::min(std::max(kFinest - size, kFineEnough), room));
  return {scale, std::max<index_t>(1, std::llround(min_leaf_rows * scale * (1 - kForgiven)))};
}

// The weight whose rows are repeated, or 0. Rows of weight 2 and 3 then have the bits of 2 and 3 rows of weight 1. As
// each repetition is rounded by itself, there must not be so many that this changes splits.
inline double repeated_weight(const BoostedRowCounts& counts) {
  constexpr index_t kFew = index_t{1} << 17;
  const index_t most = std::min(std::max(kFew, 8 * counts.n_rows), kMostNewtonRows);
  return counts.weight < (static_cast<double>(most) + 0.5) * counts.unit ? counts.unit : 0.0;
}

class Booster {
 public:
  Booster(const TreeFeatures& features, BoostedRows& rows, const BoostedTreesOptions& options, std::uint64_t seed,
          Team& team, int n_workers)
      : features_(features),
        rows_(rows),
        options_(options),
        seed_(seed),
        counts_(checked(rows.counts())),
        unit_(count_unit(options.min_leaf_rows, counts_.n_rows)),
        loss_(make_tree_loss({}, options, team)),
        grower_(features, rows, newton_options(options, counts_.n_rows), team, n_workers),
        draws_rows_(options.subsample_unl < 1 && counts_.n_unlabelled > 0),
        draws_features_(options.max_features > 0 && options.max_features < features.binned().n_features) {
    all_features_.resize(at(features.binned().n_features));
    std::iota(all_features_.begin(), all_features_.end(), 0U);
    measure(false);
    risk_ = loss_->objective(tops_, sums_);
  }

  // The risk before the first round.
  double risk() const { return risk_; }
  // Whether a further round may find a split where this one found none.
  bool draws() const { return draws_rows_ || draws_features_; }

  MadeRound make_round(index_t round) {
    const std::uint64_t seed = Random::derived(seed_, static_cast<std::uint64_t>(round));
    std::vector<std::uint32_t> features = draws_features_ ? drawn_features(Random::derived(seed, 0)) : all_features_;
    if (draws_rows_) {
      rows_.draw(Random::derived(seed, 1), share_of(options_.subsample_unl, counts_.n_unlabelled));
      measure(true);
    }
    if (features_.binned().is_sparse()) drop_unsplittable(features);
    MadeRound made;
    const TreeLossBounds bounds = loss_->bounds(tops_, sums_);
    const TreeStart start = start_of(bounds, std::move(features));
    const double unit = std::ldexp(1.0, -start.halvings);
    made.tree = grower_.grow(start.features, {unit * start.g_scale, unit * start.h_scale, unit_, bounds.chance_gain},
                             [&](std::uint64_t* histogram) { return rows_.start(start, histogram); });
    measure(false);
    made.risk = loss_->objective(tops_, sums_);
    return made;
  }

 private:
  // Gains are squares of sums over weighted rows, which overflow beyond a limit.
  static BoostedRowCounts checked(const BoostedRowCounts& counts) {
    constexpr double kMostWeight = 1e100;
    if (counts.weight <= kMostWeight) return counts;
    throw std::invalid_argument("sample_weight must have a sum of at most " + to_text(kMostWeight) + ", got " +
                                to_text(counts.weight));
  }

  static NewtonOptions newton_options(NewtonOptions options, index_t n_rows) {
    options.max_leaves = std::clamp<index_t>(n_rows, 2, options.max_leaves);
    return options;
  }

  void measure(bool of_drawn) {
    is_of_drawn_ = of_drawn;
    tops_ = rows_.tops(of_drawn);
    sums_ = rows_.sums(of_drawn, tops_);
  }

  TreeStart start_of(const TreeLossBounds& bounds, std::vector<std::uint32_t> features) const {
    TreeStart start;
    start.of_drawn = is_of_drawn_;
    start.tops = tops_;
    start.sums = sums_;
    start.repeated = repeated_weight(counts_);
    const double n_rounded =
        start.repeated > 0 ? std::round(counts_.weight / start.repeated) : static_cast<double>(counts_.n_rows);
    start.halvings = halvings(counts_.n_rows);
    start.g_scale = newton_scale(bounds.g, n_rounded, start.halvings);
    start.h_scale = newton_scale(bounds.h, n_rounded, start.halvings);
    start.unit = unit_;
    start.features = std::move(features);
    return start;
  }

  std::vector<std::uint32_t> drawn_features(std::uint64_t seed) const {
    Random random(seed);
    std::vector<std::uint32_t> features = all_features_;
    const index_t n = options_.max_features;
    for (std::size_t i = 0; i < at(n); ++i) {
      std::swap(features[i], features[i + random.scaled(static_cast<std::uint32_t>(features.size() - i))]);
    }
    features.resize(at(n));
    std::ranges::sort(features);
    return features;
  }

  // Drops sparse features with too few entries: on one side of each of their splits are only rows with an entry.
  void drop_unsplittable(std::vector<std::uint32_t>& features) {
    if (draws_rows_ || entries_.empty()) entries_ = rows_.count_entries(is_of_drawn_, unit_);
    std::erase_if(features, [&](std::uint32_t f) { return entries_[f] < unit_.enough; });
  }

  const TreeFeatures& features_;
  BoostedRows& rows_;
  const BoostedTreesOptions& options_;
  std::uint64_t seed_;
  BoostedRowCounts counts_;
  CountUnit unit_;
  std::unique_ptr<TreeLoss> loss_;  // without rows
  NewtonGrower grower_;
  bool draws_rows_;
  bool draws_features_;
  bool is_of_drawn_ = false;  // whether tops_ and sums_ are those of the drawn rows
  TreeLossTops tops_;
  TreeLossSums sums_;
  double risk_ = 0;
  std::vector<std::uint32_t> all_features_;
  std::vector<index_t> entries_;  // of each sparse feature the count of the rows that have one
};

}  // namespace fastpu::detail
