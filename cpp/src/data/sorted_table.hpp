// How many entries of an ascending table lie below a value. No branch depends on the data: on random values a
// mispredicted branch a step would cost several times the search.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "data/equal_cells.hpp"
#include "data/float_key.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class T>
class SortedTable {
 public:
  // The thresholds are kept in the type of the values: x > theta and x > floor_to<T>(theta) are the same.
  explicit SortedTable(std::span<const double> ascending) {
    while (size_ <= ascending.size()) size_ *= 2;
    entries_ = make_vector<T>(static_cast<index_t>(size_), "a table of cuts");
    std::ranges::transform(ascending, entries_.begin(), floor_to<T>);
    // The padding is +inf, so no value lies above it.
    std::fill(entries_.begin() + std::ssize(ascending), entries_.end(), std::numeric_limits<T>::infinity());
    divide(std::span<const T>(entries_).first(ascending.size()));
  }

  // 0 for NaN.
  std::uint32_t count_below(T x) const {
    std::uint32_t count = 0;
    count_below(&x, 1, &count);
    return count;
  }

  // The same for n values. A batch of searches goes on step by step together, so that they overlap in the processor.
  template <class Count>
  void count_below(const T* x, index_t n, Count* counts) const {
    constexpr index_t kBatch = 32;
    const T* entries = entries_.data();
    for (index_t first = 0; first < n; first += kBatch) {
      const index_t m = std::min(kBatch, n - first);
      std::uint32_t position[kBatch] = {};
      if (starts_.empty()) {
        for (auto half = static_cast<std::uint32_t>(size_ / 2); half > 0; half /= 2) {
          for (index_t i = 0; i < m; ++i) {
            position[i] += half & (0U - static_cast<std::uint32_t>(entries[position[i] + half - 1] < x[first + i]));
          }
        }
      } else {
        for (index_t i = 0; i < m; ++i) position[i] = starts_[at(cells_.cell(x[first + i]))];
        for (std::uint32_t step = 0; step < most_; ++step) {
          for (index_t i = 0; i < m; ++i) position[i] += entries[position[i]] < x[first + i] ? 1U : 0U;
        }
      }
      for (index_t i = 0; i < m; ++i) counts[first + i] = static_cast<Count>(position[i]);
    }
  }

 private:
  // A search begins at the first entry of its cell and goes on one by one, unless some cell has so many entries that
  // halving is faster.
  void divide(std::span<const T> ascending) {
    constexpr std::size_t kFew = 64;             // a smaller table is halved in as little time
    constexpr std::size_t kMostCells = 1 << 20;  // numbers that a float tells apart
    if (size_ < kFew) return;
    const auto is_finite = [](T entry) { return std::isfinite(entry); };
    const auto first = std::ranges::find_if(ascending, is_finite);
    const auto last = std::find_if(ascending.rbegin(), ascending.rend(), is_finite);
    if (first == ascending.end()) return;
    cells_ = EqualCells<T>(*first, *last, static_cast<std::int32_t>(std::min(4 * size_, kMostCells)));
    auto starts = make_vector<std::uint32_t>(cells_.n + 2, "a table of cuts");
    most_ = cells_.count(ascending.data(), std::ssize(ascending), starts.data());
    if (2 * most_ <= static_cast<std::uint32_t>(std::bit_width(size_))) starts_ = std::move(starts);
  }

  std::size_t size_ = 1;  // a power of two above the number of entries
  std::vector<T> entries_;
  std::vector<std::uint32_t> starts_;  // the entries before each cell; empty where none are used
  EqualCells<T> cells_;
  std::uint32_t most_ = 0;  // entries in one cell
};

}  // namespace fastpu::detail
