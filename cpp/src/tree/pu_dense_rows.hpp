// The rows of a bag with dense codes.
//
// A node whose codes fit into the second-level cache has them copied together, for itself and the nodes below it.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tree/code_kernels.hpp"
#include "tree/pu_rows.hpp"

namespace fastpu::detail {

template <class Code>
class PuDenseRows {
 public:
  using Range = PuRange;

  // `depth_first`: whether a node's descendants are all done before the next node, as the copies need it.
  PuDenseRows(const TreeFeatures& features, bool depth_first, Isa isa)
      : features_(features), binned_(features.binned()), kernels_(code_kernels(isa).of<Code>()) {
    constexpr index_t kCopiedBytes = index_t{1} << 18;
    levels_[0].table = {reinterpret_cast<const Code*>(binned_.by_row.data()), binned_.row_stride};
    const index_t row_bytes = binned_.row_stride * static_cast<index_t>(sizeof(Code));
    if (depth_first && kCopiedBytes / row_bytes >= kLeastRows) {
      capacity_ = static_cast<std::uint32_t>(kCopiedBytes / row_bytes);
      copied_ = AlignedBuffer<Code>(capacity_ * binned_.row_stride, "the codes of a node");
      levels_[1].list.resize(capacity_);
      levels_[1].table = {copied_.data(), binned_.row_stride};
    }
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
    sums_ = make_vector<PuCounts>(kHistogramCodes, "a histogram of codes");
  }

  PuRange start(const Bag& bag) {
    levels_[0].list = bag.rows;
    return settle({0, bag.n_pos, bag.n_pos, static_cast<std::uint32_t>(bag.rows.size()), 0});
  }

  // Copies the codes of the node together if it is time for that.
  PuRange settle(const PuRange& node) {
    const std::uint32_t n = node.counts().rows();
    if (node.level > 0 || n > capacity_) return node;
    const Level& from = levels_[0];
    Level& level = levels_[1];
    std::uint32_t next = 0;
    const auto copy = [&](std::uint32_t first, std::uint32_t end) {
      constexpr std::size_t kLine = 64;
      const std::size_t bytes = static_cast<std::size_t>(binned_.row_stride) * sizeof(Code);
      const auto* codes = reinterpret_cast<const std::uint8_t*>(from.table.codes);
      auto* copied = reinterpret_cast<std::uint8_t*>(copied_.data());
      for (std::uint32_t i = first; i < end; ++i, ++next) {
        if (bytes == kLine) {  // a length that the compiler knows
          std::memcpy(copied + next * kLine, codes + from.list[i] * kLine, kLine);
        } else {
          std::memcpy(copied + next * bytes, codes + from.list[i] * bytes, bytes);
        }
        level.list[next] = next;
      }
    };
    copy(node.p, node.p_end);
    copy(node.u, node.u_end);
    const std::uint32_t n_pos = node.p_end - node.p;
    return {0, n_pos, n_pos, n, 1};
  }

  // Lists the features that differ among the rows, ascending.
  void find_varying(const PuRange& node, std::vector<std::uint32_t>& varying) {
    std::ranges::fill(low_, static_cast<Code>(~Code(0)));
    std::ranges::fill(high_, Code(0));
    const Level& level = level_of(node);
    const auto for_groups = [&](auto&& body) {
      body(level.list.data() + node.p, static_cast<index_t>(node.p_end - node.p), p_missing_);
      body(level.list.data() + node.u, static_cast<index_t>(node.u_end - node.u), u_missing_);
    };
    for_groups([&](const std::uint32_t* rows, index_t n, const auto&) {
      kernels_.extend_ranges(level.table, rows, n, shift_.data(), low_.data(), high_.data());
    });
    const auto n_features = static_cast<std::uint32_t>(binned_.n_features);
    varying.resize(n_features);
    std::size_t n_varying = 0;
    if (!features_.any_missing()) {
      for (std::uint32_t f = 0; f < n_features; ++f) {
        varying[n_varying] = f;
        n_varying += low_[f] < high_[f] ? 1U : 0U;
      }
    } else {
      std::ranges::fill(cut_, Code(0));
      for_groups([&](const std::uint32_t* rows, index_t n, auto& counts) {
        kernels_.count_at_most(level.table, rows, n, cut_.data(), counts.data());
      });
      for (std::uint32_t f = 0; f < n_features; ++f) {
        low_[f] = static_cast<Code>(low_[f] + shift_[f]);
        const bool some_missing = missing(f).rows() > 0;
        varying[n_varying] = f;
        n_varying += high_[f] > 0 && (some_missing || low_[f] < high_[f]) ? 1U : 0U;
      }
    }
    varying.resize(n_varying);
  }

