#include "risk/net_kernels.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

#if defined(_MSC_VER)
#include <cmath>
#endif

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// Products with a matrix are computed in tiles of so many rows and vectors of columns, whose sums stay in registers: 32
// with AVX-512, 16 otherwise. The terms of a sum are added in blocks in the order of their numbers, whatever the tiles.
#if defined(__AVX512F__)
constexpr int kTileRows = 6;
constexpr int kTileVectors = 4;
#else
constexpr int kTileRows = 4;
constexpr int kTileVectors = 2;
#endif
// The number of terms of such a sum in one block: so many rows of the right-hand side stay in the first-level cache.
constexpr index_t kDepth = 128;

template <class T>
constexpr index_t kWide = static_cast<index_t>(kLanes<T>);

// ---- The hidden layer ----

template <class T, int R, int V>
inline void hidden_tile(const T* const* rows, index_t first, index_t last, const T* FASTPU_RESTRICT weights,
                        index_t stride, const T* start, index_t start_stride, T* out) {
  Vec<T> sums[static_cast<unsigned>(R)][static_cast<unsigned>(V)] = {};
  const T* from[static_cast<unsigned>(R)];
  FASTPU_UNROLL
  for (int r = 0; r < R; ++r) from[r] = rows[r];
  for (index_t f = first; f < last; ++f) {
    Vec<T> weight[static_cast<unsigned>(V)];
    FASTPU_UNROLL
    for (int v = 0; v < V; ++v) weight[v] = load<Vec<T>>(weights + f * stride + v * kWide<T>);
    FASTPU_UNROLL
    for (int r = 0; r < R; ++r) {
      const Vec<T> x = splat<Vec<T>>(from[r][f]);
      FASTPU_UNROLL
      for (int v = 0; v < V; ++v) sums[r][v] = sums[r][v] + x * weight[v];
    }
  }
  FASTPU_UNROLL
  for (int r = 0; r < R; ++r) {
    FASTPU_UNROLL
    for (int v = 0; v < V; ++v) {
      const Vec<T> before = load<Vec<T>>(start + r * start_stride + v * kWide<T>);
      store(out + r * stride + v * kWide<T>, before + sums[r][v]);
    }
  }
}

// Computes V vectors of columns, or all that are left if these are fewer; returns how many.
template <class T, int V>
inline index_t hidden_columns(index_t left, const T* const* rows, index_t n, index_t first, index_t last,
                              const T* weights, index_t stride, const T* bias, T* out) {
  if constexpr (V > 1) {
    if (left < V) return hidden_columns<T, V - 1>(left, rows, n, first, last, weights, stride, bias, out);
  }
  // The first block of terms starts from the bias, the others from the sums so far.
  const auto start = [&](index_t i) { return first == 0 ? bias : out + i * stride; };
  const index_t step = first == 0 ? 0 : stride;
  index_t i = 0;
  for (; i + kTileRows <= n; i += kTileRows) {
    for (index_t r = i + kTileRows; r < i + kTileRows + kTileRows && r < n; ++r) {
      for (index_t f = first; f < last; f += kNetLine<T>) FASTPU_PREFETCH(rows[r] + f);
    }
    hidden_tile<T, kTileRows, V>(rows + i, first, last, weights, stride, start(i), step, out + i * stride);
  }
  for (; i < n; ++i) hidden_tile<T, 1, V>(rows + i, first, last, weights, stride, start(i), step, out + i * stride);
  return V;
}

template <class T>
void hidden(const T* const* rows, index_t n, index_t n_features, const T* weights, index_t stride, const T* bias,
            T* out) {
  for (index_t first = 0; first < n_features; first += kDepth) {
    const index_t last = first + kDepth < n_features ? first + kDepth : n_features;
    for (index_t j = 0; j < stride;) {
      const index_t left = (stride - j) / kWide<T>;
      j += kWide<T> *
           hidden_columns<T, kTileVectors>(left, rows, n, first, last, weights + j, stride, bias + j, out + j);
    }
  }
}

