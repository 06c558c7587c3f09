// Splitting a list of rows in two.
#pragma once

#include <cstdint>

namespace fastpu::detail {

// Brings the rows that go left to the front of the list and returns their number. Which way a row goes is a matter of
// luck: a branch on it would be predicted wrongly half of the time, so that every row changes places with the first one
// that is known to go right, and only the border between them depends on it.
template <class Row, class GoesLeft>
std::uint32_t split_list(Row* list, std::uint32_t n, GoesLeft&& goes_left) {
  std::uint32_t n_left = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Row row = list[i];
    const Row other = list[n_left];
    const std::uint32_t left = goes_left(row) ? 1 : 0;
    list[i] = other;
    list[n_left] = row;
    n_left += left;
  }
  return n_left;
}

}  // namespace fastpu::detail
