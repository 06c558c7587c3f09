// The codes of rows, in a column for each feature that some trees split.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/to_text.hpp"
#include "data/category_of.hpp"
#include "data/sorted_table.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"
#include "tree/code_kernels.hpp"

namespace fastpu::detail {

// A column for each feature that some trees split, by ascending feature, with the thresholds at which they split it:
// the code of a value is the number of thresholds below it. If missing values have codes, -inf is the lowest threshold
// of each column where they may go right, so that code 0 stands for them alone. Rows that miss nothing do without: a
// column of 255 cuts has one-byte codes then.
class SplitColumns {
 public:
  struct Column {
    index_t feature = 0;
    bool by_categories = false;
    bool missing_right = false;  // whether a node sends missing values right
    std::vector<double> cuts;

    // Whether missing values need a code that they do not have.
    bool lacks_missing() const { return missing_right && cuts.front() != -kInfinity; }
  };

  SplitColumns(const TreeNode* nodes, index_t n_nodes, index_t n_features, bool missing_have_codes)
      : column_of_(make_vector<std::int32_t>(n_features, "the features of the trees")) {
    for (index_t k = 0; k < n_nodes; ++k) {
      if (!nodes[k].is_leaf()) column_of_[at(nodes[k].feature())] = 1;
    }
    for (index_t f = 0; f < n_features; ++f) {
      if (column_of_[at(f)] != 0) columns_.push_back({.feature = f, .cuts = {}});
      column_of_[at(f)] = column_of_[at(f)] != 0 ? static_cast<std::int32_t>(columns_.size()) - 1 : -1;
    }
    for (index_t k = 0; k < n_nodes; ++k) {
      const TreeNode& node = nodes[k];
      if (node.is_leaf()) continue;
      Column& column = columns_[at(column_of_[at(node.feature())])];
      column.by_categories = node.by_categories();
      if (column.by_categories) continue;
      column.cuts.push_back(node.threshold);
      column.missing_right |= node.missing_right();
    }
    for (Column& column : columns_) {
      if (missing_have_codes && column.missing_right) column.cuts.push_back(-kInfinity);
      std::ranges::sort(column.cuts);
      const auto repeated = std::ranges::unique(column.cuts);
      column.cuts.erase(repeated.begin(), repeated.end());
    }
  }

  const std::vector<Column>& columns() const { return columns_; }
  index_t size() const { return static_cast<index_t>(columns_.size()); }
  // -1 for a feature that no tree splits.
  std::int32_t column_of(index_t feature) const { return column_of_[at(feature)]; }
  CodeCut cut_of(const TreeNode& node) const {
    const std::vector<double>& cuts = columns_[at(column_of(node.feature()))].cuts;
    const index_t cut = std::ranges::lower_bound(cuts, node.threshold) - cuts.begin();
    return {cut, node.missing_right() && cuts.front() == -kInfinity};
  }
  index_t most_cuts() const {
    index_t most = 0;
    for (const Column& column : columns_) {
      most = std::max(most, column.by_categories ? kMostCategories : static_cast<index_t>(column.cuts.size()));
    }
    return most;
  }

 private:
  std::vector<std::int32_t> column_of_;
  std::vector<Column> columns_;
};

template <class T>
class ColumnCoder {
 public:
  explicit ColumnCoder(const SplitColumns::Column& column)
      : by_categories_(column.by_categories), table_(column.cuts) {}

  std::uint32_t code(T x) const {
    return by_categories_ ? static_cast<std::uint32_t>(category_of(x) + 1) : table_.count_below(x);
  }
  template <class Code>
  void codes(const T* x, index_t n, Code* out) const {
    if (!by_categories_) return table_.count_below(x, n, out);
    for (index_t i = 0; i < n; ++i) out[i] = static_cast<Code>(code(x[i]));
  }

