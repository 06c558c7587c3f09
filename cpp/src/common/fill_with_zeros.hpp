// Zeros for large arrays.
#pragma once

#include <algorithm>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// With a bin for every distinct value of a CSR matrix, histograms can take hundreds of megabytes: Ctrl-C comes in
// between.
template <class T>
void fill_with_zeros(T* values, index_t n, Team& team) {
  constexpr index_t kAtOnce = index_t{1} << 19;
  for (index_t first = 0; first < n; first += kAtOnce) {
    team.poll();
    std::fill_n(values + first, std::min(kAtOnce, n - first), T(0));
  }
}

}  // namespace fastpu::detail
