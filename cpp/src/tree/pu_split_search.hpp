// The best split of a node of positive and unlabelled rows, among the splits that it is offered.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fastpu/common/random.hpp"
#include "tree/grown_tree.hpp"
#include "tree/pu_criterion.hpp"

namespace fastpu::detail {

using PuSplit = Split<PuCounts>;

// How many rows of a node have a code of a feature.
struct CodeCounts {
  std::uint32_t code = 0;
  PuCounts counts;
};

// Judges splits in the order in which they are offered: of a feature the cuts ascending, each with missing values on
// the left before those on the right. Of ties the first wins. So features that are offered in random order have the
// same chances where gains tie, as they often do in small nodes.
template <class Criterion>
class PuSplitSearch {
 public:
  // `node` counts the rows of the node. Leaves the best split in `best`.
  PuSplitSearch(const Criterion& criterion, std::uint32_t min_leaf_rows, const PuCounts& node, PuSplit& best)
      : criterion_(criterion),
        min_leaf_rows_(min_leaf_rows),
        node_(node),
        loss_(criterion.loss(node)),
        gain_to_beat_(criterion.least_gain(node)),
        best_(best) {
    best_.exists = false;
  }

  // What the split gains that sends these rows left, where neither side is empty.
  double gain(const PuCounts& left) const { return loss_ - criterion_.loss(left) - criterion_.loss(node_ - left); }

  // Offers a cut with missing values on either side. `present` are the rows at most at the cut without the `missing`
  // ones.
  void offer_cut(std::uint32_t feature, std::uint32_t cut, const PuCounts& present, const PuCounts& missing,
                 bool can_be_missing) {
    for_both_sides(present, missing, can_be_missing, [&](bool missing_right, const PuCounts& left) {
      if (consider(left, gain(left))) set_cut(feature, cut, missing_right);
    });
  }

  // Offers the split of missing values from all others.
  void offer_missing_alone(std::uint32_t feature, const PuCounts& missing) {
    if (consider(missing, gain(missing))) set_cut(feature, 0, false);
  }

  // Whether the split of n categories that sends these rows left gains no more than one by chance.
  bool is_by_chance(std::size_t n_categories, const PuCounts& left) const {
    const double excess = excess_categories(n_categories);
    return excess > 0 && !(gain(left) > excess * criterion_.chance_gain(node_));
  }

  // Offers the split that sends the first n_left of the categories left. What it gains by chance is taken off its gain.
  void offer_categories(std::uint32_t feature, const std::vector<CodeCounts>& categories, std::size_t n_left,
                        const PuCounts& present, const PuCounts& missing) {
    const double by_chance = excess_categories(categories.size()) * criterion_.chance_gain(node_);
    for_both_sides(present, missing, true, [&](bool missing_right, const PuCounts& left) {
      if (consider(left, gain(left) - by_chance)) set_categories(feature, categories, n_left, missing_right);
    });
  }
  // Offers the split that sends one of the categories left, from whose gain so many times what one gains by chance is
  // taken off.
  void offer_category(std::uint32_t feature, const std::vector<CodeCounts>& categories, std::size_t one, double excess,
                      const PuCounts& missing) {
    const double by_chance = excess > 0 ? excess * criterion_.chance_gain(node_) : 0.0;
    for_both_sides(categories[one].counts, missing, true, [&](bool missing_right, const PuCounts& left) {
      if (!consider(left, gain(left) - by_chance)) return;
      set_by_categories(feature, missing_right);
      best_.left_codes = one_code_to_left(categories, one, other_codes());
    });
  }
  void offer_missing_categories_alone(std::uint32_t feature, const std::vector<CodeCounts>& categories,
                                      const PuCounts& missing) {
    if (consider(missing, gain(missing))) set_categories(feature, categories, 0, false);
  }

 private:
  static constexpr std::uint32_t kMaxCount = 0xffffffffU;

  template <class Body>
  void for_both_sides(const PuCounts& present, const PuCounts& missing, bool can_be_missing, Body&& body) {
    if (missing.rows() > 0) {
      body(false, present + missing);
      body(true, present);
    } else {
      body(can_be_missing && node_.rows() - present.rows() > present.rows(), present);
    }
  }

  // Takes the split if it is the best so far and leaves enough rows on both sides; returns whether it did.
  bool consider(const PuCounts& left, double gain) {
    const bool is_better = gain > gain_to_beat_;  // false for NaN, the gain of a split with an empty side
    // Neither condition can be predicted, so one branch tests both.
    if (std::min(left.rows(), node_.rows() - left.rows()) < (is_better ? min_leaf_rows_ : kMaxCount)) return false;
    gain_to_beat_ = gain + kGainTie * std::abs(gain);
    best_.exists = true;
    best_.gain = gain;
    best_.left = left;
    return true;
  }

