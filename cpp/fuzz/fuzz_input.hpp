// What the fuzz targets share: bytes read as numbers and small matrices, and the checks.
//
// A target is a function LLVMFuzzerTestOneInput, as libFuzzer calls it. Bytes that an input lacks are made up from
// those that it has, so that a short input still stands for a whole problem.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/isa.hpp"
#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Ends the program, which libFuzzer takes for a finding.
#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

namespace fuzz {

using fastpu::at;
using fastpu::index_t;

// How wild the numbers of an input are.
enum class Range {
  plain,   // some units, many alike
  scaled,  // and 1e-8 to 1e8
  finite,  // and the smallest and largest
  any      // and infinities, and NaN
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size), rest_(seed_of(data, size)) {
    const std::uint8_t range = byte();
    range_ = range < 128 ? Range::plain : range < 176 ? Range::scaled : range < 232 ? Range::finite : Range::any;
    is_large_ = rest_.next() % 2048 == 0;
  }

  // Nothing wilder than that, for kernels whose callers have seen to it.
  void tame(Range most) { range_ = range_ > most ? most : range_; }
  bool is_plain() const { return range_ == Range::plain; }
  bool is_moderate() const { return range_ <= Range::scaled; }

  std::uint8_t byte() { return at_ != end_ ? *at_++ : static_cast<std::uint8_t>(rest_.next() >> 32U); }
  bool flag() { return (byte() & 1U) != 0; }
  // True for one byte of `n`.
  bool rarely(int n) { return byte() % n == n - 1; }
  // From 0 to n - 1 for n <= 256, and 0 for n = 0.
  index_t below(index_t n) { return n > 0 ? byte() % n : 0; }
  index_t between(index_t low, index_t high) { return low + below(high - low + 1); }
  template <class T, std::size_t n>
  T one_of(const T (&choices)[n]) {
    return choices[below(static_cast<index_t>(n))];
  }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[at(below(static_cast<index_t>(choices.size())))];
  }

  // Rows of a problem: few, and now and then as many as a block holds. Such an input takes a hundred times as long, so
  // what is made from it by changing some bytes is small again.
  index_t n_rows(index_t low, index_t most = 140) { return between(low, is_large_ ? most : 8); }

  // A number of any sign, as wild as the input is.
  double real() {
    const std::uint8_t kind = byte();
    if (kind < 150) return (static_cast<int>(kind) - 75) / 8.0;
    if (kind < 215 || range_ == Range::plain) return fraction() * 8 - 4;
    return wild(kind);
  }
  // A number above 0; finite unless the input may hold anything.
  double positive() {
    const double value = std::fabs(real());
    return value > 0 ? value : range_ == Range::any && std::isnan(value) ? value : 1.0;
  }
  // In [0, 1], the ends included.
  double share() {
    const std::uint8_t kind = byte();
    return kind == 0 ? 0 : kind == 255 ? 1 : kind == 254 && !is_plain() ? 1e-300 : kind / 255.0;
  }
  // Now and then what an option must not be.
  double wrong(double right) {
    if (!rarely(64)) return right;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return one_of<double, 6>({-1.0, 0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e308});
  }

  fastpu::Isa isa() { return flag() ? fastpu::best_isa() : fastpu::Isa::baseline; }
  int n_threads() { return rarely(32) ? 3 : 1; }

 private:
  static std::uint64_t seed_of(const std::uint8_t* data, std::size_t size) {
    std::uint64_t seed = size;
    for (std::size_t i = 0; i < size; ++i) seed = (seed ^ data[i]) * 0x100000001b3U;
    return seed;
  }
  double fraction() { return (byte() * 256 + byte()) / 65536.0; }
  double wild(std::uint8_t kind) {
    using Limits = std::numeric_limits<double>;
    const double sign = (kind & 1U) != 0 ? 1 : -1;
    const int which = byte();
    if (range_ == Range::scaled) return sign * std::ldexp(1 + fraction(), which % 54 - 27);
    if (range_ == Range::any && kind >= 245) {
      return which % 3 == 0 ? Limits::quiet_NaN() : sign * Limits::infinity();
    }
    constexpr std::array<double, 14> kEdges = {
        0.0,   Limits::denorm_min(), Limits::min(), 1e-200, 1e-154, 1e-45, 1e-20, 1e15, 1e19, 3e38, 1e100, 1.3e154,
        1e300, Limits::max()};
    if (which < 128) return sign * kEdges[static_cast<std::size_t>(which) % kEdges.size()];
    return sign * std::ldexp(1 + fraction(), static_cast<int>(byte() * 8) - 1024);
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  fastpu::Random rest_;
  Range range_ = Range::plain;
  bool is_large_ = false;
};

// As T; finite numbers stay finite.
template <class T>
T narrowed(double value) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr double kMost = std::numeric_limits<float>::max();
    if (std::isfinite(value)) return static_cast<float>(value > kMost ? kMost : value < -kMost ? -kMost : value);
  }
  return static_cast<T>(value);
}

// A matrix in both forms, in arrays that end where it ends.
template <class T>
struct Matrix {
  index_t n;
  index_t d;
  std::vector<T> dense;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start;

  Matrix(Input& input, index_t n_rows, index_t n_cols) : n(n_rows), d(n_cols), dense(at(n_rows * n_cols)) {
    const std::uint8_t style = input.byte();
    for (T& x : dense) x = style % 4 == 1 && input.byte() % 3 != 0 ? T{} : narrowed<T>(input.real());
    if (style % 8 >= 6) repeat_rows(input);
    row_start.push_back(0);
    for (index_t i = 0; i < n; ++i) {
      for (index_t f = 0; f < d; ++f) {
        const T x = dense[at(i * d + f)];
        // Stored zeros are values as well.
        if (x == T{} && (style < 128 || (i + f) % 5 != 0)) continue;
        values.push_back(x);
        columns.push_back(static_cast<std::int32_t>(f));
      }
      row_start.push_back(static_cast<index_t>(values.size()));
    }
    values.shrink_to_fit();
    columns.shrink_to_fit();
    row_start.shrink_to_fit();
  }
  fastpu::DenseView<T> dense_view() const { return {dense.data(), n, d}; }
  fastpu::CsrView<T> csr_view() const { return {values.data(), columns.data(), row_start.data(), n, d}; }

 private:
  void repeat_rows(Input& input) {
    for (index_t i = 1; i < n; ++i) {
      if (input.flag()) std::copy_n(dense.begin() + (i - 1) * d, d, dense.begin() + i * d);
    }
  }
};

// Runs what may refuse its arguments; returns whether it did not. Any other exception is a finding.
template <class Function>
bool accepted(Function&& function) {
  try {
    function();
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const fastpu::OutOfMemory&) {
    return false;
  }
}

inline std::vector<std::int8_t> labels_of(Input& input, index_t n, std::initializer_list<int> choices) {
  std::vector<std::int8_t> labels(at(n));
  index_t i = 0;
  for (auto& label : labels) {
    // The first rows hold one of each, mostly.
    const auto which = i < static_cast<index_t>(choices.size()) && !input.rarely(16)
                           ? i
                           : input.below(static_cast<index_t>(choices.size()));
    label = static_cast<std::int8_t>(*(choices.begin() + which));
    ++i;
  }
  if (n > 0 && input.rarely(64)) labels[at(input.below(n))] = static_cast<std::int8_t>(input.byte());
  return labels;
}

template <class T>
bool all_finite(const std::vector<T>& values) {
  for (const T value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace fuzz
