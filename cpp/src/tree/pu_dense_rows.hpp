// The rows of a bag with dense codes, for trees that are grown on them.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "tree/code_kernels.hpp"
#include "tree/pu_rows.hpp"
#include "tree/pu_split_search.hpp"
#include "tree/tree_features.hpp"

namespace fastpu::detail {

template <class Code>
class PuDenseRows {
 public:
  PuDenseRows(const TreeFeatures& features, Isa isa)
      : features_(features),
        binned_(features.binned()),
        kernels_(code_kernels(isa).of<Code>()),
        table_{reinterpret_cast<const Code*>(binned_.by_row.data()), binned_.row_stride} {
    low_ = make_vector<Code>(binned_.row_stride, "the ranges of the codes");
    high_ = make_vector<Code>(binned_.row_stride, "the ranges of the codes");
    cut_ = make_vector<Code>(binned_.row_stride, "the cuts of a node");
    shift_ = make_vector<Code>(binned_.row_stride, "the shifts of the codes");
    for (index_t f = 0; f < binned_.n_features; ++f) shift_[at(f)] = features.can_be_missing(f) ? 1 : 0;
    const index_t n_counts = binned_.row_stride;
    for (auto* counts : {&p_counts_, &u_counts_}) *counts = make_vector<std::uint32_t>(n_counts, "counts of a node");
    if (features.any_missing()) {
      for (auto* counts : {&p_missing_, &u_missing_}) {
        *counts = make_vector<std::uint32_t>(n_counts, "counts of missing values");
      }
    }
    histogram_ = make_vector<PuCounts>(kHistogramCodes, "a histogram of codes");
  }

  PuRange start(const Bag& bag) {
    copy_rows(bag, lists_);
    return bag.range();
  }

  // Lists in `varying` the features that differ among the rows of the node, ascending. It must be as the last call left
  // it.
  void find_varying(const PuRange& node, std::vector<std::uint32_t>& varying) {
    kernels_.find_ranges(table_, rows_of(node), node.n_rows(), shift_.data(), low_.data(), high_.data());
    if (features_.any_missing()) {
      std::ranges::fill(cut_, Code(0));
      count_at_most(node, p_missing_, u_missing_);
      for (std::size_t f = 0; f < low_.size(); ++f) low_[f] = static_cast<Code>(low_[f] + shift_[f]);
    }
    const auto n_features = static_cast<std::uint32_t>(binned_.n_features);
    std::uint32_t n_varying = 0;
    for (std::uint32_t f = 0; f < n_features; ++f) n_varying += low_[f] < high_[f] ? 1U : 0U;
    if (n_varying == n_features && varying.size() == n_features) return;
    varying.resize(n_features);
    n_varying = 0;
    for (std::uint32_t f = 0; f < n_features; ++f) {
      varying[n_varying] = f;
      // Where the feature is missing in all rows, high is 0.
      n_varying += low_[f] < high_[f] || (high_[f] > 0 && missing(f).rows() > 0) ? 1U : 0U;
    }
    varying.resize(n_varying);
  }

  // Of a varying feature, after find_varying: the least and the largest code of the rows that have a value of it, and
  // the counts of those that have none.
  std::uint32_t low(std::uint32_t feature) const { return low_[feature]; }
  std::uint32_t high(std::uint32_t feature) const { return high_[feature]; }
  PuCounts missing(std::uint32_t feature) const {
    return shift_[feature] != 0 ? PuCounts{p_missing_[feature], u_missing_[feature]} : PuCounts{};
  }

  void count_at_most(const PuRange& node, std::vector<DrawnFeature>& drawn) {
    for (const DrawnFeature& d : drawn) cut_[d.feature] = static_cast<Code>(d.cut);
    count_at_most(node, p_counts_, u_counts_);
    for (DrawnFeature& d : drawn) d.at_most = {p_counts_[d.feature], u_counts_[d.feature]};
  }

  // Lists the codes that the rows have of a feature, ascending, with the counts of their rows.
  void count_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeCounts>& codes) {
    const std::uint32_t* rows = rows_of(node);
    const auto for_rows = [&](auto&& visit) {
      const std::uint32_t n_first = node.middle - node.first;
      for (std::uint32_t i = 0; i < node.n_rows(); ++i) {
        visit(table_.codes[feature + rows[i] * table_.stride], (i >= n_first) == (node.unl_first != 0) ? 0 : 1);
      }
    };
    codes.clear();
    if (node.n_rows() <= kSortedRows) {
      std::array<std::uint32_t, kSortedRows> keys;
      std::uint32_t n = 0;
      for_rows([&](std::uint32_t code, int group) { keys[n++] = 2 * code + static_cast<std::uint32_t>(group); });
      std::sort(keys.begin(), keys.begin() + n);
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t code = keys[i] / 2;
        if (codes.empty() || codes.back().code != code) codes.push_back({code, {}});
        codes.back().counts += keys[i] % 2 == 0 ? PuCounts{1, 0} : PuCounts{0, 1};
      }
      return;
    }
    for_rows([&](std::uint32_t code, int group) {
      PuCounts& counts = histogram_[code];
      group == 0 ? ++counts.p : ++counts.u;
    });
    const auto move_out = [&](std::uint32_t code) {
      if (histogram_[code].rows() == 0) return;
      codes.push_back({code, histogram_[code]});
      histogram_[code] = {};
    };
    if (missing(feature).rows() > 0) move_out(0);
    for (std::uint32_t code = low(feature); code <= high(feature); ++code) move_out(code);
  }

  void partition(const PuRange& node, const PuSplit& split, PuRange& left, PuRange& right) {
    const Code* column = table_.codes + split.feature;
    const index_t stride = table_.stride;
    with_sides<Code>(split, [&](auto goes_left) {
      split_range(lists_, node, split.left, left, right,
                  [=](std::uint32_t row) { return goes_left(column[row * stride]); });
    });
  }

 private:
  static constexpr std::uint32_t kSortedRows = 64;  // codes of at most so many rows are sorted, not put in a histogram
  static constexpr index_t kHistogramCodes = sizeof(Code) == 1 ? 256 : 65536;

  const std::uint32_t* rows_of(const PuRange& node) const { return lists_[node.list].data() + node.first; }

  // Counts, for each feature, the rows of P and of U whose code is at most that in cut_.
  void count_at_most(const PuRange& node, std::vector<std::uint32_t>& p, std::vector<std::uint32_t>& u) const {
    const std::uint32_t* rows = rows_of(node);
    const auto count = [&](std::uint32_t first, std::uint32_t end, std::vector<std::uint32_t>& counts) {
      kernels_.count_at_most(table_, rows + first, end - first, cut_.data(), counts.data());
    };
    count(0, node.middle - node.first, node.unl_first != 0 ? u : p);
    count(node.middle - node.first, node.n_rows(), node.unl_first != 0 ? p : u);
  }

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  const CodeKernelsOf<Code>& kernels_;
  CodeTable<Code> table_;
  std::array<std::vector<std::uint32_t>, 2> lists_;
  std::vector<Code> low_;
  std::vector<Code> high_;
  std::vector<Code> cut_;
  std::vector<Code> shift_;
  std::vector<std::uint32_t> p_counts_;
  std::vector<std::uint32_t> u_counts_;
  std::vector<std::uint32_t> p_missing_;
  std::vector<std::uint32_t> u_missing_;
  std::vector<PuCounts> histogram_;  // of codes; all 0 between calls
};

}  // namespace fastpu::detail
