// How many entries of a small ascending table lie below a value. No branch depends on the data: on random values a
// mispredicted branch a step would cost several times the search.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class T>
class SortedTable {
 public:
  explicit SortedTable(const std::vector<T>& ascending) {
    while (size_ <= ascending.size()) size_ *= 2;
    // The padding is the largest integer or +inf, so no value lies above it.
    constexpr T kPad =
        std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    entries_ = make_vector<T>(static_cast<index_t>(size_), "a table of cuts");
    std::fill(std::copy(ascending.begin(), ascending.end(), entries_.begin()), entries_.end(), kPad);
  }

  // 0 for NaN.
  std::uint32_t count_below(T x) const {
    std::uint32_t position = 0;
    for (auto half = static_cast<std::uint32_t>(size_ / 2); half > 0; half /= 2) {
      position += half & (0U - static_cast<std::uint32_t>(entries_[position + half - 1] < x));
    }
    return position;
  }

  // The same for n values. A batch of searches goes on step by step together, so that they overlap in the processor.
  static constexpr index_t kBatch = 32;
  void count_below(const T* x, index_t n, std::uint32_t* counts) const {
    const T* entries = entries_.data();
    for (index_t first = 0; first < n; first += kBatch) {
      const index_t m = std::min(kBatch, n - first);
      std::uint32_t position[kBatch] = {};
      for (auto half = static_cast<std::uint32_t>(size_ / 2); half > 0; half /= 2) {
        for (index_t i = 0; i < m; ++i) {
          position[i] += half & (0U - static_cast<std::uint32_t>(entries[position[i] + half - 1] < x[first + i]));
        }
      }
      std::copy_n(position, m, counts + first);
    }
  }

 private:
  std::size_t size_ = 1;  // a power of two above the number of entries
  std::vector<T> entries_;
};

}  // namespace fastpu::detail
