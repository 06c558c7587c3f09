// Cells of equal length over the range of some ascending values, in which a search for one of them begins.
#pragma once

#include <cmath>
#include <cstdint>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class T>
struct EqualCells {
  T first = 0;
  T per_unit = 0;
  std::int32_t n = 0;  // of this length, and one more cell beyond

  EqualCells() = default;
  EqualCells(T from, T to, std::int32_t n_cells) : n(n_cells) {
    const T found = static_cast<T>(n) / (to - from);
    if (!std::isfinite(found) || !(found > 0)) return;  // all values are in one cell
    first = from;
    per_unit = found;
  }

  // Never less for a larger x, whatever is rounded; 0 for NaN.
  std::int32_t cell(T x) const {
    const T where = (x - first) * per_unit;
    const T most = static_cast<T>(n);
    return static_cast<std::int32_t>(where > 0 ? (where < most ? where : most) : T(0));
  }

  // Sets start[c] to the number of values in cells before c; `start` has n + 2 zeros. Returns the most in one cell.
  std::uint32_t count(const T* values, index_t n_values, std::uint32_t* start) const {
    std::uint32_t most = 0;
    for (index_t k = 0; k < n_values; ++k) {
      const std::uint32_t now = ++start[cell(values[k]) + 1];
      most = now > most ? now : most;
    }
    for (std::int32_t c = 0; c <= n; ++c) start[c + 1] += start[c];
    return most;
  }
};

}  // namespace fastpu::detail
