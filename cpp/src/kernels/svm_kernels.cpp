#include "kernels/svm_kernels.hpp"

#include <cstdint>
#include <type_traits>

#include "common/compiler_hints.hpp"
#include "common/vector_exp.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// A panel is two vectors wide: with four rows at a time that makes eight sums in registers, enough to hide the time
// that an addition takes.
constexpr int kPanelVectors = 2;
constexpr int kRowsAtOnce = 4;

template <class T, bool kSquares, int kRows>
inline void pairs_of_rows(const T* const* x, index_t n_features, const T* FASTPU_RESTRICT panel, T* const* out,
                          index_t first) {
  using V = Vec<T>;
  constexpr int kWidth = kLanes<T>;
  V sums[static_cast<unsigned>(kRows)][static_cast<unsigned>(kPanelVectors)];
  FASTPU_UNROLL
  for (int k = 0; k < kRows; ++k) {
    FASTPU_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums[k][v] = V{};
  }
  for (index_t f = 0; f < n_features; ++f) {
    V z[static_cast<unsigned>(kPanelVectors)];
    FASTPU_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) z[v] = load<V>(panel + (f * kPanelVectors + v) * kWidth);
    FASTPU_UNROLL
    for (int k = 0; k < kRows; ++k) {
      const V value = splat<V>(x[k][f]);
      FASTPU_UNROLL
      for (int v = 0; v < kPanelVectors; ++v) {
        if constexpr (kSquares) {
          const V difference = value - z[v];
          sums[k][v] = sums[k][v] + difference * difference;
        } else {
          sums[k][v] = sums[k][v] + value * z[v];
        }
      }
    }
  }
  FASTPU_UNROLL
  for (int k = 0; k < kRows; ++k) {
    FASTPU_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) store(out[k] + first + v * kWidth, sums[k][v]);
  }
}

template <class T, bool kSquares>
void pairs_with(const T* const* x, index_t n_rows, index_t n_features, const T* panels, index_t n_panels,
                T* const* out) {
  constexpr index_t kWidth = kPanelVectors * kLanes<T>;
  for (index_t p = 0; p < n_panels; ++p) {
    const T* panel = panels + p * kWidth * n_features;
    index_t k = 0;
    for (; k + kRowsAtOnce <= n_rows; k += kRowsAtOnce) {
      pairs_of_rows<T, kSquares, kRowsAtOnce>(x + k, n_features, panel, out + k, p * kWidth);
    }
    for (; k < n_rows; ++k) pairs_of_rows<T, kSquares, 1>(x + k, n_features, panel, out + k, p * kWidth);
  }
}

template <class T>
void pairs(const T* const* x, index_t n_rows, index_t n_features, const T* panels, index_t n_panels, bool squares,
           T* const* out) {
  if (squares) {
    pairs_with<T, true>(x, n_rows, n_features, panels, n_panels, out);
  } else {
    pairs_with<T, false>(x, n_rows, n_features, panels, n_panels, out);
  }
}

template <class T>
void exp_of(T* values, index_t n, double gamma) {
  using V = Vec<T>;
  constexpr double kMost = sizeof(T) == sizeof(float) ? 3e38 : 1e308;  // a finite limit, since 0 times infinity is NaN
  const V factor = splat<V>(static_cast<T>(-(gamma < kMost ? gamma : kMost)));
  for (index_t i = 0; i < n; i += 2 * kLanes<T>) {  // two at a time, as each step waits for the one before
    const V a = exp_of_vector<T>(factor * load<V>(values + i));
    const V b = exp_of_vector<T>(factor * load<V>(values + i + kLanes<T>));
    store(values + i, a);
    store(values + i + kLanes<T>, b);
  }
}

template <class T>
void power_of(T* values, index_t n, double gamma, double coef0, int degree) {
  using V = Vec<T>;
  for (index_t i = 0; i < n; i += kLanes<T>) {
    V base = splat<V>(static_cast<T>(gamma)) * load<V>(values + i) + splat<V>(static_cast<T>(coef0));
    V result = splat<V>(T{1});
    for (int left = degree; left > 0; left /= 2) {
      if (left % 2 == 1) result = result * base;
      base = base * base;
    }
    store(values + i, result);
  }
}