  // Of a varying feature, after find_varying: the codes of rows where it is not missing, and how many rows it is.
  std::uint32_t low(std::uint32_t feature) const { return low_[feature]; }
  std::uint32_t high(std::uint32_t feature) const { return high_[feature]; }
  PuCounts missing(std::uint32_t feature) const {
    return shift_[feature] != 0 ? PuCounts{p_missing_[feature], u_missing_[feature]} : PuCounts{};
  }

  void count_at_most(const PuRange& node, std::vector<DrawnFeature>& drawn) {
    for (const DrawnFeature& d : drawn) cut_[d.feature] = static_cast<Code>(d.cut);
    const Level& level = level_of(node);
    kernels_.count_at_most(level.table, level.list.data() + node.p, node.p_end - node.p, cut_.data(), p_counts_.data());
    kernels_.count_at_most(level.table, level.list.data() + node.u, node.u_end - node.u, cut_.data(), u_counts_.data());
    for (DrawnFeature& d : drawn) d.at_most = {p_counts_[d.feature], u_counts_[d.feature]};
  }

  // The codes of a feature in ascending order, each with its rows.
  void sum_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeSums<PuCounts>>& codes) {
    const Level& level = level_of(node);
    const Code* column = level.table.codes + feature;
    const auto for_rows = [&](auto&& visit) {
      for (std::uint32_t i = node.p; i < node.p_end; ++i) visit(column[level.list[i] * level.table.stride], 0);
      for (std::uint32_t i = node.u; i < node.u_end; ++i) visit(column[level.list[i] * level.table.stride], 1);
    };
    codes.clear();
    if (node.counts().rows() <= kSortedRows) {
      std::array<std::uint32_t, kSortedRows> keys;
      std::uint32_t n = 0;
      for_rows([&](std::uint32_t code, int group) { keys[n++] = 2 * code + static_cast<std::uint32_t>(group); });
      std::sort(keys.begin(), keys.begin() + n);
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t code = keys[i] / 2;
        if (codes.empty() || codes.back().code != code) codes.push_back({code, {}});
        codes.back().sums += keys[i] % 2 == 0 ? PuCounts{1, 0} : PuCounts{0, 1};
      }
      return;
    }
    for_rows([&](std::uint32_t code, int group) {
      PuCounts& sums = sums_[code];
      group == 0 ? ++sums.p : ++sums.u;
    });
    const auto take = [&](std::uint32_t code) {
      if (sums_[code].rows() == 0) return;
      codes.push_back({code, sums_[code]});
      sums_[code] = {};
    };
    if (missing(feature).rows() > 0) take(0);
    for (std::uint32_t code = low(feature); code <= high(feature); ++code) take(code);
  }

  void partition(const PuRange& node, const Split<PuCounts>& split, PuRange& left, PuRange& right) {
    Level& level = levels_[static_cast<std::size_t>(node.level)];
    const Code* column = level.table.codes + split.feature;
    const index_t stride = level.table.stride;
    if (split.by_categories) {
      return split_range(level.list.data(), node, left, right,
                         [&](std::uint32_t row) { return split.left_codes.has(column[row * stride]); });
    }
    // Code 0, less one, is the largest of all.
    const Code less = split.missing_right ? 1 : 0;
    const Code most = static_cast<Code>(split.cut - less);
    split_range(level.list.data(), node, left, right,
                [=](std::uint32_t row) { return static_cast<Code>(column[row * stride] - less) <= most; });
  }

 private:
  static constexpr std::uint32_t kLeastRows = 16;   // copies of fewer rows do not pay
  static constexpr std::uint32_t kSortedRows = 64;  // codes of so few rows are sorted, of more counted in a histogram
  static constexpr index_t kHistogramCodes = sizeof(Code) == 1 ? 256 : 65536;

  struct Level {
    CodeTable<Code> table;
    std::vector<std::uint32_t> list;
  };

  const Level& level_of(const PuRange& node) const { return levels_[static_cast<std::size_t>(node.level)]; }

  const TreeFeatures& features_;
  const BinnedFeatures& binned_;
  const CodeKernelsOf<Code>& kernels_;
  std::array<Level, 2> levels_;  // rows of the binned features; rows of a node that are copied together
  AlignedBuffer<Code> copied_;
  std::uint32_t capacity_ = 0;  // rows that may be copied together
  std::vector<Code> low_;
  std::vector<Code> high_;
  std::vector<Code> cut_;
  std::vector<Code> shift_;
  std::vector<std::uint32_t> p_counts_;
  std::vector<std::uint32_t> u_counts_;
  std::vector<std::uint32_t> p_missing_;
  std::vector<std::uint32_t> u_missing_;
  std::vector<PuCounts> sums_;
};

}  // namespace fastpu::detail
