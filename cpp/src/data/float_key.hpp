// Order-preserving map from floating-point numbers to unsigned integers: NaN counts as -inf, -0.0 as 0.0.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fastpu::detail {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
KeyOf<T> to_key(T x) {
  using Key = KeyOf<T>;
  x = x != x ? -std::numeric_limits<T>::infinity() : x;
  x += T(0);  // -0.0 becomes 0.0
  const Key bits = std::bit_cast<Key>(x);
  constexpr Key kSign = Key(1) << (8 * sizeof(T) - 1);
  return (bits & kSign) != 0 ? static_cast<Key>(~bits) : static_cast<Key>(bits | kSign);
}

template <class T>
T from_key(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key kSign = Key(1) << (8 * sizeof(T) - 1);
  const Key bits = (key & kSign) != 0 ? static_cast<Key>(key & ~kSign) : static_cast<Key>(~key);
  return std::bit_cast<T>(bits);
}

// The threshold between neighbouring values lo < hi: their midpoint, or lo where the midpoint is not below hi
// (neighbouring floating-point numbers, infinities). lo <= threshold < hi always.
inline double midpoint_threshold(double lo, double hi) {
  const double theta = 0.5 * lo + 0.5 * hi;
  return theta >= lo && theta < hi ? theta : lo;
}

// The largest T that is not above theta: x > theta and x > floor_to<T>(theta) agree for every x of type T.
template <class T>
T floor_to(double theta) {
  if constexpr (std::is_same_v<T, double>) {
    return theta;
  } else {
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    constexpr T kInf = std::numeric_limits<T>::infinity();
    if (theta >= kMax) return theta == std::numeric_limits<double>::infinity() ? kInf : std::numeric_limits<T>::max();
    if (theta < -kMax) return -kInf;
    const T rounded = static_cast<T>(theta);
    return static_cast<double>(rounded) > theta ? std::nextafter(rounded, -kInf) : rounded;
  }
}

}  // namespace fastpu::detail
