// How the codes of binned features lie in memory, and the steps that bin_features and take_rows share.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "common/pacer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/code_width.hpp"

namespace fastpu::detail {

inline constexpr index_t kLine = 64;        // bytes of a cache line
inline constexpr index_t kRowBlock = 4096;  // rows of one parallel task
inline constexpr index_t kRowTile = 64;     // rows of one tile of a transposition

// Dense forms only.
constexpr index_t code_bytes(CodeWidth width) { return static_cast<index_t>(width); }
constexpr index_t most_cuts(CodeWidth width) { return width == CodeWidth::one_byte ? 255 : kMaxDenseCuts; }

// Rows of codes lie on few cache lines and are read as words of 8 bytes: a power of two up to a line, whole lines
// above.
constexpr index_t row_stride(index_t n_features, CodeWidth width) {
  const index_t bytes = n_features * code_bytes(width);
  if (bytes > kLine) return round_up(bytes, kLine) / code_bytes(width);
  index_t padded = 8;
  while (padded < bytes) padded *= 2;
  return padded / code_bytes(width);
}

constexpr index_t column_stride(index_t n_rows) { return round_up(n_rows, 64); }

// How many workers to use for so many values: another one for every kValuesPerWorker of them.
inline int workers_for(index_t n_values, const Team& team) {
  constexpr index_t kValuesPerWorker = 16384;
  return static_cast<int>(std::min<index_t>(team.n_threads(), 1 + n_values / kValuesPerWorker));
}

// to[c * to_stride + r] = from[r * from_stride + c] for one block of rows, tile by tile so that both sides stay cached.
template <class T>
void transpose_block(const T* from, index_t from_stride, T* to, index_t to_stride, index_t first_row, index_t end_row,
                     index_t n_cols, Pacer pacer) {
  for (index_t r0 = first_row; r0 < end_row; r0 += kRowTile) {
    const index_t r1 = std::min(end_row, r0 + kRowTile);
    for (index_t c = 0; c < n_cols; ++c) {
      for (index_t r = r0; r < r1; ++r) to[c * to_stride + r] = from[r * from_stride + c];
      pacer.add(r1 - r0);
    }
  }
}

// Entries are sorted into groups by counting, in three steps. counts_to_starts turns the numbers of entries of the
// groups, group g's in counts[g + 1], into the positions where the groups start. The caller advances a position by each
// entry that it puts there. ends_to_starts sets the positions back.
inline void counts_to_starts(std::vector<index_t>& counts, Pacer& pacer) {
  index_t sum = 0;
  pacer.run(0, std::ssize(counts), [&](index_t first, index_t end) {
    for (index_t g = first; g < end; ++g) {
      index_t& count = counts[at(g)];
      sum += count;
      count = sum;
    }
  });
}

inline void ends_to_starts(std::vector<index_t>& ends, Pacer& pacer) {
  index_t before = 0;
  pacer.run(0, std::ssize(ends), [&](index_t first, index_t end) {
    for (index_t g = first; g < end; ++g) before = std::exchange(ends[at(g)], before);
  });
}

}  // namespace fastpu::detail
