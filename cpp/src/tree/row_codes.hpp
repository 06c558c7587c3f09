// The codes of rows, in a column for each feature that some trees split.
#pragma once

#include <algorithm>
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

namespace fastpu::detail {

// A column for each feature that some trees split, by ascending feature, with the thresholds at which they split it:
// the code of a value is the number of thresholds below it. Where missing values may go right, -inf is the lowest
// threshold, so that code 0 stands for them alone.
class SplitColumns {
 public:
  struct Column {
    index_t feature = 0;
    bool by_categories = false;
    std::vector<double> cuts;
  };

  SplitColumns(const TreeNode* nodes, index_t n_nodes, index_t n_features)
      : column_of_(make_vector<std::int32_t>(n_features, "the features of the trees")) {
    for (index_t k = 0; k < n_nodes; ++k) {
      if (!nodes[k].is_leaf()) column_of_[at(nodes[k].feature())] = 1;
    }
    for (index_t f = 0; f < n_features; ++f) {
      if (column_of_[at(f)] != 0) columns_.push_back({f, false, {}});
      column_of_[at(f)] = column_of_[at(f)] != 0 ? static_cast<std::int32_t>(columns_.size()) - 1 : -1;
    }
    for (index_t k = 0; k < n_nodes; ++k) {
      const TreeNode& node = nodes[k];
      if (node.is_leaf()) continue;
      Column& column = columns_[at(column_of_[at(node.feature())])];
      column.by_categories = node.by_categories();
      if (column.by_categories) continue;
      column.cuts.push_back(node.threshold);
      if (node.missing_right() && column.cuts.front() != -kInfinity)
        column.cuts.insert(column.cuts.begin(), -kInfinity);
    }
    for (Column& column : columns_) {
      std::ranges::sort(column.cuts);
      const auto repeated = std::ranges::unique(column.cuts);
      column.cuts.erase(repeated.begin(), repeated.end());
    }
  }

  const std::vector<Column>& columns() const { return columns_; }
  index_t size() const { return static_cast<index_t>(columns_.size()); }
  // -1 for a feature that no tree splits.
  std::int32_t column_of(index_t feature) const { return column_of_[at(feature)]; }
  index_t cut_of(const TreeNode& node) const {
    const std::vector<double>& cuts = columns_[at(column_of(node.feature()))].cuts;
    return std::ranges::lower_bound(cuts, node.threshold) - cuts.begin();
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

  // Whether all codes fit a byte.
  bool are_bytes() const { return columns_.most_cuts() <= 255; }

  // Writes the codes of rows [first, end); that of row first + r in column c goes to codes[c * stride + r].
  template <class Code>
  void fill(index_t first, index_t end, index_t stride, Code* codes) const {
    if constexpr (std::is_same_v<View, CsrView<T>>) {
      for (index_t c = 0; c < columns_.size(); ++c) {
        std::fill_n(codes + c * stride, end - first, static_cast<Code>(coders_[at(c)].code(T(0))));
      }
      for (index_t i = first; i < end; ++i) {
        for (index_t p = x_.row_start[i]; p < x_.row_start[i + 1]; ++p) {
          const std::int32_t c = columns_.column_of(x_.columns[p]);
          if (c >= 0) codes[c * stride + i - first] = static_cast<Code>(coders_[at(c)].code(x_.values[p]));
        }
      }
    } else {
      constexpr index_t kRows = 64;
      T values[kRows];
      for (; first < end; first += kRows, codes += kRows) {
        const index_t n = std::min(kRows, end - first);
        for (index_t c = 0; c < columns_.size(); ++c) {
          const index_t feature = columns_.columns()[at(c)].feature;
          for (index_t i = 0; i < n; ++i) values[i] = x_.row(first + i)[feature];
          coders_[at(c)].codes(values, n, codes + c * stride);
        }
      }
    }
  }

 private:
  const View& x_;
  const SplitColumns& columns_;
  std::vector<ColumnCoder<T>> coders_;
};

// Sparse binned features have their codes already.
class SparseBinnedRowCodes {
 public:
  SparseBinnedRowCodes(const BinnedFeatures& x, const SplitColumns& columns) : x_(x), columns_(columns) {}

  bool are_bytes() const {
    return std::ranges::all_of(columns_.columns(),
                               [&](const auto& column) { return x_.n_bins(column.feature) <= 256; });
  }

  template <class Code>
  void fill(index_t first, index_t end, index_t stride, Code* codes) const {
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

// Computes the codes of rows block by block, and calls body(first, n, columns, stride, worker) for each block of n rows
// from `first`, where that of row first + r in column c is columns[c * stride + r].
template <class RowCodes, class Body>
void for_coded_blocks(const RowCodes& codes, index_t n_columns, index_t n_rows, int n_workers, Team& team,
                      Body&& body) {
  const auto in_blocks = [&]<class Code>(Code) {
    const index_t stride = block_rows(n_columns, sizeof(Code));
    std::vector<AlignedBuffer<Code>> scratch(at(team.n_threads()));
    team.for_each(count_blocks(n_rows, stride), n_workers, [&](index_t block, int worker) {
      AlignedBuffer<Code>& columns = scratch[at(worker)];
      if (columns.empty()) columns = {std::max<index_t>(n_columns, 1) * stride, "the codes of rows"};
      const index_t first = block * stride;
      const index_t n = std::min(stride, n_rows - first);
      codes.fill(first, first + n, stride, columns.data());
      body(first, n, static_cast<const Code*>(columns.data()), stride, worker);
    });
  };
  if (codes.are_bytes()) return in_blocks(std::uint8_t());
  in_blocks(std::uint32_t());
}

// ---- Binned features, where their cuts are those of a model ----

// The number of a threshold among the cuts of a feature. Throws std::invalid_argument if it is not among them, or if
// missing values are to go right and have no code of their own.
inline index_t cut_at(const BinnedFeatures& x, index_t feature, double threshold, bool missing_right = false) {
  const double* cuts = x.cuts->of(feature);
  const index_t n = x.cuts->count(feature);
  const index_t cut = std::lower_bound(cuts, cuts + n, threshold) - cuts;
  if (cut == n || cuts[cut] != threshold || (missing_right && !x.cuts->has_missing(feature))) {
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
