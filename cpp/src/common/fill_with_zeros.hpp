// Zeros for large arrays.
#pragma once

#include <algorithm>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Polls from time to time: with a bin for every distinct value of a CSR matrix, a histogram can take hundreds of
// megabytes.
template <class T>
void fill_with_zeros(T* values, index_t n, Team& team) {
  constexpr index_t kAtOnce = index_t{1} << 19;
  for (index_t first = 0; first < n; first += kAtOnce) {
    team.poll();
    std::fill_n(values + first, std::min(kAtOnce, n - first), T(0));
  }
}

}  // namespace fastpu::detail
