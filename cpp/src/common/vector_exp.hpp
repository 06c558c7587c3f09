// exp of a few numbers at once. For the sources that are compiled once per instruction-set level, inside their
// FASTPU_LEVEL namespace; everything has internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <type_traits>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// exp(x) for x <= 700 (80 for float): x = k log 2 + r with |r| <= log(2) / 2, and exp(r) by a polynomial of least
// relative error (3e-18, and 2e-9 for float, below the rounding of its evaluation, some 1e-16 and 1e-7). Results below
// the least normal number are 0.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<double> {
  using Bits = std::int64_t;
  static constexpr double kInverse = std::numbers::log2e;
  // log 2 in two parts; k times the first is exact
  static constexpr double kHigh = 0x1.62e42fee00000p-1;  // NOLINT(modernize-use-std-numbers): a part of it
  static constexpr double kLow = 0x1.a39ef35793c76p-33;
  static constexpr double kRound = 0x1.8p52;  // adding it leaves a whole number in the low bits
  static constexpr double kLeast = -708.0;
  static constexpr int kMantissa = 52;
  static constexpr int kTerms = 12;
  static constexpr double kTerm[kTerms] = {
      0.9999999999999999971,      1.0000000000000000304,    0.50000000000000177032,   0.16666666666666168159,
      0.04166666666649262904,     0.0083333333335594548244, 0.0013888888951261229554, 0.00019841269432430215143,
      0.000024801486481239125374, 2.7557622654577366354e-6, 2.7632308243338415188e-7, 2.4994292789951450434e-8};
};
template <>
struct ExpConstants<float> {
  using Bits = std::int32_t;
  static constexpr float kInverse = std::numbers::log2e_v<float>;
  static constexpr float kHigh = 0x1.62e400p-1F;  // NOLINT(modernize-use-std-numbers): a part of it
  static constexpr float kLow = 0x1.7f7d1cp-20F;
  static constexpr float kRound = 0x1.8p23F;
  static constexpr float kLeast = -87.0F;
  static constexpr int kMantissa = 23;
  static constexpr int kTerms = 7;
  static constexpr float kTerm[kTerms] = {1.000000000554597088F,    1.0000000363448398428F,   0.49999992075111555657F,
                                          0.16666420071558925099F,  0.041668226185604785617F, 0.0083748240914357338357F,
                                          0.0013836835971467487908F};
};

// sum_i terms[kFirst + i] x^i, with sums of the even and of the odd powers side by side, so that a step waits for half
// as many steps before it.
template <int kFirst, class V, class T, std::size_t kTerms>
inline V polynomial(const T (&terms)[kTerms], V x) {
  constexpr int kLast = static_cast<int>(kTerms) - 1;
  const V square = x * x;
  V even = splat<V>(terms[kLast - (kLast - kFirst) % 2]);
  V odd = splat<V>(terms[kLast - (kLast - kFirst + 1) % 2]);
  FASTPU_UNROLL
  for (int i = kLast - 2; i >= kFirst; --i) {
    V& sum = (i - kFirst) % 2 == 0 ? even : odd;
    sum = sum * square + splat<V>(terms[i]);
  }
  return odd * x + even;
}

template <class T>
inline Vec<T> exp_of_vector(Vec<T> x) {
  using C = ExpConstants<T>;
  using V = Vec<T>;
  using I = Vec<typename C::Bits, kLanes<T>>;
  const V clipped = more_of(x, splat<V>(C::kLeast));
  const V shifted = clipped * splat<V>(C::kInverse) + splat<V>(C::kRound);
  const V k = shifted - splat<V>(C::kRound);
  const V r = (clipped - k * splat<V>(C::kHigh)) - k * splat<V>(C::kLow);
  // The first two terms are 1 in T. The others are small beside them, and so are their rounding errors.
  const V sum = splat<V>(T{1}) + (r + r * r * polynomial<2>(C::kTerm, r));
  // 2^k: the exponent's bits are the low bits of `shifted`, moved into place, on top of those of 1.
  const V one = splat<V>(T{1});
#if defined(__GNUC__)
  const I exponent = reinterpret<I>(shifted) << C::kMantissa;
  const V power = reinterpret<V>(exponent + reinterpret<I>(one));
#else
  V power;
  for (int i = 0; i < kLanes<T>; ++i) {
    typename C::Bits bits, unit;
    std::memcpy(&bits, &shifted.lane[i], sizeof bits);
    std::memcpy(&unit, &one.lane[i], sizeof unit);
    bits = static_cast<typename C::Bits>((static_cast<std::make_unsigned_t<typename C::Bits>>(bits) << C::kMantissa) +
                                         static_cast<std::make_unsigned_t<typename C::Bits>>(unit));
    std::memcpy(&power.lane[i], &bits, sizeof bits);
  }
#endif
  return where_less(x, splat<V>(C::kLeast), V{}, sum * power);
}

}  // namespace

}  // namespace fastpu::detail::FASTPU_LEVEL
