// The rows of a bag with sparse codes. What a node needs is read off the entries of its rows: a feature without any
// entry there is constant. So a node costs as many steps as its rows have entries, whatever the number of features.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "tree/pu_rows.hpp"

namespace fastpu::detail {

class PuSparseRows {
 public:
  using Range = PuRange;

  explicit PuSparseRows(const TreeFeatures& features);

  PuRange start(const Bag& bag) {
    lists_[0] = bag.rows;
    lists_[1].resize(bag.rows.size());
    return bag.range();
  }
  static void settle(PuRange& /*node*/) {}

  // As in PuDenseRows.
  void find_varying(const PuRange& node, std::vector<std::uint32_t>& varying);
  std::uint32_t low(std::uint32_t feature) const { return seen_[feature].low; }
  std::uint32_t high(std::uint32_t feature) const { return seen_[feature].high; }
  PuCounts missing(std::uint32_t feature) const { return seen_[feature].missing; }
  void count_at_most(const PuRange& node, std::vector<DrawnFeature>& drawn);
  void sum_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeSums<PuCounts>>& codes);
  void partition(const PuRange& node, const Split<PuCounts>& split, PuRange& left, PuRange& right);

 private:
  // What the entries of the node's rows say of a feature.
  struct Seen {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    PuCounts entries;
    PuCounts missing;
  };

  // Calls visit(row, of one row) for every row of the node.
  template <class Visit>
  void for_rows(const PuRange& node, Visit&& visit) const;
  // Calls visit(feature, code, of one row) for every entry of the node's rows.
  template <class Visit>
  void for_entries(const PuRange& node, Visit&& visit) const;
  std::uint32_t code_of(std::uint32_t row, std::uint32_t feature) const;

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  std::vector<std::uint32_t> feature_of_bin_;
  std::array<std::vector<std::uint32_t>, 2> lists_;
  std::vector<Seen> seen_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::int32_t> drawn_of_feature_;  // its place among the drawn ones, or -1
  std::vector<std::uint64_t> keys_;
};

}  // namespace fastpu::detail
