// The unit of numbers such as weights: what all of them are whole multiples of.
#pragma once

#include <cmath>
#include <utility>

namespace fastpu::detail {

// The largest number that two numbers >= 0 are whole multiples of, within the rounding of numbers that had a common
// factor; of 0 and a number it is the number. Numbers that have nothing in common have a tiny one.
inline double common_divisor(double a, double b) {
  if (a < b) std::swap(a, b);
  const double rounding = 0x1p-44 * a;
  if (b > 0 && b <= rounding) return b;
  while (b > rounding) {
    const double rest = std::fmod(a, b);
    a = std::exchange(b, b - rest > rounding ? rest : 0.0);
  }
  return a;
}

}  // namespace fastpu::detail
