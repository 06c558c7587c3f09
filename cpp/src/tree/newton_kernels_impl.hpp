// Bodies of the kernels; included by one source per instruction-set level, which defines FASTPU_LEVEL as the name of
// the level's namespace. Everything here has internal linkage but the table, or a linker could hand the code of a
// high level to a processor of a low one. For the same reason no function of the C++ library is called.

#include <cstddef>
#include <cstring>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"
#include "tree/newton_kernels.hpp"

#if defined(__GNUC__)
#define FASTPU_PREFETCH(address) __builtin_prefetch(address)
#else
#define FASTPU_PREFETCH(address) static_cast<void>(address)
#endif

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

// Rows whose codes stay in the first levels of cache while the features are gone through, some at a time, so that the
// bins of these stay in the first.
constexpr index_t kTile = 512;
constexpr int kTogether = 8;

template <class Code>
struct Tile {
  const Code* row[kTile];
  std::uint64_t word[kTile];
};

template <std::size_t kFeatures, class Code>
void add_features(const Tile<Code>& tile, index_t n, const HistogramColumns& columns, index_t first,
                  std::uint64_t* histogram) {
  std::uint64_t* bins[kFeatures];
  std::uint32_t place[kFeatures];
  FASTPU_UNROLL
  for (std::size_t k = 0; k < kFeatures; ++k) {
    bins[k] = histogram + columns.first_bin[first + static_cast<index_t>(k)];
    place[k] = columns.feature[first + static_cast<index_t>(k)];
  }
  for (index_t i = 0; i < n; ++i) {
    const Code* row = tile.row[i];
    const std::uint64_t word = tile.word[i];
    FASTPU_UNROLL
    for (std::size_t k = 0; k < kFeatures; ++k) bins[k][row[place[k]]] += word;
  }
}

template <class Code>
void add_rows(const CodeTable<Code>& table, const std::uint32_t* rows, index_t n, const std::uint64_t* words,
              const HistogramColumns& columns, std::uint64_t* histogram) {
  constexpr index_t kAhead = 32;
  Tile<Code> tile;
  for (index_t start = 0; start < n; start += kTile) {
    const index_t size = n - start < kTile ? n - start : kTile;
    const std::uint32_t* tile_rows = rows + start;
    for (index_t i = 0; i < size; ++i) {
      const auto row = static_cast<index_t>(tile_rows[i]);
      tile.row[i] = table.codes + row * table.stride;
      tile.word[i] = words[row];
      if (start + i + kAhead < n)
        FASTPU_PREFETCH(table.codes + static_cast<index_t>(tile_rows[i + kAhead]) * table.stride);
    }
    index_t k = 0;
    for (; k + kTogether <= columns.n; k += kTogether) add_features<kTogether>(tile, size, columns, k, histogram);
    for (; k + 2 <= columns.n; k += 2) add_features<2>(tile, size, columns, k, histogram);
    for (; k < columns.n; ++k) add_features<1>(tile, size, columns, k, histogram);
  }
}

double best_score(const std::uint64_t* bins, index_t n, const NewtonNode& node) {
  using V = Vec<double>;
  using Half = Vec<std::int32_t, kLanes<double>>;
  constexpr index_t kWidth = kLanes<double>;
  constexpr index_t kBins = 256;
  std::int32_t g[kBins];
  std::int32_t h[kBins];
  const V g_unit = splat<V>(node.g_unit);
  const V h_unit = splat<V>(node.h_unit);
  const V all_g = splat<V>(node.g);
  const V all_h = splat<V>(node.h);
  const V l2 = splat<V>(node.l2);
  const V least = splat<V>(node.min_hessian);
  const V zero = splat<V>(0.0);
  const V none = splat<V>(-kInfinity);
  V best = none;
  std::uint64_t sum = 0;
  for (index_t start = 0; start < n; start += kBins) {
    const index_t size = n - start < kBins ? n - start : kBins;
    for (index_t k = 0; k < size; ++k) {
      sum += bins[start + k];
      g[k] = static_cast<std::int32_t>(sum >> 32U);
      h[k] = static_cast<std::int32_t>(sum & 0xffffffffU);
    }
    index_t padded = size;
    for (; padded % kWidth != 0; ++padded) {  // the same cut once more
      g[padded] = g[size - 1];
      h[padded] = h[size - 1];
    }
    for (index_t k = 0; k < padded; k += kWidth) {
      const V left_g = convert<V>(load<Half>(g + k)) * g_unit;
      const V left_h = convert<V>(load<Half>(h + k)) * h_unit;
      const V right_g = all_g - left_g;
      const V right_h = all_h - left_h;
      const V a = left_h + l2;
      const V b = right_h + l2;
      V score = (left_g * left_g * b + right_g * right_g * a) / (a * b);
      score = where_less(left_h, least, none, score);
      score = where_less(right_h, least, none, score);
      score = where_less(zero, a * b, score, none);
      best = more_of(best, score);
    }
  }
  double lanes[kWidth];
  store(lanes, best);
  double result = lanes[0];
  for (index_t k = 1; k < kWidth; ++k) result = lanes[k] > result ? lanes[k] : result;
  return result;
}

// The nearest whole number is in the low bits of a double of this size.
constexpr double kToWhole = 0x1.8p52;

std::uint64_t whole_bits(double value) {
  const double shifted = value + kToWhole;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &shifted, sizeof bits);
  return bits;
}

void make_words(const double* g, const double* h, const double* weights, index_t n, double g_scale, double h_scale,
                std::uint64_t* words) {
  if (weights == nullptr) {
    for (index_t i = 0; i < n; ++i) {
      words[i] = (whole_bits(g[i] * g_scale) << 32U) | (whole_bits(h[i] * h_scale) & 0xffffffffU);
    }
    return;
  }
  for (index_t i = 0; i < n; ++i) {
    const double w = weights[i] > 0 ? weights[i] : 1.0;
    const std::uint64_t g_bits = whole_bits(g[i] / w * g_scale) << 32U;
    words[i] = (g_bits | (whole_bits(h[i] / w * h_scale) & 0xffffffffU)) * static_cast<std::uint64_t>(w);
  }
}

}  // namespace

// Each level's source includes this file once.
// NOLINTNEXTLINE(misc-definitions-in-headers)
extern const NewtonKernels kNewtonKernels = {add_rows<std::uint8_t>, add_rows<std::uint16_t>, best_score, make_words};

}  // namespace fastpu::detail::FASTPU_LEVEL
