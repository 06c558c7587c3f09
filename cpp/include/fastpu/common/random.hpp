// A small generator of random numbers that gives the same numbers on every machine.
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

  // The (k + 1)-th number of Random(seed), k = 0, 1, ..., for use as a further seed: each is found without those
  // before.
  static std::uint64_t derived(std::uint64_t seed, std::uint64_t k) { return Random(seed + k * kStep).next(); }

  // A number in which every bit depends on all bits of z, and another one for every z.
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  std::uint64_t next() {
    state_ += kStep;
    return mixed(state_);
  }

  // A number in [0, n), n >= 1, all with the same probability: draws that would favour low numbers are repeated.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t excess = (0 - n) % n;
    while (true) {
      const std::uint64_t drawn = next();
      if (drawn >= excess) return drawn % n;
    }
  }

  // A number in [0, n), 1 <= n < 2^32, by one draw: floor(next() n / 2^64). Probabilities differ by less than n / 2^64,
  // relative.
  std::uint32_t scaled(std::uint32_t n) {
    const std::uint64_t drawn = next();
    const std::uint64_t low = (drawn & 0xffffffffU) * n;
    return static_cast<std::uint32_t>(((drawn >> 32U) * n + (low >> 32U)) >> 32U);
  }

  // A number in [0, 1), a multiple of 2^-53.
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

  // Puts the values into a random order.
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
};

}  // namespace fastpu
