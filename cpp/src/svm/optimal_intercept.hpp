// The optimal intercepts for given scores.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// cost |b - position| on one side of the position, nothing on the other.
struct Breakpoint {
  double position;
  double cost;  // > 0
};

// The interval of all b that minimise sum_i cost_i max(0, b - position_i) - target b; it may be half-infinite. `middle`
// is the intercept that models use: the midpoint, or the finite end of a half-infinite interval.
struct InterceptInterval {
  double low = 0;
  double high = 0;
  double middle = 0;
};

// The target must be between 0 and the sum of costs. Sums of costs are rounded, so sums that differ from the target by
// less than a millionth of the next cost count as equal to it. Takes time O(n) and changes the order of the points.
InterceptInterval best_intercepts(std::vector<Breakpoint>& points, double target);

}  // namespace fastpu::detail
