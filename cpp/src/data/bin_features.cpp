// Cuts and codes of whole matrices.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/bin_column.hpp"
#include "data/binned_layout.hpp"
#include "data/entries_by_feature.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

namespace {

using detail::ColumnBinner;
using detail::encode;
using detail::EntriesByFeature;
using detail::kRowBlock;
using detail::kRowTile;
using detail::make_long_vector;
using detail::Pacer;
using detail::QuantileWeights;
using detail::SortedTable;
using detail::workers_for;

using CutsOfFeatures = std::vector<detail::ColumnCuts>;

void check_sizes(index_t n_rows, index_t n_features) {
  if (n_rows < 1 || n_features < 1) {
    throw std::invalid_argument("X must have at least one row and one column, got shape (" + std::to_string(n_rows) +
                                ", " + std::to_string(n_features) + ")");
  }
  if (n_rows > kMaxRows) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMaxRows) + " rows, got " +
                                std::to_string(n_rows));
  }
}

void take_given_cuts(const BinOptions& options, Team& team, BinnedFeatures& binned) {
  if (options.cuts == nullptr) return;
  binned.cuts = options.cuts;
  check_cuts(binned, team);
}

std::shared_ptr<const Cuts> joined(const CutsOfFeatures& per_feature, Pacer& pacer) {
  constexpr const char* kWhat = "the cuts";
  const auto n = static_cast<index_t>(per_feature.size());
  auto cuts = std::make_shared<Cuts>();
  cuts->start = make_long_vector<index_t>(n + 1, kWhat, pacer);
  for (std::size_t e = 0; e < per_feature.size(); ++e) {
    cuts->start[e + 1] = cuts->start[e] + std::ssize(per_feature[e].cuts);
    pacer.add(1);
  }
  cuts->value = reserve_vector<double>(cuts->start.back(), kWhat);
  cuts->bin_value = reserve_vector<double>(cuts->start.back() + n, "the values of the bins");
  for (const auto& [values, bin_values] : per_feature) {
    cuts->value.insert(cuts->value.end(), values.begin(), values.end());
    cuts->bin_value.insert(cuts->bin_value.end(), bin_values.begin(), bin_values.end());
    pacer.add(std::ssize(values) + 1);
  }
  return cuts;
}

// The cuts of a feature that the caller gave, or else those that were found for it.
std::span<const double> cuts_to_use(const BinOptions& options, const CutsOfFeatures& computed, index_t feature) {
  if (options.cuts == nullptr) return computed[at(feature)].cuts;
  return {options.cuts->of(feature), at(options.cuts->count(feature))};
}

// ---- Dense ----

template <class Code>
void columns_to_rows(BinnedFeatures& binned, Team& team) {
  binned.by_row = AlignedBuffer<std::uint8_t>(binned.n_rows * binned.row_stride * detail::code_bytes(binned.width),
                                              "the codes by row");
  const auto* columns = reinterpret_cast<const Code*>(binned.by_column.data());
  auto* rows = reinterpret_cast<Code*>(binned.by_row.data());
  const int workers = workers_for(binned.n_rows * binned.n_features, team);
  team.for_blocks(binned.n_rows, kRowBlock, workers, [&](index_t first, index_t end, int) {
    Pacer pacer(team);
    for (index_t r0 = first; r0 < end; r0 += kRowTile) {
      const index_t r1 = std::min(end, r0 + kRowTile);
      std::memset(rows + r0 * binned.row_stride, 0, at((r1 - r0) * binned.row_stride) * sizeof(Code));
      for (index_t e = 0; e < binned.n_features; ++e) {
        const Code* column = columns + e * binned.column_stride;
        for (index_t r = r0; r < r1; ++r) rows[r * binned.row_stride + e] = column[r];
        pacer.add(r1 - r0);
      }
    }
  });
}

