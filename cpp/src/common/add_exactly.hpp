// Sums to twice the working precision.
#pragma once

namespace fastpu::detail {

// (high, low) += x, without rounding high + x away.
inline void add_exactly(double& high, double& low, double x) {
  const double sum = high + x;
  const double part = sum - high;
  low += (high - (sum - part)) + (x - part);
  high = sum;
}

}  // namespace fastpu::detail
