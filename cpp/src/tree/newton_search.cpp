#include "tree/newton_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fastpu::detail {

namespace {

constexpr double kLeastGain = 1e-9;   // relative to the score of the node: what rounding could make of a gain of 0
constexpr index_t kFeatureBlock = 8;  // features of one parallel task
constexpr index_t kFewCuts = 3;       // the gains of so few cuts take no longer than a bound of them

struct Category {
  std::uint32_t code = 0;
  std::uint64_t sum = 0;
  double value = 0;  // of a leaf of its rows, but for a factor < 0
};

}  // namespace

NewtonSearch::NewtonSearch(const TreeFeatures& features, NodeRows& rows, double lam, double min_leaf_hessian,
                           Team& team, int n_workers)
    : features_(features),
      binned_(features.binned()),
      layout_(binned_),
      rows_(rows),
      lam_(lam),
      min_leaf_hessian_(min_leaf_hessian),
      kernels_(newton_kernels(team.isa())),
      team_(team),
      n_workers_(n_workers) {}

void NewtonSearch::start(const std::vector<std::uint32_t>& split_features, const NewtonUnits& units) {
  split_features_ = split_features;
  units_ = units;
}

void NewtonSearch::search(const Node& node, bool with_counts) {
  set(searches_[0], node);
  set(searches_[1], {});
  find_bounds(nullptr, nullptr);
  if (node.best != nullptr) choose(searches_[0], with_counts);
}

void NewtonSearch::search_children(const Node& first, const Node& second) {
  set(searches_[0], first);
  set(searches_[1], second);
  find_bounds(first.bins, second.bins);
  for (Search& search : searches_) {
    if (search.node.best != nullptr) choose(search, false);
  }
}

void NewtonSearch::set(Search& search, const Node& node) const {
  search.node = node;
  if (node.best == nullptr) return;
  search.sums = {g_of(node.sum) / units_.g_scale,
                 h_of(node.sum) / units_.h_scale,
                 1.0 / units_.g_scale,
                 1.0 / units_.h_scale,
                 lam_,
                 min_leaf_hessian_};
  search.most.resize(split_features_.size());
  search.known.resize(split_features_.size());
}

// Subtracts one histogram from another, if there are any, and bounds the gains of all features, which read the result.
void NewtonSearch::find_bounds(const std::uint64_t* subtracted, std::uint64_t* from) {
  constexpr index_t kBinsPerWorker = 16384;
  const index_t work = 2 * layout_.size();
  const int workers = static_cast<int>(std::min<index_t>(n_workers_, 1 + work / kBinsPerWorker));
  const auto n_features = static_cast<index_t>(split_features_.size());
  team_.for_each(count_blocks(n_features, kFeatureBlock), workers, [&](index_t block, int) {
    const index_t end = std::min(n_features, (block + 1) * kFeatureBlock);
    for (index_t k = block * kFeatureBlock; k < end; ++k) {
      const std::uint32_t f = split_features_[at(k)];
      if (subtracted != nullptr) {
        const index_t first = layout_.first_bin(f);
        kernels_.subtract(from + first, subtracted + first, binned_.n_bins(f));
      }
      for (Search& search : searches_) {
        if (search.node.best != nullptr) bound_gain(search, at(k));
      }
    }
  });
}

// Bounds the gains of the k-th feature, or finds the largest where there is no faster bound.
void NewtonSearch::bound_gain(Search& search, std::size_t k) const {
  const std::uint32_t f = split_features_[k];
  if (features_.is_categorical(f) || binned_.n_bins(f) - 1 <= kFewCuts || !search.sums.has_bounds()) {
    return find_gain(search, k);
  }
  search.most[k] = best_cut(search, f, kernels_.score_bound) - search.sums.score();
  search.known[k] = Known::bound;
}

