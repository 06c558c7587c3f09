// A small seeded generator, passed by reference: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // A number in [0, n), n >= 1, each as likely: draws that would favour the low ones are thrown away.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (0 - n) % n;
    while (true) {
      const std::uint64_t drawn = next();
      if (drawn >= excess) return drawn % n;
    }
  }

  // Brings the values into a random order.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace fastpu
