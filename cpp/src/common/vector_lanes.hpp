// A few numbers that are added, multiplied and compared at once: the compiler's own vector types where it has them,
// plain arrays otherwise. For the sources that are compiled once per instruction-set level, inside their FASTPU_LEVEL
// namespace; everything has internal linkage.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "fastpu/common/types.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

#if defined(__GNUC__)

template <class T, int N>
struct VecOf {
  typedef T Type __attribute__((vector_size(N * static_cast<int>(sizeof(T)))));  // gcc knows no other form
};
template <class T, int N = kLanes<T>>
using Vec = typename VecOf<T, N>::Type;  // NOLINT(readability-redundant-typename): clang before 16 wants it

template <class To, class From>
inline To convert(From v) {
  return __builtin_convertvector(v, To);
}
template <class To, class From>
inline To reinterpret(From v) {
  return reinterpret_cast<To>(v);
}

#else

template <class T, int N = kLanes<T>>
struct Vec {
  T lane[N];
  T operator[](int i) const { return lane[i]; }
  T& operator[](int i) { return lane[i]; }
};
#define FASTPU_VEC_OPERATOR(op, Result)                                     \
  template <class T, int N>                                                 \
  inline Vec<Result, N> operator op(Vec<T, N> a, Vec<T, N> b) {             \
    Vec<Result, N> out;                                                     \
    for (int i = 0; i < N; ++i) out[i] = static_cast<Result>(a[i] op b[i]); \
    return out;                                                             \
  }                                                                         \
  template <class T, int N>                                                 \
  inline Vec<Result, N> operator op(Vec<T, N> a, T b) {                     \
    Vec<Result, N> out;                                                     \
    for (int i = 0; i < N; ++i) out[i] = static_cast<Result>(a[i] op b);    \
    return out;                                                             \
  }
FASTPU_VEC_OPERATOR(+, T)
FASTPU_VEC_OPERATOR(-, T)
FASTPU_VEC_OPERATOR(*, T)
FASTPU_VEC_OPERATOR(/, T)
FASTPU_VEC_OPERATOR(&, T)
FASTPU_VEC_OPERATOR(|, T)
FASTPU_VEC_OPERATOR(<<, T)
FASTPU_VEC_OPERATOR(>>, T)
#undef FASTPU_VEC_OPERATOR
template <class To, class From>
inline To convert(From v) {
  To out;
  for (int i = 0; i < static_cast<int>(sizeof(v.lane) / sizeof(v.lane[0])); ++i)
    out[i] = static_cast<std::remove_reference_t<decltype(out[0])>>(v[i]);
  return out;
}
template <class To, class From>
inline To reinterpret(From v) {
  To out;
  std::memcpy(&out, &v, sizeof out);
  return out;
}

#endif

template <class V, class T>
inline V load(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
inline void store(T* to, const V& v) {
  std::memcpy(to, &v, sizeof v);
}

using Doubles = Vec<double>;
constexpr int kDoubles = kLanes<double>;
// The first kDoubles values of an array as doubles.
template <class T>
inline Doubles load_doubles(const T* from) {
  if constexpr (std::is_same_v<T, double>) {
    return load<Doubles>(from);
  } else {
    return convert<Doubles>(load<Vec<T, kDoubles>>(from));
  }
}

// The same number in every lane, or the number itself where V is its type. Compilers know that x - 0 is x, for x = -0
// too, and leave the subtraction out.
template <class V, class T>
inline V splat(T value) {
#if defined(__GNUC__)
  return value - V{};
#else
  V v;
  for (std::size_t i = 0; i < sizeof v; i += sizeof value) {
    std::memcpy(reinterpret_cast<char*>(&v) + i, &value, sizeof value);
  }
  return v;
#endif
}

// Lane by lane: the smaller one, the larger one, and a where x < y or b elsewhere.
#if defined(__GNUC__)
template <class V>
inline V less_of(V a, V b) {
  return a < b ? a : b;
}
template <class V>
inline V more_of(V a, V b) {
  return a > b ? a : b;
}
template <class V, class W>
inline W where_less(V x, V y, W a, W b) {
  return x < y ? a : b;
}
#else
inline double more_of(double a, double b) { return a > b ? a : b; }
template <class T, int N>
inline Vec<T, N> less_of(Vec<T, N> a, Vec<T, N> b) {
  for (int i = 0; i < N; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
  return a;
}
template <class T, int N>
inline Vec<T, N> more_of(Vec<T, N> a, Vec<T, N> b) {
  for (int i = 0; i < N; ++i) a[i] = a[i] > b[i] ? a[i] : b[i];
  return a;
}
template <class T, class U, int N>
inline Vec<U, N> where_less(Vec<T, N> x, Vec<T, N> y, Vec<U, N> a, Vec<U, N> b) {
  for (int i = 0; i < N; ++i) a[i] = x[i] < y[i] ? a[i] : b[i];
  return a;
}
#endif

// Calls visit(k, zero) for all k < n, for a vector of T at once where possible; the type of zero is the type to compute
// with, a vector or a number.
template <class T, class Visit>
inline void in_vectors(index_t n, Visit&& visit) {
  index_t k = 0;
  for (; k + kLanes<T> <= n; k += kLanes<T>) visit(k, Vec<T>{});
  for (; k < n; ++k) visit(k, T{});
}

}  // namespace

}  // namespace fastpu::detail::FASTPU_LEVEL
