#include "tree/pu_sparse_rows.hpp"

#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu::detail {

PuSparseRows::PuSparseRows(const TreeFeatures& features)
    : features_(features),
      binned_(features.binned()),
      feature_of_bin_(make_vector<std::uint32_t>(binned_.total_bins(), "the features of the bins")),
      seen_(make_vector<Seen>(binned_.n_features, "the features of a node")),
      drawn_of_feature_(make_vector<std::int32_t>(binned_.n_features, "the features of a node")) {
  for (index_t f = 0; f < binned_.n_features; ++f) {
    std::fill_n(feature_of_bin_.begin() + binned_.first_bin(f), binned_.n_bins(f), static_cast<std::uint32_t>(f));
  }
  std::ranges::fill(drawn_of_feature_, -1);
}

template <class Visit>
void PuSparseRows::for_rows(const PuRange& node, Visit&& visit) const {
  const std::vector<std::uint32_t>& list = lists_[node.list];
  const PuCounts p{1, 0};
  const PuCounts u{0, 1};
  for (std::uint32_t i = node.first; i < node.end; ++i)
    visit(list[i], (i >= node.middle) == (node.unl_first != 0) ? p : u);
}

template <class Visit>
void PuSparseRows::for_entries(const PuRange& node, Visit&& visit) const {
  for_rows(node, [&](std::size_t row, const PuCounts& one) {
    for (index_t p = binned_.row_start[row]; p < binned_.row_start[row + 1]; ++p) {
      const std::uint32_t bin = binned_.row_bins[at(p)];
      const std::uint32_t feature = feature_of_bin_[bin];
      visit(feature, bin - static_cast<std::uint32_t>(binned_.first_bin(feature)), one);
    }
  });
}

void PuSparseRows::find_varying(const PuRange& node, std::vector<std::uint32_t>& varying) {
  for (const std::uint32_t feature : touched_) seen_[feature] = {};
  touched_.clear();
  for_entries(node, [&](std::uint32_t feature, std::uint32_t code, const PuCounts& one) {
    Seen& seen = seen_[feature];
    if (seen.entries.rows() == 0) {
      touched_.push_back(feature);
      seen.low = ~0U;
    }
    seen.entries += one;
    if (code == 0 && features_.can_be_missing(feature)) {
      seen.missing += one;
      return;
    }
    seen.low = std::min(seen.low, code);
    seen.high = std::max(seen.high, code);
  });
  std::ranges::sort(touched_);
  const std::uint32_t n_rows = node.counts().rows();
  varying.clear();
  for (const std::uint32_t feature : touched_) {
    Seen& seen = seen_[feature];
    if (seen.entries.rows() < n_rows) {
      const std::uint32_t zero = binned_.zero_code[feature];
      seen.low = std::min(seen.low, zero);
      seen.high = std::max(seen.high, zero);
    }
    // Where all rows are missing, low is still above every code.
    const bool any_present = seen.low <= seen.high;
    if (any_present && (seen.missing.rows() > 0 || seen.low < seen.high)) varying.push_back(feature);
  }
}

void PuSparseRows::count_at_most(const PuRange& node, std::vector<DrawnFeature>& drawn) {
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    drawn_of_feature_[drawn[k].feature] = static_cast<std::int32_t>(k);
    drawn[k].at_most = {};
  }
  for_entries(node, [&](std::uint32_t feature, std::uint32_t code, const PuCounts& one) {
    const std::int32_t k = drawn_of_feature_[feature];
    if (k < 0) return;
    DrawnFeature& d = drawn[static_cast<std::size_t>(k)];
    if (code <= d.cut) d.at_most += one;
  });
  for (DrawnFeature& d : drawn) {
    drawn_of_feature_[d.feature] = -1;
    if (binned_.zero_code[d.feature] <= d.cut) d.at_most += node.counts() - seen_[d.feature].entries;
  }
}

void PuSparseRows::sum_codes(const PuRange& node, std::uint32_t feature, std::vector<CodeSums<PuCounts>>& codes) {
  keys_.clear();
  for_rows(node, [&](std::uint32_t row, const PuCounts& one) {
    keys_.push_back(std::uint64_t{code_of(row, feature)} * 2 + one.u);
  });
  std::ranges::sort(keys_);
  codes.clear();
  for (const std::uint64_t key : keys_) {
    const auto code = static_cast<std::uint32_t>(key / 2);
    if (codes.empty() || codes.back().code != code) codes.push_back({code, {}});
    codes.back().sums += key % 2 == 0 ? PuCounts{1, 0} : PuCounts{0, 1};
  }
}

std::uint32_t PuSparseRows::code_of(std::uint32_t row, std::uint32_t feature) const {
  const auto first = static_cast<std::uint32_t>(binned_.first_bin(feature));
  const std::uint32_t* bins = binned_.row_bins.data();
  const std::uint32_t* end = bins + binned_.row_start[row + 1U];
  const std::uint32_t* found = std::lower_bound(bins + binned_.row_start[row], end, first);
  const auto n_bins = static_cast<std::uint32_t>(binned_.n_bins(feature));
  return found != end && *found - first < n_bins ? *found - first : binned_.zero_code[feature];
}

void PuSparseRows::partition(const PuRange& node, const Split<PuCounts>& split, PuRange& left, PuRange& right) {
  const std::uint32_t less = split.missing_right ? 1 : 0;
  split_range(lists_, node, split.left, left, right,
              [&](std::uint32_t row) { return code_of(row, split.feature) - less <= split.cut - less; });
}

}  // namespace fastpu::detail