// Bins strip after strip. A strip has as many columns as share a cache line of a row, so every line of x is read once.
template <class T, class Code>
void bin_strips(const DenseView<T>& x, const BinOptions& options, Team& team, BinnedFeatures& binned,
                CutsOfFeatures& cuts, std::vector<detail::ColumnOrder>* orders) {
  constexpr index_t kStripColumns = detail::kLine / static_cast<index_t>(sizeof(T));
  AlignedBuffer<T> strip(std::min(kStripColumns, x.n_cols) * x.n_rows, "a strip of columns");
  Pacer pacer(team);
  const QuantileWeights weight(options.sample_weight, x.n_rows, pacer);
  // A strip has work for as many workers as it has columns; a binner without work allocates no scratch memory.
  const auto n_binners = static_cast<int>(std::min<index_t>({team.n_threads(), kStripColumns, x.n_cols}));
  std::vector<ColumnBinner<T>> binners;
  binners.reserve(at(n_binners));
  for (int worker = 0; worker < n_binners; ++worker) {
    binners.emplace_back(x.n_rows, options, weight, orders != nullptr);
  }
  auto* columns = reinterpret_cast<Code*>(binned.by_column.data());
  for (index_t first = 0; first < x.n_cols; first += kStripColumns) {
    const index_t width = std::min(kStripColumns, x.n_cols - first);
    const int workers = workers_for(width * x.n_rows, team);
    team.for_blocks(x.n_rows, kRowBlock, workers, [&](index_t r0, index_t r1, int) {
      detail::transpose_block(x.data + first, x.n_cols, strip.data(), x.n_rows, r0, r1, width, Pacer(team));
    });
    team.for_each(width, std::min(workers, n_binners), [&](index_t c, int worker) {
      const index_t e = first + c;
      const T* column = strip.data() + c * x.n_rows;
      Code* codes = columns + e * binned.column_stride;
      Pacer own_pacer(team);
      if (options.cuts == nullptr && options.categorical != nullptr && options.categorical[e] != 0) {
        cuts[at(e)] = detail::bin_categories(column, x.n_rows, own_pacer, codes);
      } else {
        if (options.cuts == nullptr) {
          cuts[at(e)] = binners[at(worker)].cuts(column, own_pacer, orders != nullptr ? &(*orders)[at(e)] : nullptr);
        }
        encode(SortedTable<T>(cuts_to_use(options, cuts, e)), column, x.n_rows, own_pacer, codes);
      }
      std::fill(codes + x.n_rows, codes + binned.column_stride, Code(0));
    });
  }
}

void move_orders(std::vector<detail::ColumnOrder>& orders, FeatureOrder& order) {
  constexpr const char* kWhat = "the features of the exact search";
  const auto n = static_cast<index_t>(std::ranges::count_if(orders, [](const auto& o) { return !o.rows.empty(); }));
  order.features = reserve_vector<index_t>(n, kWhat);
  order.rows = reserve_vector<AlignedBuffer<std::uint32_t>>(n, kWhat);
  order.bin_start = reserve_vector<std::vector<std::uint32_t>>(n, kWhat);
  for (std::size_t e = 0; e < orders.size(); ++e) {
    if (orders[e].rows.empty()) continue;
    order.features.push_back(static_cast<index_t>(e));
    order.rows.push_back(std::move(orders[e].rows));
    order.bin_start.push_back(std::move(orders[e].bin_start));
  }
}

// ---- Sparse ----

// Divides the features into blocks of about equal work, one feature with many entries or many features with few.
// Returns the first feature of every block, and the end of the last one.
std::vector<index_t> feature_blocks(const std::vector<index_t>& start, Pacer& pacer) {
  constexpr index_t kEntriesPerBlock = 16384;
  constexpr index_t kFeatureWork = 32;  // a feature without entries takes as long as so many entries
  const index_t n_features = std::ssize(start) - 1;
  auto blocks = reserve_vector<index_t>((start.back() + n_features * kFeatureWork) / kEntriesPerBlock + 2,
                                        "the blocks of sparse columns");
  blocks.push_back(0);
  index_t work = 0;
  for (index_t e = 0; e < n_features; ++e) {
    work += start[at(e) + 1] - start[at(e)] + kFeatureWork;
    if (work >= kEntriesPerBlock || e + 1 == n_features) {
      blocks.push_back(e + 1);
      work = 0;
    }
    pacer.add(1);
  }
  return blocks;
}