template <class T>
void hidden_of_sparse(const T* values, const std::int32_t* columns, index_t n, const T* weights, index_t stride,
                      const T* bias, T* FASTPU_RESTRICT out) {
  for (index_t j = 0; j < stride; j += kWide<T>) store(out + j, load<Vec<T>>(bias + j));
  for (index_t e = 0; e < n; ++e) {
    const Vec<T> x = splat<Vec<T>>(values[e]);
    const T* FASTPU_RESTRICT weight = weights + static_cast<index_t>(columns[e]) * stride;
    for (index_t j = 0; j < stride; j += kWide<T>) {
      store(out + j, load<Vec<T>>(out + j) + x * load<Vec<T>>(weight + j));
    }
  }
}

// ---- Sums over one row ----

// A cache line of sums, as few or as many vectors as that takes.
template <class T>
struct Line {
  static constexpr int kVectors = static_cast<int>(kNetLine<T> / kWide<T>);
  Vec<T> part[static_cast<unsigned>(kVectors)] = {};

  void add(const T* a, const T* b) {
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      part[v] = part[v] + load<Vec<T>>(a + v * kWide<T>) * load<Vec<T>>(b + v * kWide<T>);
    }
  }
  // Adds the upper half of the lanes to the lower one until one lane is left.
  T sum() const {
    T lanes[kNetLine<T>];
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) store(lanes + v * kWide<T>, part[v]);
    for (index_t half = kNetLine<T> / 2; half > 0; half /= 2) {
      for (index_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    }
    return lanes[0];
  }
};

template <class T>
void dots(const T* const* rows, index_t n, index_t n_features, const T* weights, T* scores) {
  const index_t whole = n_features / kNetLine<T> * kNetLine<T>;
  for (index_t i = 0; i < n; ++i) {
    const T* row = rows[i];
    Line<T> line;
    for (index_t f = 0; f < whole; f += kNetLine<T>) line.add(row + f, weights + f);
    T sum = line.sum();
    for (index_t f = whole; f < n_features; ++f) sum += row[f] * weights[f];
    scores[i] = sum;
  }
}

template <class T>
void rectify(T* hidden, index_t n, index_t stride, const T* weights, T* scores) {
  for (index_t i = 0; i < n; ++i, hidden += stride) {
    for (index_t j = 0; j < stride; j += kWide<T>) {
      const Vec<T> value = load<Vec<T>>(hidden + j);
      store(hidden + j, where_less(value, Vec<T>{}, Vec<T>{}, value));  // NaN stays NaN
    }
    Line<T> line;
    for (index_t j = 0; j < stride; j += kNetLine<T>) line.add(hidden + j, weights + j);
    scores[i] = line.sum();
  }
}

template <class T>
void back(T* hidden, index_t n, index_t stride, const T* g, T* sums, T* slopes) {
  for (index_t j = 0; j < stride; j += kWide<T>) {
    Vec<T> sum = {};
    Vec<T> slope = {};
    T* at = hidden + j;
    for (index_t i = 0; i < n; ++i, at += stride) {
      const Vec<T> value = load<Vec<T>>(at);
      const Vec<T> weight = splat<Vec<T>>(g[i]);
      const Vec<T> active = where_less(Vec<T>{}, value, weight, Vec<T>{});
      sum = sum + weight * value;
      slope = slope + active;
      store(at, active);
    }
    store(sums + j, sum);
    store(slopes + j, slope);
  }
}

// ---- Sums over rows ----

template <class T>
void pack(const T* const* rows, index_t n, index_t first, index_t n_values, T* FASTPU_RESTRICT packed) {
  for (index_t i = 0; i < n; ++i, packed += kNetTile<T>) {
    const T* row = rows[i] + first;
    if (n_values == kNetTile<T>) {
      std::memcpy(packed, row, kNetTile<T> * sizeof(T));
      continue;
    }
    for (index_t f = 0; f < n_values; ++f) packed[f] = row[f];
    for (index_t f = n_values; f < kNetTile<T>; ++f) packed[f] = 0;
  }
}

