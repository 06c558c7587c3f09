// The rows of a bag with sparse codes. What a node needs is read off counts of the entries of its rows, bin by bin; a
// feature without any entry there is constant. Of two children the larger one takes over the counts of the node, less
// those of the smaller one. So a tree costs steps for the entries of its rows, each counted again in every smaller
// child, and for every node the features that have entries there, however many features there are.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "tree/pu_rows.hpp"

namespace fastpu::detail {

class PuSparseRows {
 public:
  using Range = PuRange;

  explicit PuSparseRows(const TreeFeatures& features);

  PuRange start(const Bag& bag) {
    count(PuRange{});
    lists_[0] = bag.rows;
    lists_[1].resize(bag.rows.size());
    return bag.range();
  }
  static void settle(PuRange& /*node*/) {}

  // As in PuDenseRows.
  void find_varying(const PuRange& node, std::vector<std::uint32_t>& varying);
  std::uint32_t low(std::uint32_t feature) const;
  std::uint32_t high(std::uint32_t feature) const;
  PuCounts missing(std::uint32_t feature) const {
    return features_.can_be_missing(feature) ? bins_[at(binned_.first_bin(feature))] : PuCounts{};
  }
  void count_at_most(const PuRange& node, std::vector<DrawnFeature>& drawn) const;
  void sum_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeSums<PuCounts>>& codes) const;
  void partition(const PuRange& node, const Split<PuCounts>& split, PuRange& left, PuRange& right);

 private:
  // The entries of a feature in the rows that are counted, and in how many bins they are.
  struct Entries {
    std::uint32_t n = 0;
    std::uint32_t n_bins = 0;
  };

  // Counts these rows in place of those that are counted.
  void count(const PuRange& node);
  // Takes rows out of the counts.
  void remove(const PuRange& node);
  // Calls visit(bin, of one row) for every entry of the node's rows.
  template <class Visit>
  void for_entries(const PuRange& node, Visit&& visit) const;
  // The rows that are counted without an entry of the feature, whose code is that of zero.
  PuCounts without_entry(std::uint32_t feature) const;
  // The counts of a code of the feature.
  PuCounts of_code(std::uint32_t feature, std::uint32_t code) const;
  // Whether some of the rows that are counted have this code.
  bool has_code(std::uint32_t feature, std::uint32_t code) const;
  std::uint32_t code_of(std::uint32_t row, std::uint32_t feature) const;

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  std::vector<std::uint32_t> feature_of_bin_;
  std::array<std::vector<std::uint32_t>, 2> lists_;
  PuRange counted_;  // the rows that are counted in bins_ and entries_
  std::vector<PuCounts> bins_;
  std::vector<Entries> entries_;
  std::vector<std::uint32_t> touched_;  // features that have entries, and some that had some; ascending
};

}  // namespace fastpu::detail
