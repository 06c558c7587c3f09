// Stable least-significant-digit radix sort by an unsigned key, digits of 11 bits; a digit that all
// elements share costs nothing. Small arrays go to std::stable_sort.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "common/pacer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class Key>
struct KeyRow {
  Key key;
  std::uint32_t row;
};

inline std::uint32_t sort_key(std::uint32_t x) { return x; }
inline std::uint64_t sort_key(std::uint64_t x) { return x; }
template <class Key>
Key sort_key(const KeyRow<Key>& x) {
  return x.key;
}

// Sorts data[0..n) with scratch[0..n) as a second array; returns that of the two which has the sorted elements.
// Where a poll throws, the elements are left in no order.
template <class Element>
Element* radix_sort(Element* data, Element* scratch, index_t n, Pacer& pacer) {
  using Key = decltype(sort_key(*data));
  constexpr std::size_t kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  constexpr std::size_t kPasses = (sizeof(Key) * 8 + kBits - 1) / kBits;
  constexpr index_t kSmall = 1024;
  if (n <= kSmall) {
    std::stable_sort(data, data + n, [](const Element& a, const Element& b) { return sort_key(a) < sort_key(b); });
    return data;
  }
  std::array<std::array<index_t, kBuckets>, kPasses> counts{};
  pacer.run(0, n, [&counts, data](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      const Key key = sort_key(data[i]);
      for (std::size_t pass = 0; pass < kPasses; ++pass) {
        ++counts[pass][static_cast<std::size_t>(key >> (kBits * pass)) & (kBuckets - 1)];
      }
    }
  });
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    auto& count = counts[pass];
    const auto digit = [pass](const Element& x) {
      return static_cast<std::size_t>(sort_key(x) >> (kBits * pass)) & (kBuckets - 1);
    };
    if (count[digit(data[0])] == n) continue;
    index_t position = 0;
    for (index_t& bucket : count) position += std::exchange(bucket, position);
    pacer.run(0, n, [&count, digit, data, scratch](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) scratch[count[digit(data[i])]++] = data[i];
    });
    std::swap(data, scratch);
  }
  return data;
}

}  // namespace fastpu::detail