template <class T, int R>
inline void add_tile(const T* FASTPU_RESTRICT packed, index_t n, const T* FASTPU_RESTRICT g, index_t stride,
                     T* FASTPU_RESTRICT out) {
  constexpr int kV = kTileVectors;
  Vec<T> sums[static_cast<unsigned>(R)][static_cast<unsigned>(kV)] = {};
  for (index_t i = 0; i < n; ++i) {
    Vec<T> x[static_cast<unsigned>(kV)];
    FASTPU_UNROLL
    for (int v = 0; v < kV; ++v) x[v] = load<Vec<T>>(packed + i * kNetTile<T> + v * kWide<T>);
    FASTPU_UNROLL
    for (int r = 0; r < R; ++r) {
      const Vec<T> weight = splat<Vec<T>>(g[i * stride + r]);
      FASTPU_UNROLL
      for (int v = 0; v < kV; ++v) sums[r][v] = sums[r][v] + weight * x[v];
    }
  }
  FASTPU_UNROLL
  for (int r = 0; r < R; ++r) {
    FASTPU_UNROLL
    for (int v = 0; v < kV; ++v) {
      T* to = out + r * kNetTile<T> + v * kWide<T>;
      store(to, load<Vec<T>>(to) + sums[r][v]);
    }
  }
}

template <class T>
void add_rows(const T* packed, index_t n, const T* g, index_t stride, index_t n_units, T* sums) {
  for (index_t f = 0; f < kNetTile<T>; f += kTileVectors * kWide<T>) {
    index_t j = 0;
    for (; j + kTileRows <= n_units; j += kTileRows) {
      add_tile<T, kTileRows>(packed + f, n, g + j, stride, sums + j * kNetTile<T> + f);
    }
    for (; j + 2 <= n_units; j += 2) add_tile<T, 2>(packed + f, n, g + j, stride, sums + j * kNetTile<T> + f);
    for (; j < n_units; ++j) add_tile<T, 1>(packed + f, n, g + j, stride, sums + j * kNetTile<T> + f);
  }
}

template <class T>
void add_sparse(const T* values, const std::int32_t* columns, index_t n, const T* g, T* gradient, index_t stride) {
  constexpr int kVectors = Line<T>::kVectors;
  Vec<T> weight[static_cast<unsigned>(kVectors)];
  FASTPU_UNROLL
  for (int v = 0; v < kVectors; ++v) weight[v] = load<Vec<T>>(g + v * kWide<T>);
  for (index_t e = 0; e < n; ++e) {
    const Vec<T> x = splat<Vec<T>>(values[e]);
    T* to = gradient + static_cast<index_t>(columns[e]) * stride;
    FASTPU_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      store(to + v * kWide<T>, load<Vec<T>>(to + v * kWide<T>) + x * weight[v]);
    }
  }
}

// ---- Adam ----

template <class T>
inline T root(T x) {
#if defined(__GNUC__)
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_sqrtf(x);
  } else {
    return __builtin_sqrt(x);
  }
#else
  return std::sqrt(x);
#endif
}

template <class T, class V>
inline V roots(V x) {
  if constexpr (std::is_same_v<V, T>) {
    return root(x);
  } else {
    for (int l = 0; l < kLanes<T>; ++l) x[l] = root(x[l]);
    return x;
  }
}

template <class T>
void adam(const AdamStep& step, const T* gradient, index_t n, T* value, T* mean, T* square) {
  const T rate = static_cast<T>(step.rate);
  const T per_root = static_cast<T>(step.per_root);
  const T keep = static_cast<T>(step.mean_decay);
  const T keep_square = static_cast<T>(step.square_decay);
  const T take = static_cast<T>(1 - step.mean_decay);
  const T take_square = static_cast<T>(1 - step.square_decay);
  const T eps = static_cast<T>(step.eps);
  const T decay = static_cast<T>(step.decay);
  const T unit = static_cast<T>(step.unit);
  in_vectors<T>(n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const auto all = [](T number) { return splat<V>(number); };
    const V x = load<V>(value + k);
    const V g = all(unit) * load<V>(gradient + k) + all(decay) * x;
    const V m = all(keep) * load<V>(mean + k) + all(take) * g;
    const V v = all(keep_square) * load<V>(square + k) + all(take_square) * (g * g);
    store(mean + k, m);
    store(square + k, v);
    store(value + k, x - all(rate) * m / (roots<T>(v) * all(per_root) + all(eps)));
  });
}

template <class T>
constexpr NetKernels<T> kTable = {hidden<T>, hidden_of_sparse<T>, dots<T>,       rectify<T>, back<T>,
                                  pack<T>,   add_rows<T>,         add_sparse<T>, adam<T>};

}  // namespace

const NetKernels<float> kNetKernels32 = kTable<float>;
const NetKernels<double> kNetKernels64 = kTable<double>;

}  // namespace fastpu::detail::FASTPU_LEVEL
