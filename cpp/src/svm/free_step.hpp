// Newton's method among the variables that are at no bound, for problems on which pairs crawl: where many of them have
// to move together, pairs take millions of steps, and one system of equations does it at once.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Variables with their part of the kernel matrix (n x n, row-major), gradient, bounds and group (0 or 1).
struct FreeProblem {
  std::vector<double> kernel;
  std::vector<double> gradient;
  std::vector<double> value;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<std::uint8_t> group;
};

// More variables than this take longer than they save.
inline constexpr index_t kMostFree = 400;

// Minimises over the variables that are strictly within their bounds, the sums of groups fixed; one that gets to a
// bound stays there, and the others go on. Changes value and gradient; returns the decrease of the objective, 0 if
// nothing was found that decreases it.
double minimise_free(FreeProblem& problem);

}  // namespace fastpu::detail
