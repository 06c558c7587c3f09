// The optimality (KKT) conditions of every dual of this room, by the gradients of its variables.
#pragma once

#include <algorithm>
#include <limits>

namespace fastpu::detail {

// For the variables of one group, whose sum is fixed: the least gradient of those that may grow and the largest of
// those that may shrink. Where the latter exceeds the former, that pair of variables violates the conditions.
struct Window {
  double up_min = std::numeric_limits<double>::infinity();
  double low_max = -std::numeric_limits<double>::infinity();

  void see(double gradient, bool may_grow, bool may_shrink) {
    if (may_grow) up_min = std::min(up_min, gradient);
    if (may_shrink) low_max = std::max(low_max, gradient);
  }
  double violation() const { return std::max(0.0, low_max - up_min); }
};

}  // namespace fastpu::detail
