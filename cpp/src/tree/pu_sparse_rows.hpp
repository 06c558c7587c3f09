// The rows of a bag with sparse codes, for trees that are grown on them.
//
// The entries of the rows of one node at a time are counted, bin by bin. A feature without an entry in the node is
// constant there. Of two children the larger one takes over the counts of its parent, less those of the smaller one. So
// the time of a tree does not depend on the number of features: it is that of counting the entries of its rows, again
// in every smaller child, and of going through the features that have entries in a node.
#pragma once

#include <array>
#include <vector>

#include "common/bit_set.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/isa.hpp"
#include "tree/pu_rows.hpp"
#include "tree/pu_split_search.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

class PuSparseRows {
 public:
  PuSparseRows(const TreeFeatures& features, Isa /*isa*/)
      : features_(features),
        binned_(features.binned()),
        bins_(make_vector<PuCounts>(binned_.total_bins(), "the counts of a node")),
        n_bins_(make_vector<std::uint32_t>(binned_.n_features, "the features of a node")),
        with_entries_(binned_.n_features, "the features of a node") {}

  PuRange start(const Bag& bag) {
    count(PuRange{});
    copy_rows(bag, lists_);
    return bag.range();
  }

  // As in PuDenseRows.
  void find_varying(const PuRange& node, std::vector<std::uint32_t>& varying) {
    if (node.first != counted_.first || node.end != counted_.end) count(node);
    // A feature is constant where all rows have an entry in one bin of it: the first row has it then.
    PuRange first_row = node;
    first_row.end = node.first + 1;
    constant_.clear();
    for_entries(first_row, [&](std::uint32_t bin, const PuCounts&) {
      if (bins_[bin].rows() == node.n_rows()) constant_.push_back(features_.feature_of(bin));
    });
    for (const std::uint32_t feature : constant_) with_entries_.erase(feature);
    varying.clear();
    with_entries_.for_each([&](std::size_t feature) { varying.push_back(static_cast<std::uint32_t>(feature)); });
    for (const std::uint32_t feature : constant_) with_entries_.insert(feature);
  }

  std::uint32_t low(std::uint32_t feature) const {
    std::uint32_t code = features_.can_be_missing(feature) ? 1 : 0;
    while (!has_code(feature, code)) ++code;
    return code;
  }

  std::uint32_t high(std::uint32_t feature) const {
    auto code = static_cast<std::uint32_t>(binned_.n_bins(feature) - 1);
    while (!has_code(feature, code)) --code;
    return code;
  }

  PuCounts missing(std::uint32_t feature) const {
    return features_.can_be_missing(feature) ? bins_[at(binned_.first_bin(feature))] : PuCounts{};
  }

  void count_at_most(const PuRange& /*node*/, std::vector<DrawnFeature>& drawn) const {
    for (DrawnFeature& d : drawn) {
      d.at_most = {};
      for (std::uint32_t code = 0; code <= d.cut; ++code) d.at_most += of_code(d.feature, code);
    }
  }

  void count_codes(const PuRange& /*node*/, std::uint32_t feature, std::vector<CodeCounts>& codes) const {
    codes.clear();
    for (std::uint32_t code = 0; index_t{code} < binned_.n_bins(feature); ++code) {
      const PuCounts counts = of_code(feature, code);
      if (counts.rows() > 0) codes.push_back({code, counts});
    }
  }

  void partition(const PuRange& node, const PuSplit& split, PuRange& left, PuRange& right) {
    const bool is_counted = node.first == counted_.first && node.end == counted_.end;  // `left` may be the node
    with_sides<std::uint32_t>(split, [&](auto goes_left) {
      split_range(lists_, node, split.left, left, right,
                  [&](std::uint32_t row) { return goes_left(code_of(row, split.feature)); });
    });
    if (!is_counted) return;
    const bool left_is_larger = left.n_rows() > right.n_rows();
    remove(left_is_larger ? right : left);
    counted_ = left_is_larger ? left : right;
  }

