// The rows of a bag with sparse codes, for trees that are grown on them.
//
// The entries of the rows of one node at a time are counted, bin by bin. A feature without an entry in the node is
// constant there. Of two children the larger one takes over the counts of its parent, less those of the smaller one. So
// the time of a tree does not depend on the number of features: it is that of counting the entries of its rows, again
// in every smaller child, and of going through the features that have entries in a node.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "common/bit_set.hpp"
#include "tree/pu_rows.hpp"
#include "tree/pu_split_search.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

class PuSparseRows {
 public:
  explicit PuSparseRows(const TreeFeatures& features);

  PuRange start(const Bag& bag) {
    count(PuRange{});
    copy_rows(bag, lists_);
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
  void count_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeCounts>& codes) const;
  void partition(const PuRange& node, const PuSplit& split, PuRange& left, PuRange& right);

 private:
  // In how many bins of a feature the counted rows have entries, and the sum of the numbers of these bins: that of the
  // bin itself if there is one.
  struct Entries {
    std::uint32_t n_bins = 0;
    std::uint32_t sum = 0;
  };

  // Counts the entries of this node, in place of the node that was counted before.
  void count(const PuRange& node);
  // Takes the entries of a child out of the counts.
  void remove(const PuRange& node);
  // Calls visit(bin, count of a row of its group) for every entry of the node's rows.
  template <class Visit>
  void for_entries(const PuRange& node, Visit&& visit) const;
  // The counted rows that have no entry of the feature: their code is that of zero.
  PuCounts without_entry(std::uint32_t feature) const;
  // The counted rows that have this code of the feature, and whether there are any.
  PuCounts of_code(std::uint32_t feature, std::uint32_t code) const;
  bool has_code(std::uint32_t feature, std::uint32_t code) const;
  std::uint32_t code_of(std::uint32_t row, std::uint32_t feature) const;

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  std::array<std::vector<std::uint32_t>, 2> lists_;
  PuRange counted_;             // the node whose entries are counted, in bins_ and entries_
  std::vector<PuCounts> bins_;  // the rows of P and U that have an entry in each bin
  std::vector<Entries> entries_;
  BitSet with_entries_;  // the features with entries
};

}  // namespace fastpu::detail
