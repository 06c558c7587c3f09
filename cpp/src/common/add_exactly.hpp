// Sums to twice the working precision.
#pragma once

namespace fastpu::detail {

// What rounding has taken from sum = a + b.
inline double rest_of_sum(double a, double b, double sum) {
  const double part = sum - a;
  return (a - (sum - part)) + (b - part);
}

// (high, low) += x, without rounding high + x away.
inline void add_exactly(double& high, double& low, double x) {
  const double sum = high + x;
  low += rest_of_sum(high, x, sum);
  high = sum;
}

struct ExactSum {
  void add(double x) { add_exactly(high, low, x); }
  double value() const { return high + low; }

  double high = 0;
  double low = 0;
};

}  // namespace fastpu::detail
