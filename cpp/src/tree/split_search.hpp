// The best split among those that a node is offered.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu::detail {

// What is taken off the gain of a split by n categories, in multiples of what a single cut gains in the mean by chance.
// If a feature tells nothing, the best set of its categories gains up to n - 1 times as much as a single cut, and the
// best cut of a feature of numbers 4 to 5 times as much.
inline double excess_categories(std::size_t n) {
  constexpr std::size_t kLikeNumbers = 5;
  return static_cast<double>(std::max(n, kLikeNumbers) - kLikeNumbers);
}

// Sums over the rows of a node that have one code of a feature.
template <class Sums>
struct CodeSums {
  std::uint32_t code = 0;
  Sums sums;
};

template <class Sums>
struct Split {
  bool exists = false;
  bool by_categories = false;
  bool missing_right = false;
  std::uint32_t feature = 0;
  std::uint32_t cut = 0;   // codes up to this one go left, but for that of missing values
  CategorySet left_codes;  // of a split by categories; code 0 stands for what is missing
  double gain = 0;
  Sums left;
};

// Judges candidates in the order in which they are offered: of a feature cuts ascending, then missing values left
// before right. Of candidates whose gains agree to 1e-12 the first wins. So features that are offered in random order
// have the same chances where gains tie, as they often do in small nodes.
template <class Criterion>
class SplitSearch {
 public:
  using Sums = typename Criterion::Sums;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  // Leaves the best split in `best`.
  SplitSearch(const Criterion& criterion, std::uint32_t min_leaf_rows, const Sums& node, Split<Sums>& best)
      : criterion_(criterion),
        min_leaf_rows_(min_leaf_rows),
        node_(node),
        loss_(criterion.loss(node)),
        gain_to_beat_(criterion.least_gain(node)),
        best_(best) {
    best_.exists = false;
  }

  // What is gained if these rows go left, of which there are some on either side.
  double gain(const Sums& left) const { return loss_ - criterion_.loss(left) - criterion_.loss(node_ - left); }

  // The cut of a feature without missing values here: `left` are the rows at most there, `gain` is what it gains.
  void offer_plain_cut(std::uint32_t feature, std::uint32_t cut, const Sums& left, double gain, bool can_be_missing) {
    if (!consider(left, gain)) return;
    best_.missing_right = can_be_missing && node_.rows() - left.rows() > left.rows();
    set_cut(feature, cut);
  }

  // The cut of a feature that has `present` rows with codes from 1 on at most the cut, and `missing` rows; a feature
  // without a code for missing values counts all rows as present.
  void offer_cut(std::uint32_t feature, std::uint32_t cut, const Sums& present, const Sums& missing,
                 bool can_be_missing) {
    for_both_sides(present, missing, can_be_missing, [&](bool missing_right, const Sums& left) {
      if (consider(left)) best_.missing_right = missing_right, set_cut(feature, cut);
    });
  }

  // Missing values left, all others right.
  void offer_missing_alone(std::uint32_t feature, const Sums& missing) {
    if (consider(missing)) best_.missing_right = false, set_cut(feature, 0);
  }

  // Whether many categories gain no more than they do by chance if these rows go left.
  bool is_by_chance(std::size_t n_categories, const Sums& left) const {
    const double excess = excess_categories(n_categories);
    return excess > 0 && !(gain(left) > excess * criterion_.chance_gain(node_));
  }

  // The first n_left of the categories left. What many categories gain by chance is taken off the gain.
  void offer_categories(std::uint32_t feature, const std::vector<CodeSums<Sums>>& categories, std::size_t n_left,
                        const Sums& present, const Sums& missing) {
    const double by_chance = excess_categories(categories.size()) * criterion_.chance_gain(node_);
    for_both_sides(present, missing, true, [&](bool missing_right, const Sums& left) {
      if (consider(left, gain(left) - by_chance)) set_categories(feature, categories, n_left, missing_right);
    });
  }
  void offer_missing_categories_alone(std::uint32_t feature, const std::vector<CodeSums<Sums>>& categories,
                                      const Sums& missing) {
    if (consider(missing)) set_categories(feature, categories, 0, false);
  }

 private:
  static constexpr std::uint32_t kMaxCount = 0xffffffffU;

  template <class Body>
  void for_both_sides(const Sums& present, const Sums& missing, bool can_be_missing, Body&& body) {
    if (missing.rows() > 0) {
      body(false, present + missing);
      body(true, present);
    } else {
      body(can_be_missing && node_.rows() - present.rows() > present.rows(), present);
    }
  }

