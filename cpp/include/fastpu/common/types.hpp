// What every kernel shares: the type of an index, and non-owning views of the two matrix forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>

namespace fastpu {

// Every count, size and position. Signed, so that differences need no thought.
using index_t = std::int64_t;

// An index as the containers of the standard library take it.
[[nodiscard]] constexpr std::size_t at(index_t i) noexcept { return static_cast<std::size_t>(i); }

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least multiple of `multiple` that is n or more, for n >= 0.
[[nodiscard]] constexpr index_t round_up(index_t n, index_t multiple) noexcept {
  return (n + multiple - 1) / multiple * multiple;
}

// A view of a dense matrix, row-major and contiguous. T is float or double.
template <class T>
struct DenseView {
  static constexpr bool kIsDense = true;
  using Value = T;
  const T* data = nullptr;
  index_t n_rows = 0;
  index_t n_cols = 0;

  const T* row(index_t i) const { return data + i * n_cols; }
};

// A view of a sparse matrix in compressed rows. Within a row the columns ascend and none is repeated; the code that
// makes the view has checked this, and that every column is in [0, n_cols).
template <class T>
struct CsrView {
  static constexpr bool kIsDense = false;
  using Value = T;
  const T* values = nullptr;
  const std::int32_t* columns = nullptr;
  const index_t* row_start = nullptr;  // n_rows + 1 positions
  index_t n_rows = 0;
  index_t n_cols = 0;
};

// Rows in any of these forms.
using RowsView = std::variant<DenseView<float>, DenseView<double>, CsrView<float>, CsrView<double>>;

inline index_t n_rows(const RowsView& x) {
  return std::visit([](const auto& view) { return view.n_rows; }, x);
}
inline index_t n_columns(const RowsView& x) {
  return std::visit([](const auto& view) { return view.n_cols; }, x);
}

}  // namespace fastpu