 private:
  // Counts the entries of this node, in place of the node that was counted before.
  void count(const PuRange& node) {
    remove(counted_);
    for_entries(node, [&](std::uint32_t bin, const PuCounts& one) {
      if (bins_[bin].rows() == 0) {
        const std::uint32_t feature = features_.feature_of(bin);
        ++n_bins_[feature];
        with_entries_.insert(feature);
      }
      bins_[bin] += one;
    });
    counted_ = node;
  }

  // Takes the entries of a child out of the counts.
  void remove(const PuRange& node) {
    for_entries(node, [&](std::uint32_t bin, const PuCounts& one) {
      bins_[bin] = bins_[bin] - one;
      if (bins_[bin].rows() > 0) return;
      const std::uint32_t feature = features_.feature_of(bin);
      if (--n_bins_[feature] == 0) with_entries_.erase(feature);
    });
  }

  // Calls visit(bin, count of a row of its group) for every entry of the node's rows.
  template <class Visit>
  void for_entries(const PuRange& node, Visit&& visit) const {
    const std::vector<std::uint32_t>& list = lists_[node.list];
    const PuCounts p{1, 0};
    const PuCounts u{0, 1};
    features_.with_row_bins([&](const auto& bins) {
      for (std::uint32_t i = node.first; i < node.end; ++i) {
        const std::size_t row = list[i];
        const PuCounts& one = (i >= node.middle) == (node.unl_first != 0) ? p : u;
        const auto* const end = bins.data() + binned_.row_start[row + 1];
        for (const auto* bin = bins.data() + binned_.row_start[row]; bin != end; ++bin) visit(std::uint32_t{*bin}, one);
      }
    });
  }

  // The counted rows that have no entry of the feature: their code is that of zero.
  PuCounts without_entry(std::uint32_t feature) const {
    PuCounts counts = counted_.counts();
    const auto first = bins_.begin() + binned_.first_bin(feature);
    for (auto bin = first; bin != first + binned_.n_bins(feature); ++bin) counts = counts - *bin;
    return counts;
  }

  // The counted rows that have this code of the feature, and whether there are any.
  PuCounts of_code(std::uint32_t feature, std::uint32_t code) const {
    return code == binned_.zero_code[feature] ? without_entry(feature)
                                              : bins_[at(binned_.first_bin(feature) + index_t{code})];
  }

  bool has_code(std::uint32_t feature, std::uint32_t code) const {
    if (bins_[at(binned_.first_bin(feature) + index_t{code})].rows() > 0) return true;
    return code == binned_.zero_code[feature] && without_entry(feature).rows() > 0;
  }

  std::uint32_t code_of(std::uint32_t row, std::uint32_t feature) const {
    const auto first = static_cast<std::uint32_t>(binned_.first_bin(feature));
    const auto n_bins = static_cast<std::uint32_t>(binned_.n_bins(feature));
    const index_t start = binned_.row_start[row];
    index_t n = binned_.row_start[row + 1U] - start;
    if (n == 0) return binned_.zero_code[feature];
    return features_.with_row_bins([&](const auto& bins) -> std::uint32_t {
      const auto* bin = bins.data() + start;
      while (n > 1) {  // without branches: which half is searched cannot be predicted
        const index_t half = n / 2;
        bin += bin[half - 1] < first ? half : 0;
        n -= half;
      }
      return *bin >= first && *bin - first < n_bins ? *bin - first : binned_.zero_code[feature];
    });
  }

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  std::array<std::vector<std::uint32_t>, 2> lists_;
  PuRange counted_;                    // the node whose entries are counted
  std::vector<PuCounts> bins_;         // the rows of P and U that have an entry in each bin
  std::vector<std::uint32_t> n_bins_;  // of each feature, the bins that have entries
  BitSet with_entries_;                // the features that have such bins
  std::vector<std::uint32_t> constant_;
};

}  // namespace fastpu::detail