  bool consider(const Sums& left) { return consider(left, gain(left)); }
  bool consider(const Sums& left, double gain) {
    const bool is_better = gain > gain_to_beat_;  // false for NaN, the loss of no rows
    // Neither condition can be predicted, so that both make one branch.
    if (std::min(left.rows(), node_.rows() - left.rows()) < (is_better ? min_leaf_rows_ : kMaxCount)) return false;
    gain_to_beat_ = gain + 1e-12 * std::abs(gain);
    best_.exists = true;
    best_.gain = gain;
    best_.left = left;
    return true;
  }

  void set_cut(std::uint32_t feature, std::uint32_t cut) {
    best_.by_categories = false;
    best_.feature = feature;
    best_.cut = cut;
  }

  void set_categories(std::uint32_t feature, const std::vector<CodeSums<Sums>>& categories, std::size_t n_left,
                      bool missing_right) {
    best_.by_categories = true;
    best_.missing_right = missing_right;
    best_.feature = feature;
    best_.left_codes.words.fill(missing_right ? 0 : ~std::uint64_t{0});
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (i < n_left) {
        best_.left_codes.add(categories[i].code);
      } else {
        best_.left_codes.remove(categories[i].code);
      }
    }
  }

  const Criterion& criterion_;
  std::uint32_t min_leaf_rows_;
  Sums node_;
  double loss_;
  double gain_to_beat_;
  Split<Sums>& best_;
};

// Offers every cut of a feature, or every cut of the order of its categories by what ranks_below compares. `codes` are
// the codes of the node's rows in ascending order.
template <class Criterion>
void offer_all_cuts(SplitSearch<Criterion>& search, std::uint32_t feature, bool can_be_missing,
                    const std::vector<CodeSums<typename Criterion::Sums>>& codes) {
  using Sums = typename Criterion::Sums;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  const bool has_missing = can_be_missing && codes.front().code == 0;
  const Sums missing = has_missing ? codes.front().sums : Sums{};
  if (has_missing) search.offer_missing_alone(feature, missing);
  Sums present;
  for (std::size_t i = has_missing ? 1 : 0; i + 1 < codes.size(); ++i) {
    present += codes[i].sums;
    search.offer_cut(feature, codes[i].code, present, missing, can_be_missing);
  }
}

// Takes the missing values out of the codes, and brings the categories into the order in which they are cut.
template <class Sums>
Sums order_categories(std::vector<CodeSums<Sums>>& codes) {
  Sums missing;
  if (codes.front().code == 0) {
    missing = codes.front().sums;
    codes.erase(codes.begin());
  }
  std::ranges::stable_sort(codes, [](const auto& a, const auto& b) { return ranks_below(a.sums, b.sums); });
  return missing;
}

template <class Criterion>
void offer_all_categories(SplitSearch<Criterion>& search, std::uint32_t feature,
                          std::vector<CodeSums<typename Criterion::Sums>>& codes) {
  using Sums = typename Criterion::Sums;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  const Sums missing = order_categories(codes);
  if (missing.rows() > 0) search.offer_missing_categories_alone(feature, codes, missing);
  Sums present;
  for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
    present += codes[i].sums;
    search.offer_categories(feature, codes, i + 1, present, missing);
  }
}

// Offers one cut of the order of the categories; `where` in [0, 1) says which. If that gains no more than many
// categories do by chance, the order is drawn, so that what has to be split is split without a look at its groups.
template <class Criterion>
void offer_some_categories(SplitSearch<Criterion>& search, std::uint32_t feature, double where,
                           std::vector<CodeSums<typename Criterion::Sums>>& codes) {
  using Sums = typename Criterion::Sums;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  const Sums missing = order_categories(codes);
  if (codes.size() == 1) return search.offer_missing_categories_alone(feature, codes, missing);
  const auto n_left = 1 + static_cast<std::size_t>(where * static_cast<double>(codes.size() - 1));
  const auto sum_left = [&] {
    Sums sum;
    for (std::size_t i = 0; i < n_left; ++i) sum += codes[i].sums;
    return sum;
  };
  Sums present = sum_left();
  if (search.is_by_chance(codes.size(), present)) {
    Random(static_cast<std::uint64_t>(where * 0x1p53)).shuffle(codes);
    present = sum_left();
  }
  search.offer_categories(feature, codes, n_left, present, missing);
}

}  // namespace fastpu::detail