void NewtonSearch::find_gain(Search& search, std::size_t k) const {
  search.known[k] = Known::gain;
  if (!features_.is_categorical(split_features_[k])) {
    const auto best_score = [&](const std::uint64_t* bins, index_t n, const NewtonNode& node) {
      if (n > kFewCuts) return kernels_.best_score(bins, n, node);
      double best = -kInfinity;
      std::uint64_t left = 0;
      for (index_t c = 0; c < n; ++c) best = std::max(best, node.score(left += bins[c]));
      return best;
    };
    search.most[k] = best_cut(search, split_features_[k], best_score) - search.sums.score();
    return;
  }
  search.most[k] = -kInfinity;
  for_sets(search, split_features_[k], {}, [&](const NewtonSplit& split) {
    search.most[k] = std::max(search.most[k], split.gain);
    return false;
  });
}

// The best score of a feature's cuts, with missing values on the left or on the right.
template <class Score>
double NewtonSearch::best_cut(const Search& search, std::uint32_t feature, Score&& score) const {
  const std::uint64_t* bins = search.node.bins + layout_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  const double best = score(bins, n - 1, search.sums);
  if (!features_.can_be_missing(feature) || bins[0] == 0) return best;
  return std::max(best, score(bins + 1, n - 2, search.sums));
}

// Finds the best split from bounds of the gains: only features whose bounds reach the top are searched.
void NewtonSearch::choose(Search& search, bool with_counts) {
  NewtonSplit& chosen = *search.node.best;
  const double least = kLeastGain * search.sums.score();
  const auto index_of = [&](auto place) { return static_cast<std::size_t>(place - search.most.begin()); };
  while (true) {
    const std::size_t top = index_of(std::ranges::max_element(search.most));
    const double best = search.most[top];
    if (!(best > least)) return;
    const double limit = best - kGainTie * best;
    const std::size_t k = index_of(std::ranges::find_if(search.most, [=](double gain) { return gain >= limit; }));
    if (search.known[top] == Known::bound || search.known[k] == Known::bound) {
      find_gain(search, search.known[top] == Known::bound ? top : k);
      continue;
    }
    const std::uint32_t feature = split_features_[k];
    const bool is_counted = search.known[k] == Known::counted;
    counts_.clear();
    if (is_counted) rows_.count_codes(search.node.number, feature, counts_);
    for_splits(search, feature, counts_, [&](const NewtonSplit& split) {
      if (split.gain >= limit) chosen = split;
      return chosen.exists;
    });
    if (!with_counts || is_counted || has_enough(rows_.count_sides(search.node.number, chosen))) return;
    // The best split of this feature leaves too few rows on a side: its others are compared by counts.
    chosen = {};
    search.known[k] = Known::counted;
    rows_.count_codes(search.node.number, feature, counts_);
    search.most[k] = -kInfinity;
    for_splits(search, feature, counts_, [&](const NewtonSplit& split) {
      search.most[k] = std::max(search.most[k], split.gain);
      return false;
    });
  }
}

// ---- The splits of a feature ----

template <class Visit>
void NewtonSearch::for_splits(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                              Visit&& visit) const {
  if (features_.is_categorical(feature)) return for_sets(search, feature, counts, visit);
  for_cuts(search, feature, counts, visit);
}

template <class Visit>
void NewtonSearch::for_cuts(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.node.bins + layout_.first_bin(feature);
  const index_t n = binned_.n_bins(feature);
  const bool can_be_missing = features_.can_be_missing(feature);
  const std::uint64_t missing = can_be_missing ? bins[0] : 0;
  const index_t enough = units_.count.enough;
  const index_t all_rows = std::accumulate(counts.begin(), counts.end(), index_t{0});
  const index_t missing_rows = can_be_missing && !counts.empty() ? counts[0] : 0;
  index_t rows = 0;
  const double score = search.sums.score();
  NewtonSplit split;
  split.exists = true;
  split.feature = feature;
  const auto offer = [&](index_t cut, std::uint64_t left, index_t left_rows, bool missing_right) {
    if (!counts.empty() && (left_rows < enough || all_rows - left_rows < enough)) return false;
    split.gain = search.sums.score(left) - score;
    split.cut = static_cast<std::uint32_t>(cut);
    split.missing_right = missing_right;
    split.left = left;
    return split.gain > -kInfinity && visit(split);
  };
  if (missing != 0 && offer(0, missing, missing_rows, false)) return;
  std::uint64_t present = 0;
  for (index_t k = can_be_missing ? 1 : 0; k + 1 < n; ++k) {
    present += bins[k];
    if (!counts.empty()) rows += counts[at(k)];
    if (missing != 0) {
      if (offer(k, present + missing, rows + missing_rows, false) || offer(k, present, rows, true)) return;
    } else {
      const bool right = can_be_missing && h_of(search.node.sum) - h_of(present) > h_of(present);
      if (offer(k, present, right ? rows : rows + missing_rows, right)) return;
      if (missing_rows > 0 && offer(k, present, right ? rows + missing_rows : rows, !right)) return;
    }
  }
}

