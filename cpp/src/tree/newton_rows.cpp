#include "tree/newton_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fastpu::detail {

namespace {

constexpr index_t kBlockRows = 8192;  // of one parallel task

}  // namespace

double newton_scale(double most, double n) {
  constexpr auto kMostSum = static_cast<double>((index_t{1} << 31) - 1);  // of the whole numbers in one half of a word
  if (!(most > 0)) return 1.0;
  int exponent = 0;
  std::frexp((kMostSum - n) / most, &exponent);
  return std::ldexp(1.0, std::clamp(exponent - 1, -900, 900));
}

NewtonRows::NewtonRows(const TreeFeatures& features, const double* weights, Isa isa, Team& team, int n_workers)
    : binned_(features.binned()),
      places_(binned_),
      weights_(weights),
      kernels_(newton_kernels(isa)),
      team_(team),
      n_workers_(n_workers),
      words_(binned_.n_rows, "the gradients of rows"),
      list_(make_vector<std::uint32_t>(binned_.n_rows, "the rows of a tree")),
      other_(make_vector<std::uint32_t>(binned_.n_rows, "the rows of a node")),
      parts_(at(n_workers - 1)) {
  if (!binned_.is_sparse()) return;
  codes_ = make_vector<std::uint32_t>(binned_.n_rows, "the codes of a feature");
  feature_of_bin_ = make_vector<std::uint32_t>(binned_.total_bins(), "the features of bins");
  for (index_t f = 0; f < binned_.n_features; ++f) {
    std::fill_n(feature_of_bin_.begin() + binned_.first_bin(f), binned_.n_bins(f), static_cast<std::uint32_t>(f));
  }
}

int NewtonRows::workers(index_t work) const {
  constexpr index_t kWorkPerWorker = 200'000;
  return static_cast<int>(std::min<index_t>(n_workers_, 1 + work / kWorkPerWorker));
}

void NewtonRows::make_words() {
  const NewtonGradients& of = gradients_;
  const double* weights = of.are_repetitions ? weights_ : nullptr;
  team_.for_each(count_blocks(binned_.n_rows, kBlockRows), workers(4 * binned_.n_rows), [&](index_t block, int) {
    const index_t first = block * kBlockRows;
    kernels_.make_words(of.g + first, of.h + first, weights == nullptr ? nullptr : weights + first,
                        std::min(binned_.n_rows - first, kBlockRows), of.g_scale, of.h_scale, words_.data() + first);
  });
}

NewtonRange NewtonRows::start(const NewtonGradients& gradients, const std::vector<std::uint32_t>& features) {
  gradients_ = gradients;
  make_words();
  features_ = features;
  first_bin_.clear();
  for (const std::uint32_t f : features_) first_bin_.push_back(places_.first_bin(f));
  const NewtonRange all = take(*gradients.rows);
  total_ = 0;
  for (const std::uint32_t row : *gradients.rows) total_ += words_[row];
  return all;
}

std::vector<index_t> NewtonRows::count_entries(const std::vector<std::uint32_t>& rows, const CountUnit& unit) const {
  auto counts = make_vector<index_t>(binned_.n_features, "the entries of features");
  for (const std::uint32_t row : rows) {
    for (index_t p = binned_.row_start[row]; p < binned_.row_start[row + 1]; ++p) {
      counts[feature_of_bin_[binned_.row_bins[at(p)]]] += count(row, unit);
    }
  }
  return counts;
}

NewtonRange NewtonRows::take(const std::vector<std::uint32_t>& rows) {
  std::ranges::copy(rows, list_.begin());
  return {0, static_cast<std::uint32_t>(rows.size())};
}

// ---- Histograms ----

void NewtonRows::set_histogram(const NewtonRange& node, std::uint64_t* histogram) {
  if (binned_.is_sparse()) return add_sparse(node, histogram);
  std::fill_n(histogram, histogram_size(), std::uint64_t{0});
  const int n_workers = workers(static_cast<index_t>(node.n_rows()) * static_cast<index_t>(features_.size()));
  if (binned_.width == CodeWidth::two_bytes) return add_dense<std::uint16_t>(node, histogram, n_workers);
  add_dense<std::uint8_t>(node, histogram, n_workers);
}

template <class Code>
void NewtonRows::add_dense(const NewtonRange& node, std::uint64_t* histogram, int n_workers) {
  const CodeTable<Code> table{reinterpret_cast<const Code*>(binned_.by_row.data()), binned_.row_stride};
  const HistogramColumns columns{features_.data(), first_bin_.data(), static_cast<index_t>(features_.size())};
  const auto add = [&](index_t first, index_t end, std::uint64_t* to) {
    kernels_.add_rows<Code>()(table, list_.data() + first, end - first, words_.data(), columns, to);
  };
  if (n_workers == 1) {
    for (index_t first = node.first; first < node.end; first += kBlockRows) {
      team_.poll();
      add(first, std::min<index_t>(node.end, first + kBlockRows), histogram);
    }
    return;
  }
  const auto size = at(histogram_size());
  std::vector<char> is_used(parts_.size());
  team_.for_each(count_blocks(node.n_rows(), kBlockRows), n_workers, [&](index_t block, int worker) {
    std::uint64_t* to = histogram;
    if (worker > 0) {
      std::vector<std::uint64_t>& part = parts_[at(worker - 1)];
      if (is_used[at(worker - 1)] == 0) part.assign(size, 0);
      is_used[at(worker - 1)] = 1;
      to = part.data();
    }
    const index_t first = node.first + block * kBlockRows;
    add(first, std::min<index_t>(node.end, first + kBlockRows), to);
  });
  for (std::size_t w = 0; w < parts_.size(); ++w) {
    if (is_used[w] == 0) continue;
    for (std::size_t b = 0; b < size; ++b) histogram[b] += parts_[w][b];
  }
}

