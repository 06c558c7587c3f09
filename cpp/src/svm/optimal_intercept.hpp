// The intercepts that are best for given scores.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// cost |b - position| on one side of the position, nothing on the other.
struct Breakpoint {
  double position;
  double cost;  // > 0
};

// All b of least sum_i cost_i max(0, b - position_i) - target b: an interval, half-infinite where nothing bounds it.
// Its middle is the intercept that is taken, or its finite end.
struct InterceptInterval {
  double low = 0;
  double high = 0;
  double middle = 0;
};

// 0 <= target <= the sum of costs. Sums that differ from the target by less than a millionth of the next cost count as
// equal to it, for sums of costs are not exact. Time O(n); the order of the points is changed.
InterceptInterval best_intercepts(std::vector<Breakpoint>& points, double target);

}  // namespace fastpu::detail
