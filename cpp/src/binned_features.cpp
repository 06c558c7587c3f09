#include "fastpu/binned_features.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "detail/bin_column.hpp"

namespace fastpu {

namespace {

using detail::ColumnBinner;
using detail::KeyOf;

constexpr index_t kStripColumns = 16;  // columns transposed at a time: one cache line of float32
constexpr index_t kRowBlock = 4096;    // rows of one parallel task
constexpr index_t kRowTile = 64;       // rows of one tile of a transposition
constexpr index_t kTwoByteCuts = 255;  // more cuts than this need codes of two bytes

index_t round_up(index_t n, index_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Workers for so many values: fewer of them than kValuesPerWorker are not worth waking a thread.
int workers_for(index_t n_values, const Team& team) {
  constexpr index_t kValuesPerWorker = 16384;
  return static_cast<int>(std::min<index_t>(team.n_threads(), 1 + n_values / kValuesPerWorker));
}

// Rows of codes lie on few cache lines and are read as words of 8 bytes: a power of two up to a line, whole lines
// above.
index_t padded_row(index_t n_codes, index_t code_bytes) {
  constexpr index_t kLine = 64;
  const index_t bytes = n_codes * code_bytes;
  if (bytes > kLine) return round_up(bytes, kLine) / code_bytes;
  index_t padded = 8;
  while (padded < bytes) padded *= 2;
  return padded / code_bytes;
}

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

std::shared_ptr<const Cuts> join(const std::vector<std::vector<double>>& per_feature) {
  auto cuts = std::make_shared<Cuts>();
  cuts->start.push_back(0);
  for (const auto& values : per_feature) {
    cuts->value.insert(cuts->value.end(), values.begin(), values.end());
    cuts->start.push_back(static_cast<index_t>(cuts->value.size()));
  }
  return cuts;
}

// to[c * to_stride + r] = from[r * from_stride + c] for one block of rows, tile by tile so that both sides stay cached.
template <class T>
void transpose_block(const T* from, index_t from_stride, T* to, index_t to_stride, index_t first_row, index_t end_row,
                     index_t n_cols) {
  for (index_t r0 = first_row; r0 < end_row; r0 += kRowTile) {
    const index_t r1 = std::min(end_row, r0 + kRowTile);
    for (index_t c = 0; c < n_cols; ++c) {
      for (index_t r = r0; r < r1; ++r) to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

template <class Code>
void columns_to_rows(BinnedFeatures& binned, Team& team) {
  const auto* columns = reinterpret_cast<const Code*>(binned.by_column.data());
  auto* rows = reinterpret_cast<Code*>(binned.by_row.data());
  team.for_each(count_blocks(binned.n_rows, kRowBlock), workers_for(binned.n_rows * binned.n_features, team),
                [&](index_t block, int) {
                  const index_t first = block * kRowBlock;
                  const index_t end = std::min(binned.n_rows, first + kRowBlock);
                  std::memset(rows + first * binned.row_stride, 0,
                              static_cast<std::size_t>((end - first) * binned.row_stride) * sizeof(Code));
                  for (index_t r0 = first; r0 < end; r0 += kRowTile) {
                    const index_t r1 = std::min(end, r0 + kRowTile);
                    for (index_t e = 0; e < binned.n_features; ++e) {
                      const Code* column = columns + e * binned.column_stride;
                      for (index_t r = r0; r < r1; ++r) rows[r * binned.row_stride + e] = column[r];
                    }
                  }
                });
}

template <class Code>
void rows_to_columns(BinnedFeatures& binned, Team& team) {
  const auto* rows = reinterpret_cast<const Code*>(binned.by_row.data());
  auto* columns = reinterpret_cast<Code*>(binned.by_column.data());
  team.for_each(count_blocks(binned.n_rows, kRowBlock), workers_for(binned.n_rows * binned.n_features, team),
                [&](index_t block, int) {
                  const index_t first = block * kRowBlock;
                  transpose_block(rows, binned.row_stride, columns, binned.column_stride, first,
                                  std::min(binned.n_rows, first + kRowBlock), binned.n_features);
                });
  for (index_t e = 0; e < binned.n_features; ++e) {
    std::fill(columns + e * binned.column_stride + binned.n_rows, columns + (e + 1) * binned.column_stride, Code(0));
  }
}

void allocate_dense(BinnedFeatures& binned) {
  const auto bytes = static_cast<index_t>(binned.width);
  binned.row_stride = padded_row(binned.n_features, bytes);
  binned.column_stride = round_up(binned.n_rows, 64);
  binned.by_row = AlignedBuffer<std::uint8_t>(binned.n_rows * binned.row_stride * bytes, "the codes by row");
  binned.by_column =
      AlignedBuffer<std::uint8_t>(binned.n_features * binned.column_stride * bytes, "the codes by column");
}

// Sparse: the column lists from the row lists.
void sparse_columns(BinnedFeatures& binned) {
  std::vector<std::uint32_t> feature_of_bin(static_cast<std::size_t>(binned.total_bins()));
  for (index_t e = 0; e < binned.n_features; ++e) {
    std::fill_n(feature_of_bin.begin() + binned.first_bin(e), binned.n_bins(e), static_cast<std::uint32_t>(e));
  }
  binned.column_start.assign(static_cast<std::size_t>(binned.n_features) + 1, 0);
  for (const std::uint32_t bin : binned.row_bins) ++binned.column_start[feature_of_bin[bin] + 1U];
  for (std::size_t e = 1; e < binned.column_start.size(); ++e) binned.column_start[e] += binned.column_start[e - 1];
  std::vector<index_t> next(binned.column_start.begin(), binned.column_start.end() - 1);
  binned.column_rows.resize(binned.row_bins.size());
  binned.column_codes.resize(binned.row_bins.size());
  for (index_t r = 0; r < binned.n_rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    for (index_t p = binned.row_start[row]; p < binned.row_start[row + 1]; ++p) {
      const std::uint32_t bin = binned.row_bins[static_cast<std::size_t>(p)];
      const std::uint32_t e = feature_of_bin[bin];
      const auto at = static_cast<std::size_t>(next[e]++);
      binned.column_rows[at] = static_cast<std::uint32_t>(r);
      binned.column_codes[at] = bin - static_cast<std::uint32_t>(binned.first_bin(e));
    }
  }
}

template <class T, class Code>
void bin_strips(const DenseView<T>& x, const BinOptions& options, Team& team, BinnedFeatures& binned,
                std::vector<std::vector<double>>& cuts, std::vector<detail::ColumnOrder>* orders) {
  AlignedBuffer<T> strip(std::min(kStripColumns, x.n_cols) * x.n_rows, "a strip of columns");
  const detail::QuantileWeights weight(options.sample_weight, x.n_rows);
  std::vector<ColumnBinner<T>> binners;
  binners.reserve(static_cast<std::size_t>(team.n_threads()));
  for (int worker = 0; worker < team.n_threads(); ++worker) {
    binners.emplace_back(x.n_rows, options.max_bins, weight, orders != nullptr);
  }
  auto* columns = reinterpret_cast<Code*>(binned.by_column.data());
  for (index_t first = 0; first < x.n_cols; first += kStripColumns) {
    const index_t width = std::min(kStripColumns, x.n_cols - first);
    const int workers = workers_for(width * x.n_rows, team);
    team.for_each(count_blocks(x.n_rows, kRowBlock), workers, [&](index_t block, int) {
      const index_t r0 = block * kRowBlock;
      transpose_block(x.data + first, x.n_cols, strip.data(), x.n_rows, r0, std::min(x.n_rows, r0 + kRowBlock), width);
    });
    team.for_each(width, workers, [&](index_t c, int worker) {
      const auto e = static_cast<std::size_t>(first + c);
      const T* column = strip.data() + c * x.n_rows;
      ColumnBinner<T>& binner = binners[static_cast<std::size_t>(worker)];
      const auto checkpoint = [&] { team.poll(); };
      cuts[e] = binner.cuts(column, checkpoint, orders != nullptr ? &(*orders)[e] : nullptr);
      team.poll();
      Code* codes = columns + (first + c) * binned.column_stride;
      binner.encode(column, cuts[e], codes);
      std::fill(codes + x.n_rows, codes + binned.column_stride, Code(0));
    });
  }
}

}  // namespace

index_t BinnedFeatures::n_bytes() const {
  const auto bytes = [](const auto& v) { return static_cast<index_t>(v.size() * sizeof(v[0])); };
  return static_cast<index_t>(by_row.bytes() + by_column.bytes()) + bytes(row_start) + bytes(row_bins) +
         bytes(column_start) + bytes(column_rows) + bytes(column_codes) + bytes(zero_code) + bytes(cuts->start) +
         bytes(cuts->value);
}

void BinnedFeatures::fill_columns(Team& team) {
  if (is_sparse()) {
    sparse_columns(*this);
  } else if (width == CodeWidth::one_byte) {
    rows_to_columns<std::uint8_t>(*this, team);
  } else {
    rows_to_columns<std::uint16_t>(*this, team);
  }
}

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
  binned.width = options.max_bins <= kTwoByteCuts ? CodeWidth::one_byte : CodeWidth::two_bytes;
  allocate_dense(binned);
  std::vector<std::vector<double>> cuts(static_cast<std::size_t>(x.n_cols));
  std::vector<detail::ColumnOrder> orders(order != nullptr ? cuts.size() : 0);
  auto* wanted = order != nullptr ? &orders : nullptr;
  if (binned.width == CodeWidth::one_byte) {
    bin_strips<T, std::uint8_t>(x, options, team, binned, cuts, wanted);
    columns_to_rows<std::uint8_t>(binned, team);
  } else {
    bin_strips<T, std::uint16_t>(x, options, team, binned, cuts, wanted);
    columns_to_rows<std::uint16_t>(binned, team);
  }
  binned.cuts = join(cuts);
  for (std::size_t e = 0; e < orders.size(); ++e) {
    if (orders[e].rows.empty()) continue;
    order->features.push_back(static_cast<index_t>(e));
    order->rows.push_back(std::move(orders[e].rows));
    order->bin_start.push_back(std::move(orders[e].bin_start));
  }
  return binned;
}

template <class T>
BinnedFeatures bin_features(const CsrView<T>& x, const BinOptions& options, Team& team) {
  check_sizes(x.n_rows, x.n_cols);
  if (options.max_bins < 0) {
    throw std::invalid_argument("max_bins must be an integer >= 1, got " + std::to_string(options.max_bins));
  }
  const index_t nnz = x.row_start[x.n_rows];
  // The entries column by column.
  std::vector<index_t> start(static_cast<std::size_t>(x.n_cols) + 1, 0);
  for (index_t p = 0; p < nnz; ++p) ++start[static_cast<std::size_t>(x.columns[p]) + 1];
  for (std::size_t e = 1; e < start.size(); ++e) start[e] += start[e - 1];
  AlignedBuffer<T> values(nnz, "the sparse columns");
  AlignedBuffer<std::uint32_t> rows(nnz, "the sparse columns");
  std::vector<index_t> next(start.begin(), start.end() - 1);
  for (index_t r = 0; r < x.n_rows; ++r) {
    for (index_t p = x.row_start[r]; p < x.row_start[r + 1]; ++p) {
      const index_t at = next[static_cast<std::size_t>(x.columns[p])]++;
      values[at] = x.values[p];
      rows[at] = static_cast<std::uint32_t>(r);
    }
  }
  BinnedFeatures binned;
  binned.n_rows = x.n_rows;
  binned.n_features = x.n_cols;
  binned.width = CodeWidth::sparse;
  binned.zero_code.resize(static_cast<std::size_t>(x.n_cols));
  std::vector<std::vector<double>> cuts(static_cast<std::size_t>(x.n_cols));
  AlignedBuffer<std::uint32_t> codes(nnz, "the sparse codes");
  index_t longest = 0;
  for (std::size_t e = 1; e < start.size(); ++e) longest = std::max(longest, start[e] - start[e - 1]);
  const detail::QuantileWeights weight(options.sample_weight, x.n_rows);
  std::vector<detail::SparseColumnBinner<T>> binners;
  binners.reserve(static_cast<std::size_t>(team.n_threads()));
  for (int worker = 0; worker < team.n_threads(); ++worker) {
    binners.emplace_back(x.n_rows, longest, options.max_bins, weight);
  }
  constexpr index_t kFeatureBlock = 64;
  team.for_each(count_blocks(x.n_cols, kFeatureBlock), workers_for(nnz, team), [&](index_t block, int worker) {
    auto& binner = binners[static_cast<std::size_t>(worker)];
    for (index_t f = block * kFeatureBlock; f < std::min(x.n_cols, (block + 1) * kFeatureBlock); ++f) {
      const auto e = static_cast<std::size_t>(f);
      const index_t n = start[e + 1] - start[e];
      cuts[e] = binner.cuts(values.data() + start[e], rows.data() + start[e], n);
      binned.zero_code[e] = binner.encode(values.data() + start[e], n, cuts[e], codes.data() + start[e]);
    }
  });
  binned.cuts = join(cuts);
  if (binned.total_bins() > index_t{0xffffffff}) {
    throw std::invalid_argument("X has too many distinct values to cut at every one of them (" +
                                std::to_string(binned.total_bins()) + "): give max_bins");
  }
  // Back to rows, without the entries that share the bin of zero.
  binned.row_start.assign(static_cast<std::size_t>(x.n_rows) + 1, 0);
  const auto for_kept = [&](auto&& visit) {
    for (std::size_t e = 0; e + 1 < start.size(); ++e) {
      for (index_t p = start[e]; p < start[e + 1]; ++p) {
        if (codes[p] != binned.zero_code[e]) visit(static_cast<index_t>(e), rows[p], codes[p]);
      }
    }
  };
  for_kept([&](index_t, std::uint32_t row, std::uint32_t) { ++binned.row_start[row + 1U]; });
  for (std::size_t r = 1; r < binned.row_start.size(); ++r) binned.row_start[r] += binned.row_start[r - 1];
  binned.row_bins.resize(static_cast<std::size_t>(binned.row_start.back()));
  std::vector<index_t> position(binned.row_start.begin(), binned.row_start.end() - 1);
  for_kept([&](index_t e, std::uint32_t row, std::uint32_t code) {
    binned.row_bins[static_cast<std::size_t>(position[row]++)] = static_cast<std::uint32_t>(binned.first_bin(e)) + code;
  });
  sparse_columns(binned);
  return binned;
}

BinnedFeatures take_rows(const BinnedFeatures& all, const index_t* rows, index_t n, Team& team) {
  check_sizes(n, all.n_features);
  for (index_t i = 0; i < n; ++i) {
    if (rows[i] < 0 || rows[i] >= all.n_rows) {
      throw std::invalid_argument("row " + std::to_string(rows[i]) + " is out of range for binned features of " +
                                  std::to_string(all.n_rows) + " rows");
    }
  }
  BinnedFeatures taken;
  taken.n_rows = n;
  taken.n_features = all.n_features;
  taken.cuts = all.cuts;
  taken.width = all.width;
  taken.zero_code = all.zero_code;
  if (all.is_sparse()) {
    taken.row_start.assign(1, 0);
    for (index_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(rows[i]);
      taken.row_bins.insert(taken.row_bins.end(), all.row_bins.begin() + all.row_start[row],
                            all.row_bins.begin() + all.row_start[row + 1]);
      taken.row_start.push_back(static_cast<index_t>(taken.row_bins.size()));
    }
  } else {
    allocate_dense(taken);
    const auto bytes = static_cast<std::size_t>(all.row_stride * static_cast<index_t>(all.width));
    team.for_each(count_blocks(n, kRowBlock), workers_for(n * all.n_features, team), [&](index_t block, int) {
      for (index_t i = block * kRowBlock; i < std::min(n, (block + 1) * kRowBlock); ++i) {
        std::memcpy(taken.by_row.data() + static_cast<std::size_t>(i) * bytes,
                    all.by_row.data() + static_cast<std::size_t>(rows[i]) * bytes, bytes);
      }
    });
  }
  taken.fill_columns(team);
  return taken;
}

bool same_cuts(const BinnedFeatures& a, const BinnedFeatures& b) {
  return a.cuts == b.cuts || (a.cuts->start == b.cuts->start && a.cuts->value == b.cuts->value);
}

template BinnedFeatures bin_features(const DenseView<float>&, const BinOptions&, Team&, FeatureOrder*);
template BinnedFeatures bin_features(const DenseView<double>&, const BinOptions&, Team&, FeatureOrder*);
template BinnedFeatures bin_features(const CsrView<float>&, const BinOptions&, Team&);
template BinnedFeatures bin_features(const CsrView<double>&, const BinOptions&, Team&);

}  // namespace fastpu
