// Splitting a list of rows in two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/compiler_hints.hpp"

namespace fastpu::detail {

// Writes the rows of a list of n that go left to left[0], left[1], ..., and the others to right[n - 1], right[n - 2],
// ..., and returns how many go left. `left` may be the list itself, or `right`. Both must have room for n rows: which
// way a row goes cannot be predicted, and a branch on it would be wrong half of the time, so every row is written to
// both sides, and only the place of the next one depends on it.
template <class Row, class GoesLeft>
std::uint32_t split_list(const Row* list, std::uint32_t n, Row* left, Row* right, GoesLeft&& goes_left) {
  std::size_t n_left = 0;
  Row* free = right + n;  // the last free place on the right is free[n_left - 1]
  FASTPU_UNROLL_BY_4
  for (std::size_t i = 0; i < n; ++i) {
    const Row row = list[i];
    --free;
    left[n_left] = row;
    free[n_left] = row;
    n_left += goes_left(row) ? 1U : 0U;
  }
  return static_cast<std::uint32_t>(n_left);
}

}  // namespace fastpu::detail
