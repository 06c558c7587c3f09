// A generator of random numbers for the inner loops of solvers: faster than fastpu::Random, and of lower quality.
#pragma once

#include <cstdint>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Marsaglia 2003, xorshift with the shifts 13, 7 and 17. Every generator gives the same sequence.
class XorShift {
 public:
  // A number in [0, n), 1 <= n < 2^32.
  index_t below(index_t n) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<index_t>(((state_ >> 32U) * static_cast<std::uint64_t>(n)) >> 32U);
  }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15U;
};

}  // namespace fastpu::detail