// As many values of T as a vector has doubles.
template <class T>
using Narrow = Vec<T, kDoubles>;

template <class T>
void add_rows(double* FASTPU_RESTRICT sums, const T* const* rows, const double* factors, index_t n_rows, index_t n) {
  // Columns that fit the first-level cache, and rows eight at a time, so that sums are loaded and stored less often.
  constexpr index_t kColumns = 1024;
  for (index_t first = 0; first < n; first += kColumns) {
    const index_t end = first + kColumns < n ? first + kColumns : n;
    index_t k = 0;
    const auto add = [&](auto n_at_once) {
      constexpr int kAtOnce = decltype(n_at_once)::value;
      index_t c = first;
      for (; c + kDoubles <= end; c += kDoubles) {
        Doubles sum = load<Doubles>(sums + c);
        FASTPU_UNROLL
        for (int r = 0; r < kAtOnce; ++r) sum = sum + splat<Doubles>(factors[k + r]) * load_doubles(rows[k + r] + c);
        store(sums + c, sum);
      }
      for (; c < end; ++c) {
        double sum = sums[c];
        for (int r = 0; r < kAtOnce; ++r) sum = sum + factors[k + r] * static_cast<double>(rows[k + r][c]);
        sums[c] = sum;
      }
    };
    for (; k + 8 <= n_rows; k += 8) add(std::integral_constant<int, 8>{});
    for (; k < n_rows; ++k) add(std::integral_constant<int, 1>{});
  }
}

// Finds the extreme gradients of both sides; `next` returns the gradient vector by vector.
template <class Next>
inline SmoFirst extremes(index_t n, const double* up_wall, const double* low_wall, Next&& next) {
  constexpr index_t kAtOnce = 2;
  Doubles least[kAtOnce];
  Doubles at[kAtOnce];
  Doubles most[kAtOnce];
  for (index_t v = 0; v < kAtOnce; ++v) {
    least[v] = splat<Doubles>(kInfinity);
    at[v] = splat<Doubles>(-1.0);
    most[v] = splat<Doubles>(-kInfinity);
  }
  Doubles position{};
  for (int l = 0; l < kDoubles; ++l) position[l] = l;
  const Doubles stride = splat<Doubles>(static_cast<double>(kDoubles));
  for (index_t t = 0; t < n; t += kAtOnce * kDoubles) {
    FASTPU_UNROLL
    for (index_t v = 0; v < kAtOnce; ++v) {
      const index_t here = t + v * kDoubles;
      const Doubles g = next(here);
      const Doubles up = g + load<Doubles>(up_wall + here);
      at[v] = where_less(up, least[v], position, at[v]);
      least[v] = less_of(up, least[v]);
      most[v] = more_of(g + load<Doubles>(low_wall + here), most[v]);
      position = position + stride;
    }
  }
  SmoFirst out{kInfinity, -kInfinity, -1};
  for (index_t v = 0; v < kAtOnce; ++v) {
    for (int l = 0; l < kDoubles; ++l) {
      const double value = least[v][l];
      const auto where = static_cast<index_t>(at[v][l]);
      if (where >= 0 && (value < out.up_min || (value == out.up_min && where < out.up))) {
        out.up_min = value;
        out.up = where;
      }
      out.low_max = most[v][l] > out.low_max ? most[v][l] : out.low_max;
    }
  }
  return out;
}

// The rows of two successive steps lie far apart in memory, and processors fetch ahead within a page only, so that each
// page would be waited for. Values this far ahead are asked for, also beyond the end of the row, where it does no harm.
constexpr index_t kAhead = 512;

template <class T>
inline void fetch_start(const T* row) {
  for (index_t t = 0; t < kAhead; t += 64 / static_cast<index_t>(sizeof(T))) FASTPU_PREFETCH(row + t);
}

SmoFirst first(const double* gradient, const double* up_wall, const double* low_wall, index_t n) {
  return extremes(n, up_wall, low_wall, [&](index_t t) { return load<Doubles>(gradient + t); });
}

