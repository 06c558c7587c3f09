// The choice of cuts from the distinct values of a feature (the rule is in binned_features.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// cumulative[j] is the weight of the rows whose value is at most distinct value j, ascending. Returns the chosen
// boundaries j (between distinct values j-1 and j), ascending: all of them if there are at most max_cuts. With
// `keep_first` boundary 1 is among them, if need be in place of the lowest.
inline std::vector<index_t> quantile_boundaries(const double* cumulative, index_t n_distinct, index_t max_cuts,
                                                bool keep_first) {
  const index_t n_boundaries = n_distinct - 1;
  if (n_boundaries <= 0) return {};
  auto chosen = reserve_vector<index_t>(std::min(n_boundaries, max_cuts), "the cuts of a feature");
  if (n_boundaries <= max_cuts) {
    for (index_t j = 1; j <= n_boundaries; ++j) chosen.push_back(j);
    return chosen;
  }
  const auto parts = static_cast<double>(max_cuts + 1);
  const double total = cumulative[n_distinct - 1];
  index_t j = 1;
  for (index_t k = 1; k <= max_cuts; ++k) {
    // Products of whole numbers below 2^53, hence exact, where the weights are whole.
    const double target = static_cast<double>(k) * total;
    while (j < n_boundaries && cumulative[j - 1] * parts < target) ++j;
    if (chosen.empty() || chosen.back() != j) chosen.push_back(j);
  }
  if (keep_first && chosen.front() != 1) {
    if (static_cast<index_t>(chosen.size()) == max_cuts) {
      chosen.front() = 1;
    } else {
      chosen.insert(chosen.begin(), 1);
    }
  }
  return chosen;
}

}  // namespace fastpu::detail