 private:
  bool by_categories_;
  SortedTable<T> table_;
};

template <class T, class Columns>
std::vector<ColumnCoder<T>> coders_of(const Columns& columns) {
  std::vector<ColumnCoder<T>> coders;
  coders.reserve(columns.size());
  for (const SplitColumns::Column& column : columns) coders.emplace_back(column);
  return coders;
}

template <class View>
class MatrixRowCodes {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  MatrixRowCodes(const View& x, const SplitColumns& columns)
      : x_(x), columns_(columns), coders_(coders_of<T>(columns.columns())) {}

  // No code is larger.
  index_t most_code() const { return columns_.most_cuts(); }

  // Writes the codes of rows [first, end); that of row first + r in column c goes to codes[c * stride + r]. Returns
  // false, and leaves the rest, where a value is missing that has no code.
  template <class Code>
  bool fill(index_t first, index_t end, index_t stride, Code* codes) const {
    if constexpr (std::is_same_v<View, CsrView<T>>) {
      for (index_t c = 0; c < columns_.size(); ++c) {
        std::fill_n(codes + c * stride, end - first, static_cast<Code>(coders_[at(c)].code(T(0))));
      }
      for (index_t i = first; i < end; ++i) {
        for (index_t p = x_.row_start[i]; p < x_.row_start[i + 1]; ++p) {
          const std::int32_t c = columns_.column_of(x_.columns[p]);
          if (c < 0) continue;
          if (!(x_.values[p] > -kInfinity) && columns_.columns()[at(c)].lacks_missing()) return false;
          codes[c * stride + i - first] = static_cast<Code>(coders_[at(c)].code(x_.values[p]));
        }
      }
    } else {
      constexpr index_t kRows = 64;
      T values[kRows];
      for (; first < end; first += kRows, codes += kRows) {
        const index_t n = std::min(kRows, end - first);
        for (index_t c = 0; c < columns_.size(); ++c) {
          const SplitColumns::Column& column = columns_.columns()[at(c)];
          T not_finite = 0;  // NaN once a value is NaN or infinite: one sum is faster than as many comparisons
          for (index_t i = 0; i < n; ++i) {
            values[i] = x_.row(first + i)[column.feature];
            not_finite += values[i] - values[i];
          }
          if (not_finite != 0 && column.lacks_missing() && any_missing(values, n)) return false;
          coders_[at(c)].codes(values, n, codes + c * stride);
        }
      }
    }
    return true;
  }

 private:
  static bool any_missing(const T* values, index_t n) {
    return std::any_of(values, values + n, [](T x) { return !(x > -kInfinity); });
  }

  const View& x_;
  const SplitColumns& columns_;
  std::vector<ColumnCoder<T>> coders_;
};

// Sparse binned features have their codes already.
class SparseBinnedRowCodes {
 public:
  SparseBinnedRowCodes(const BinnedFeatures& x, const SplitColumns& columns) : x_(x), columns_(columns) {}

  index_t most_code() const {
    index_t most = 0;
    for (const SplitColumns::Column& column : columns_.columns()) most = std::max(most, x_.n_bins(column.feature) - 1);
    return most;
  }

  template <class Code>
  bool fill(index_t first, index_t end, index_t stride, Code* codes) const {
    for (index_t c = 0; c < columns_.size(); ++c) {
      const std::size_t feature = at(columns_.columns()[at(c)].feature);
      Code* column = codes + c * stride;
      std::fill_n(column, end - first, static_cast<Code>(x_.zero_code[feature]));
      const auto rows = x_.column_rows.begin();
      const auto stored_end = rows + x_.column_start[feature + 1];
      const auto begin =
          std::lower_bound(rows + x_.column_start[feature], stored_end, static_cast<std::uint32_t>(first));
      for (auto p = begin; p != stored_end && *p < end; ++p)
        column[*p - first] = static_cast<Code>(x_.column_codes[at(p - rows)]);
    }
    return true;
  }

