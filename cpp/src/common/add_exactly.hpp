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

struct ExactSum {
  void add(double x) { add_exactly(high, low, x); }
  double value() const { return high + low; }

  double high = 0;
  double low = 0;
};

}  // namespace fastpu::detail