// Fills the cuts and zero_code of `binned`; returns the codes of the entries.
template <class T>
AlignedBuffer<std::uint32_t> bin_entries(const CsrView<T>& x, const EntriesByFeature<T>& entries,
                                         const BinOptions& options, Team& team, Pacer& pacer, BinnedFeatures& binned) {
  const index_t nnz = entries.start.back();
  binned.zero_code = make_long_vector<std::uint32_t>(x.n_cols, "the sparse codes", pacer);
  auto cuts = make_long_vector<detail::ColumnCuts>(x.n_cols, "the cuts", pacer);
  AlignedBuffer<std::uint32_t> codes(nnz, "the sparse codes");
  index_t longest = 0;
  for (index_t e = 0; e < x.n_cols; ++e) {
    longest = std::max(longest, entries.count(e));
    pacer.add(1);
  }
  const QuantileWeights weight(options.sample_weight, x.n_rows, pacer);
  const double total_weight = weight.total(x.n_rows, pacer);
  const std::vector<index_t> blocks = feature_blocks(entries.start, pacer);
  std::vector<ColumnBinner<T>> binners;
  binners.reserve(at(team.n_threads()));
  for (int worker = 0; worker < team.n_threads(); ++worker) {
    binners.emplace_back(longest, options, weight, false, total_weight);
  }
  team.for_each(std::ssize(blocks) - 1, workers_for(nnz, team), [&](index_t block, int worker) {
    Pacer own_pacer(team);
    for (index_t e = blocks[at(block)]; e < blocks[at(block) + 1]; ++e) {
      const index_t n = entries.count(e);
      const index_t start = entries.start[at(e)];
      const T* values = entries.values.data() + start;
      if (options.cuts == nullptr) {
        cuts[at(e)] = binners[at(worker)].cuts(values, entries.rows.data() + start, n, own_pacer);
      }
      const SortedTable<T> table(cuts_to_use(options, cuts, e));
      encode(table, values, n, own_pacer, codes.data() + start);
      binned.zero_code[at(e)] = table.count_below(T(0));
    }
  });
  if (options.cuts == nullptr) binned.cuts = joined(cuts, pacer);
  if (binned.total_bins() > kMaxSparseBins) {
    throw std::invalid_argument("X has too many distinct values to cut at every one of them (" +
                                std::to_string(binned.total_bins()) + "): give max_bins");
  }
  return codes;
}

constexpr std::uint32_t kOfZero = kMaxSparseBins;  // no code is as large

// Stores the entries by feature, without those that lie in the same bin as zero, whose codes become kOfZero.
template <class T>
void fill_sparse_columns(const EntriesByFeature<T>& entries, AlignedBuffer<std::uint32_t>& codes, Pacer& pacer,
                         BinnedFeatures& binned) {
  const auto for_features = [&](auto&& visit) {
    for (std::size_t e = 0; e < binned.zero_code.size(); ++e) {
      pacer.run(entries.start[e], entries.start[e + 1], [&](index_t first, index_t end) { visit(e, first, end); });
      pacer.add(1);
    }
  };
  binned.column_start = make_long_vector<index_t>(binned.n_features + 1, "the sparse columns", pacer);
  for_features([&](std::size_t e, index_t first, index_t end) {
    for (index_t p = first; p < end; ++p) {
      if (codes[p] == binned.zero_code[e]) codes[p] = kOfZero;
      binned.column_start[e + 1] += codes[p] == kOfZero ? 0 : 1;
    }
  });
  counts_to_starts(binned.column_start, pacer);
  binned.column_rows = make_long_vector<std::uint32_t>(binned.column_start.back(), "the sparse columns", pacer);
  binned.column_codes = make_long_vector<std::uint32_t>(binned.column_start.back(), "the sparse columns", pacer);
  std::size_t position = 0;
  for_features([&](std::size_t, index_t first, index_t end) {
    for (index_t p = first; p < end; ++p) {
      if (codes[p] == kOfZero) continue;
      binned.column_rows[position] = entries.rows[p];
      binned.column_codes[position++] = codes[p];
    }
  });
}