template <class T>
SmoFirst move(double* FASTPU_RESTRICT gradient, const double* FASTPU_RESTRICT up_wall,
              const double* FASTPU_RESTRICT low_wall, index_t n, double step, const T* FASTPU_RESTRICT row_up,
              const T* FASTPU_RESTRICT row_low) {
  fetch_start(row_low);
  const Doubles factor = splat<Doubles>(step);
  return extremes(n, up_wall, low_wall, [&](index_t t) {
    FASTPU_PREFETCH(row_low + t + kAhead);
    const Doubles g = load<Doubles>(gradient + t) + factor * (load_doubles(row_up + t) - load_doubles(row_low + t));
    store(gradient + t, g);
    return g;
  });
}

// Gains are computed in T, which is exact enough: the choice of the partner decides the speed, not the result.
template <class T>
SmoSecond second(const double* gradient, const double* low_wall, index_t n, double from, double diagonal_up,
                 double least_curvature, const T* row, const T* diagonal) {
  using V = Narrow<T>;
  using Position = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using W = Vec<Position, kDoubles>;
  constexpr index_t kAtOnce = 2;
  V best[kAtOnce];
  W at[kAtOnce];
  W position{};
  W stride{};
  for (int l = 0; l < kDoubles; ++l) {
    position[l] = static_cast<Position>(l);
    stride[l] = kDoubles;
  }
  for (index_t v = 0; v < kAtOnce; ++v) {
    best[v] = V{};
    at[v] = splat<W>(Position{-1});
  }
  fetch_start(row);
  const Doubles least = splat<Doubles>(from);
  const V curvature_up = splat<V>(static_cast<T>(diagonal_up));
  const V two = splat<V>(T{2});
  for (index_t t = 0; t < n; t += kAtOnce * kDoubles) {
    FASTPU_UNROLL
    for (index_t v = 0; v < kAtOnce; ++v) {
      const index_t here = t + v * kDoubles;
      FASTPU_PREFETCH(row + here + kAhead);
      const Doubles excess =
          more_of((load<Doubles>(gradient + here) + load<Doubles>(low_wall + here)) - least, Doubles{});
      V slope;
      if constexpr (std::is_same_v<T, double>) {
        slope = excess;
      } else {
        slope = convert<V>(excess);
      }
      const V curvature = more_of(curvature_up + load<V>(diagonal + here) - two * load<V>(row + here),
                                  splat<V>(static_cast<T>(least_curvature)));
      const V gain = slope * slope / curvature;
      at[v] = where_less(best[v], gain, position, at[v]);
      best[v] = more_of(gain, best[v]);
      position = position + stride;
    }
  }
  SmoSecond out{0.0, -1};
  for (index_t v = 0; v < kAtOnce; ++v) {
    for (int l = 0; l < kDoubles; ++l) {
      // All lanes were set above, which clang-tidy does not see of vectors.
      const auto gain = static_cast<double>(best[v][l]);  // NOLINT(clang-analyzer-core.uninitialized.Assign)
      const auto where = static_cast<index_t>(at[v][l]);
      if (where >= 0 && (gain > out.gain || (gain == out.gain && where < out.low))) out = {gain, where};
    }
  }
  return out;
}

template <class T>
void sparse_pairs(const T* work, const T* values, const std::int32_t* columns, index_t n_entries, double* sums) {
  constexpr index_t kRows = 8;
  constexpr index_t kVectors = kRows / kDoubles;
  Doubles lanes[static_cast<unsigned>(kVectors)];
  for (Doubles& lane : lanes) lane = Doubles{};
  for (index_t e = 0; e < n_entries; ++e) {
    const T* at = work + static_cast<index_t>(columns[e]) * kRows;
    const Doubles value = splat<Doubles>(static_cast<double>(values[e]));
    FASTPU_UNROLL
    for (index_t v = 0; v < kVectors; ++v) lanes[v] = lanes[v] + value * load_doubles(at + v * kDoubles);
  }
  for (index_t v = 0; v < kVectors; ++v) store(sums + v * kDoubles, lanes[v]);
}

template <class T>
constexpr TypedKernels<T> typed_kernels() noexcept {
  return {
      kPanelVectors * kLanes<T>, pairs<T>, exp_of<T>, power_of<T>, add_rows<T>, move<T>, second<T>, sparse_pairs<T>};
}

}  // namespace

const SvmKernels kSvmKernels = {typed_kernels<float>(), typed_kernels<double>(), first};

}  // namespace fastpu::detail::FASTPU_LEVEL