void NewtonRows::add_sparse(const NewtonRange& node, std::uint64_t* histogram) const {
  for (std::size_t k = 0; k < features_.size(); ++k) {
    std::fill_n(histogram + first_bin_[k], binned_.n_bins(features_[k]), std::uint64_t{0});
  }
  std::uint64_t all = 0;
  for (index_t i = node.first; i < node.end; ++i) {
    if (i % kBlockRows == 0) team_.poll();
    const std::uint32_t row = list_[at(i)];
    all += words_[row];
    for (index_t p = binned_.row_start[row]; p < binned_.row_start[row + 1]; ++p) {
      histogram[binned_.row_bins[at(p)]] += words_[row];
    }
  }
  for (std::size_t k = 0; k < features_.size(); ++k) {
    std::uint64_t* bins = histogram + first_bin_[k];
    std::uint64_t& zero = bins[binned_.zero_code[features_[k]]];
    zero = all - std::accumulate(bins, bins + binned_.n_bins(features_[k]), std::uint64_t{0});
  }
}

// ---- Codes of one feature ----

// Calls body(code_of), where code_of(row) is the code of the feature for the rows of the node.
template <class Body>
auto NewtonRows::with_codes(const NewtonRange& node, std::uint32_t feature, Body&& body) {
  const auto place = static_cast<index_t>(feature) * binned_.column_stride;
  if (binned_.is_sparse()) {
    for (index_t i = node.first; i < node.end; ++i) codes_[list_[at(i)]] = binned_.zero_code[feature];
    for (index_t p = binned_.column_start[feature]; p < binned_.column_start[at(feature) + 1]; ++p) {
      codes_[binned_.column_rows[at(p)]] = binned_.column_codes[at(p)];
    }
    return body([codes = codes_.data()](std::uint32_t row) { return codes[row]; });
  }
  if (binned_.width == CodeWidth::two_bytes) {
    const auto* codes = reinterpret_cast<const std::uint16_t*>(binned_.by_column.data()) + place;
    return body([codes](std::uint32_t row) { return codes[row]; });
  }
  const std::uint8_t* codes = binned_.by_column.data() + place;
  return body([codes](std::uint32_t row) { return codes[row]; });
}

// Calls body(goes_left).
template <class Body>
auto NewtonRows::with_sides(const NewtonRange& node, const NodeSplit& split, Body&& body) {
  return with_codes(node, split.feature, [&](auto code_of) {
    using Code = decltype(code_of(0));
    if (split.by_categories) {
      return body([&split, code_of](std::uint32_t row) { return split.left_codes.has(code_of(row)); });
    }
    // Code 0, less one, is the largest of all.
    const Code less = split.missing_right ? 1 : 0;
    const Code most = static_cast<Code>(split.cut - less);
    return body([=](std::uint32_t row) { return static_cast<Code>(code_of(row) - less) <= most; });
  });
}

void NewtonRows::count_codes(const NewtonRange& node, std::uint32_t feature, std::vector<index_t>& counts) {
  counts.assign(at(binned_.n_bins(feature)), 0);
  with_codes(node, feature, [&](auto code_of) {
    for (std::uint32_t i = node.first; i < node.end; ++i) counts[code_of(list_[i])] += count(list_[i], gradients_.unit);
  });
}

SideCounts NewtonRows::count_sides(const NewtonRange& node, const NodeSplit& split) {
  return with_sides(node, split, [&](auto goes_left) {
    const index_t enough = gradients_.unit.enough;
    SideCounts counts;
    for (std::uint32_t i = node.first; i < node.end && (counts.left < enough || counts.right < enough); ++i) {
      (goes_left(list_[i]) ? counts.left : counts.right) += count(list_[i], gradients_.unit);
    }
    return counts;
  });
}

NewtonRange NewtonRows::partition(const NewtonRange& node, const NodeSplit& split) {
  return with_sides(node, split, [&](auto goes_left) {
    std::uint32_t* list = list_.data() + node.first;
    std::uint32_t* right = other_.data() + node.first;
    std::uint32_t n_left = 0;
    std::uint32_t n_right = 0;
    for (std::uint32_t i = 0; i < node.n_rows(); ++i) {  // without a branch, which would be predicted wrongly
      const std::uint32_t row = list[i];
      const std::uint32_t left = goes_left(row) ? 1 : 0;
      list[n_left] = row;
      right[n_right] = row;
      n_left += left;
      n_right += 1 - left;
    }
    std::copy_n(right, n_right, list + n_left);
    return NewtonRange{node.first, node.first + n_left};
  });
}

// ---- Leaves ----

LeafSums NewtonRows::leaf_sums(const NewtonRange& node) const {
  const double g_scale = gradients_.g_scale * kLeafBits;
  const double h_scale = gradients_.h_scale * kLeafBits;
  LeafSums sums;
  for (std::uint32_t i = node.first; i < node.end; ++i) {
    sums.g += static_cast<std::int64_t>(gradients_.g[list_[i]] * g_scale);
    sums.h += static_cast<std::int64_t>(gradients_.h[list_[i]] * h_scale);
  }
  return sums;
}

void NewtonRows::add(const NewtonRange& node, double value, double* scores) const {
  for (std::uint32_t i = node.first; i < node.end; ++i) scores[list_[i]] += value;
}

}  // namespace fastpu::detail