 private:
  const BinnedFeatures& x_;
  const SplitColumns& columns_;
};

// How many rows make a block: their codes stay in the second-level cache, unless there are very many columns.
inline index_t block_rows(index_t n_columns, index_t code_bytes) {
  constexpr index_t kBytes = index_t{1} << 20;
  return std::clamp<index_t>(kBytes / (std::max<index_t>(n_columns, 1) * code_bytes), 64, 16384) / 64 * 64;
}

// Blocks of rows, and which of them are done.
struct RowBlocks {
  explicit RowBlocks(index_t n) : n_rows(n) {}
  bool all_done() const { return std::ranges::find(done, 0) == done.end(); }

  index_t n_rows;
  index_t rows_of_each = 0;  // chosen when the first codes are computed
  std::vector<std::uint8_t> done;
};

// Computes the codes of the rows of each block that is not done, and calls body(first, n, columns, stride, worker) for
// the n rows from `first`, where the code of row first + r in column c is columns[c * stride + r]. Once rows miss a
// value that has no code, their block and those that follow are left for other codes.
template <class RowCodes, class Body>
void for_coded_blocks(const RowCodes& codes, index_t n_columns, RowBlocks& blocks, int n_workers, Team& team,
                      Body&& body) {
  const auto in_blocks = [&]<class Code>(Code) {
    if (blocks.rows_of_each == 0) {
      blocks.rows_of_each = block_rows(n_columns, sizeof(Code));
      blocks.done.resize(at(count_blocks(blocks.n_rows, blocks.rows_of_each)));
    }
    const index_t stride = blocks.rows_of_each;
    std::atomic<bool> needs_others = false;
    std::vector<AlignedBuffer<Code>> scratch(at(team.n_threads()));
    team.for_each(std::ssize(blocks.done), n_workers, [&](index_t block, int worker) {
      if (blocks.done[at(block)] != 0 || needs_others.load(std::memory_order_relaxed)) return;
      AlignedBuffer<Code>& columns = scratch[at(worker)];
      if (columns.empty()) columns = {std::max<index_t>(n_columns, 1) * stride, "the codes of rows"};
      const index_t first = block * stride;
      const index_t n = std::min(stride, blocks.n_rows - first);
      if (!codes.fill(first, first + n, stride, columns.data())) {
        needs_others.store(true, std::memory_order_relaxed);
        return;
      }
      body(first, n, static_cast<const Code*>(columns.data()), stride, worker);
      blocks.done[at(block)] = 1;
    });
  };
  if (codes.most_code() <= 0xff) return in_blocks(std::uint8_t());
  if (codes.most_code() <= 0xffff) return in_blocks(std::uint16_t());
  in_blocks(std::uint32_t());
}

// ---- Binned features, where their cuts are those of a model ----

// The number of a threshold among the cuts of a feature. Throws std::invalid_argument if it is not among them.
inline index_t cut_at(const BinnedFeatures& x, index_t feature, double threshold) {
  const double* cuts = x.cuts->of(feature);
  const index_t n = x.cuts->count(feature);
  const index_t cut = std::lower_bound(cuts, cuts + n, threshold) - cuts;
  if (cut == n || cuts[cut] != threshold) {
    throw std::invalid_argument("X is binned at other cuts than the model: threshold " + to_text(threshold) +
                                " of feature " + std::to_string(feature) + " is not among them");
  }
  return cut;
}

// Throws std::invalid_argument unless a feature was binned by categories.
inline void check_categories(const BinnedFeatures& x, index_t feature) {
  if (x.cuts->are_of_categories(feature)) return;
  throw std::invalid_argument("X is binned at other cuts than the model: feature " + std::to_string(feature) +
                              " is not binned by categories");
}

// Throws std::invalid_argument unless rows have as many features as a model.
inline void check_features(index_t of_model, index_t of_rows) {
  if (of_model == of_rows) return;
  throw std::invalid_argument("X must have the " + std::to_string(of_model) + " features of the model, got " +
                              std::to_string(of_rows));
}

}  // namespace fastpu::detail