  void set_cut(std::uint32_t feature, std::uint32_t cut, bool missing_right) {
    best_.by_categories = false;
    best_.missing_right = missing_right;
    best_.feature = feature;
    best_.cut = cut;
  }

  void set_categories(std::uint32_t feature, const std::vector<CodeCounts>& categories, std::size_t n_left,
                      bool missing_right) {
    set_by_categories(feature, missing_right);
    best_.left_codes = codes_to_left(categories, n_left, other_codes());
  }

  // A category that the node did not meet tells nothing: it goes with the larger part of the rows.
  OtherCodes other_codes() const { return {best_.missing_right, node_.rows() - best_.left.rows() > best_.left.rows()}; }

  void set_by_categories(std::uint32_t feature, bool missing_right) {
    best_.by_categories = true;
    best_.missing_right = missing_right;
    best_.feature = feature;
  }

  const Criterion& criterion_;
  std::uint32_t min_leaf_rows_;
  PuCounts node_;
  double loss_;
  double gain_to_beat_;
  PuSplit& best_;
};

// Offers every cut of a numeric feature. `codes` are those of the node's rows, ascending.
template <class Criterion>
void offer_all_cuts(PuSplitSearch<Criterion>& search, std::uint32_t feature, bool can_be_missing,
                    const std::vector<CodeCounts>& codes) {
  const bool has_missing = can_be_missing && codes.front().code == 0;
  const PuCounts missing = has_missing ? codes.front().counts : PuCounts{};
  if (has_missing) search.offer_missing_alone(feature, missing);
  PuCounts present;
  for (std::size_t i = has_missing ? 1 : 0; i + 1 < codes.size(); ++i) {
    present += codes[i].counts;
    search.offer_cut(feature, codes[i].code, present, missing, can_be_missing);
  }
}

// Takes the missing values out of the codes of a categorical feature, and orders the categories by their shares of
// positives: a split sends the first of them left. Returns the missing rows.
inline PuCounts order_categories(std::vector<CodeCounts>& codes) {
  PuCounts missing;
  if (codes.front().code == 0) {
    missing = codes.front().counts;
    codes.erase(codes.begin());
  }
  std::ranges::stable_sort(codes, [](const auto& a, const auto& b) { return ranks_below(a.counts, b.counts); });
  return missing;
}

// Offers each of the categories against all others: few positive rows tell of one category at most. Two categories are
// divided by the cut of their order already.
template <class Criterion>
void offer_each_category(PuSplitSearch<Criterion>& search, std::uint32_t feature, double excess,
                         const std::vector<CodeCounts>& categories, const PuCounts& missing) {
  if (categories.size() < 3) return;
  for (std::size_t k = 0; k < categories.size(); ++k) search.offer_category(feature, categories, k, excess, missing);
}

// Offers every cut of the order of the categories, and each of them against all others, of which the best gains by
// chance about as much as the best cut of numbers.
template <class Criterion>
void offer_all_categories(PuSplitSearch<Criterion>& search, std::uint32_t feature, std::vector<CodeCounts>& codes) {
  const PuCounts missing = order_categories(codes);
  if (missing.rows() > 0) search.offer_missing_categories_alone(feature, codes, missing);
  offer_each_category(search, feature, 0.0, codes, missing);
  PuCounts present;
  for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
    present += codes[i].counts;
    search.offer_categories(feature, codes, i + 1, present, missing);
  }
}

// Offers each of the categories against all others, and one cut of their order, which `where` in [0, 1) chooses. If
// that cut gains no more than many categories do by chance, they are put into a random order first: where a split must
// be made, it is then made without regard to the labels.
template <class Criterion>
void offer_some_categories(PuSplitSearch<Criterion>& search, std::uint32_t feature, double where,
                           std::vector<CodeCounts>& codes) {
  const PuCounts missing = order_categories(codes);
  if (codes.size() == 1) return search.offer_missing_categories_alone(feature, codes, missing);
  offer_each_category(search, feature, excess_of_one(codes.size()), codes, missing);
  const auto n_left = 1 + static_cast<std::size_t>(where * static_cast<double>(codes.size() - 1));
  const auto sum_left = [&] {
    PuCounts sum;
    for (std::size_t i = 0; i < n_left; ++i) sum += codes[i].counts;
    return sum;
  };
  PuCounts present = sum_left();
  if (search.is_by_chance(codes.size(), present)) {
    Random(static_cast<std::uint64_t>(where * 0x1p53)).shuffle(codes);
    present = sum_left();
  }
  search.offer_categories(feature, codes, n_left, present, missing);
}

}  // namespace fastpu::detail