// Stores the same entries by row. Codes are taken in the order of the rows: those of every feature are then read one
// after the other, from `next` on.
template <class T>
void fill_sparse_rows(const CsrView<T>& x, std::vector<index_t> next, const AlignedBuffer<std::uint32_t>& codes,
                      Pacer& pacer, BinnedFeatures& binned) {
  auto first_bin = make_long_vector<std::uint32_t>(binned.n_features, "the sparse rows", pacer);
  pacer.run(0, binned.n_features, [&](index_t first, index_t end) {
    for (index_t e = first; e < end; ++e) first_bin[at(e)] = static_cast<std::uint32_t>(binned.first_bin(e));
  });
  binned.row_start = make_long_vector<index_t>(binned.n_rows + 1, "the sparse rows", pacer);
  binned.row_bins = make_long_vector<std::uint32_t>(binned.column_start.back(), "the sparse rows", pacer);
  std::size_t position = 0;
  for (index_t r = 0; r < x.n_rows; ++r) {
    pacer.run(x.row_start[r], x.row_start[r + 1], [&](index_t first, index_t end) {
      for (index_t p = first; p < end; ++p) {
        const std::size_t e = at(x.columns[p]);
        const std::uint32_t code = codes[next[e]++];
        if (code != kOfZero) binned.row_bins[position++] = first_bin[e] + code;
      }
    });
    binned.row_start[at(r) + 1] = static_cast<index_t>(position);
    pacer.add(1);
  }
}

}  // namespace

template <class T>
BinnedFeatures bin_features(const DenseView<T>& x, const BinOptions& options, Team& team, FeatureOrder* order) {
  check_sizes(x.n_rows, x.n_cols);
  if (options.max_bins < 1 || options.max_bins > kMaxDenseCuts) {
    throw std::invalid_argument("max_bins must be an integer from 1 to " + std::to_string(kMaxDenseCuts) + ", got " +
                                std::to_string(options.max_bins));
  }
  BinnedFeatures binned;
  binned.n_rows = x.n_rows;
  binned.n_features = x.n_cols;
  binned.width =
      options.max_bins <= detail::most_cuts(CodeWidth::one_byte) ? CodeWidth::one_byte : CodeWidth::two_bytes;
  take_given_cuts(options, team, binned);
  binned.row_stride = detail::row_stride(x.n_cols, binned.width);
  binned.column_stride = detail::column_stride(x.n_rows);
  binned.by_column = AlignedBuffer<std::uint8_t>(x.n_cols * binned.column_stride * detail::code_bytes(binned.width),
                                                 "the codes by column");
  auto cuts = make_vector<detail::ColumnCuts>(x.n_cols, "the cuts");
  auto orders = make_vector<detail::ColumnOrder>(order != nullptr ? x.n_cols : 0, "the features of the exact search");
  with_code_type(binned.width, [&]<class Code>(Code) {
    bin_strips<T, Code>(x, options, team, binned, cuts, order != nullptr ? &orders : nullptr);
    columns_to_rows<Code>(binned, team);
  });
  Pacer pacer(team);
  if (options.cuts == nullptr) binned.cuts = joined(cuts, pacer);
  if (order != nullptr) move_orders(orders, *order);
  return binned;
}

template <class T>
BinnedFeatures bin_features(const CsrView<T>& x, const BinOptions& options, Team& team) {
  check_sizes(x.n_rows, x.n_cols);
  if (options.max_bins < 0) {
    throw std::invalid_argument("max_bins must be an integer >= 1, got " + std::to_string(options.max_bins));
  }
  BinnedFeatures binned;
  binned.n_rows = x.n_rows;
  binned.n_features = x.n_cols;
  binned.width = CodeWidth::sparse;
  take_given_cuts(options, team, binned);
  {
    Pacer pacer(team);
    EntriesByFeature<T> entries(x, pacer);
    AlignedBuffer<std::uint32_t> codes = bin_entries(x, entries, options, team, pacer, binned);
    entries.values = AlignedBuffer<T>();  // frees memory that the columns need
    fill_sparse_columns(entries, codes, pacer, binned);
    entries.rows = AlignedBuffer<std::uint32_t>();
    fill_sparse_rows(x, std::move(entries.start), codes, pacer, binned);
  }
  return binned;
}

template BinnedFeatures bin_features(const DenseView<float>&, const BinOptions&, Team&, FeatureOrder*);
template BinnedFeatures bin_features(const DenseView<double>&, const BinOptions&, Team&, FeatureOrder*);
template BinnedFeatures bin_features(const CsrView<float>&, const BinOptions&, Team&);
template BinnedFeatures bin_features(const CsrView<double>&, const BinOptions&, Team&);

}  // namespace fastpu