template <class Visit>
void NewtonSearch::for_sets(const Search& search, std::uint32_t feature, const std::vector<index_t>& counts,
                            Visit&& visit) const {
  const std::uint64_t* bins = search.node.bins + layout_.first_bin(feature);
  const std::uint64_t missing = bins[0];
  std::vector<Category> categories;
  for (index_t code = 1; code < binned_.n_bins(feature); ++code) {
    if (bins[code] == 0) continue;
    const double g = g_of(bins[code]) * search.sums.g_unit;
    const double h = h_of(bins[code]) * search.sums.h_unit + lam_;
    categories.push_back({static_cast<std::uint32_t>(code), bins[code], h > 0 ? g / h : std::copysign(kInfinity, g)});
  }
  std::ranges::stable_sort(categories, {}, &Category::value);
  const double score = search.sums.score();
  NewtonSplit split;
  split.exists = true;
  split.by_categories = true;
  split.feature = feature;
  const CategorySet unmet = codes_to_left(categories, 0, {.missing_right = true, .unmet_right = false});
  const auto offer = [&](const CategorySet& own, double by_chance, std::uint64_t left, bool missing_right) {
    split.gain = search.sums.score(left) - score - by_chance;
    if (split.gain == -kInfinity) return false;
    split.missing_right = missing_right;
    split.left = left;
    split.left_codes = own;
    if (!missing_right) split.left_codes.add(0);
    // A category that the node did not meet tells nothing: it goes with the larger part.
    if (h_of(search.node.sum) - h_of(left) <= h_of(left)) split.left_codes.add(unmet);
    SideCounts rows;
    for (std::size_t code = 0; code < counts.size(); ++code) {
      (split.left_codes.has(static_cast<std::uint32_t>(code)) ? rows.left : rows.right) += counts[code];
    }
    return (counts.empty() || has_enough(rows)) && visit(split);
  };
  // Calls offer_side(left, missing_right) for the sides that missing values may go to.
  const auto for_sides = [&](std::uint64_t present, auto&& offer_side) {
    if (missing != 0) return offer_side(present + missing, false) || offer_side(present, true);
    const bool right = h_of(search.node.sum) - h_of(present) > h_of(present);
    return offer_side(present, right) || (!counts.empty() && offer_side(present, !right));
  };
  if (missing != 0 && offer({}, 0.0, missing, false)) return;
  // Two categories are divided by the cut of their order already.
  for (std::size_t i = 0; i < categories.size() && categories.size() > 2; ++i) {
    CategorySet one;
    one.add(categories[i].code);
    const bool is_done = for_sides(categories[i].sum, [&](std::uint64_t left, bool missing_right) {
      return offer(one, 0.0, left, missing_right);
    });
    if (is_done) return;
  }
  const double by_chance = excess_categories(categories.size()) * units_.chance_gain;
  CategorySet first;
  std::uint64_t present = 0;
  for (std::size_t i = 0; i + 1 < categories.size(); ++i) {
    first.add(categories[i].code);
    present += categories[i].sum;
    const bool is_done = for_sides(
        present, [&](std::uint64_t left, bool missing_right) { return offer(first, by_chance, left, missing_right); });
    if (is_done) return;
  }
}

}  // namespace fastpu::detail
