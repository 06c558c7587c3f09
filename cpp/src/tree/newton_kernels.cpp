#include "tree/newton_kernels.hpp"

#include <cstring>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"
#include "fastpu/data/code_width.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr index_t kTile = 128;        // rows whose codes stay in the first levels of cache while all features are added
constexpr index_t kTogether = 8;      // features that are added together: their bins stay in the first level
constexpr index_t kBinsAtOnce = 256;  // bins whose cuts are scored at once

template <class Code>
struct Tile {
  const Code* row[kTile];
  std::uint64_t word[kTile];
  index_t n = 0;  // rows so far

  // Takes further rows until the tile has `end` of them, and prefetches their codes, as well as the words of the rows
  // that the tile after it will take, of which there are n_after.
  void take(const CodeTable<Code>& table, const std::uint32_t* rows, const std::uint64_t* words, index_t end,
            index_t n_after) {
    for (; n < end; ++n) {
      const auto number = static_cast<index_t>(rows[n]);
      row[n] = table.codes + number * table.stride;
      word[n] = words[number];
      FASTPU_PREFETCH(row[n]);
      if (n < n_after) FASTPU_PREFETCH(words + rows[n + kTile]);
    }
  }
};

// Adds features with consecutive numbers, whose bins follow each other.
template <index_t kFeatures>
void add_neighbours(const Tile<std::uint8_t>& tile, index_t feature, std::uint64_t* histogram) {
  std::uint64_t* bins = histogram + feature * kByteBins;
  for (index_t i = 0; i < tile.n; ++i) {
    const std::uint8_t* row = tile.row[i] + feature;
    const std::uint64_t word = tile.word[i];
    FASTPU_UNROLL
    for (index_t k = 0; k < kFeatures; ++k) bins[k * kByteBins + row[k]] += word;
  }
}

// Adds one or several features from the k-th on, and returns the next one.
template <class Code>
index_t add_features(const Tile<Code>& tile, const HistogramColumns& columns, index_t k, std::uint64_t* histogram) {
  const std::uint32_t feature = columns.feature[k];
  if constexpr (sizeof(Code) == 1) {
    const auto are_neighbours = [&](index_t n) {
      return k + n <= columns.n && columns.feature[k + n - 1] == feature + n - 1;
    };
    if (are_neighbours(kTogether)) return add_neighbours<kTogether>(tile, feature, histogram), k + kTogether;
    if (are_neighbours(2)) return add_neighbours<2>(tile, feature, histogram), k + 2;
  }
  std::uint64_t* bins = histogram + columns.first_bin[k];
  for (index_t i = 0; i < tile.n; ++i) bins[tile.row[i][feature]] += tile.word[i];
  return k + 1;
}

// While the features of one tile are added, the codes of the next tile are prefetched.
template <class Code>
void add_rows(const CodeTable<Code>& table, const std::uint32_t* rows, index_t n, const std::uint64_t* words,
              const HistogramColumns& columns, std::uint64_t* histogram) {
  Tile<Code> tiles[2];
  tiles[0].take(table, rows, words, n < kTile ? n : kTile, n - kTile);
  for (index_t start = 0; start < n; start += kTile) {
    const Tile<Code>& tile = tiles[start / kTile % 2];
    Tile<Code>& next = tiles[(start / kTile + 1) % 2];
    const index_t left = n - start - tile.n;
    const index_t n_next = left < kTile ? left : kTile;
    next.n = 0;
    for (index_t k = 0; k < columns.n;) {
      k = add_features(tile, columns, k, histogram);
      next.take(table, rows + start + kTile, words, n_next * k / columns.n, left - kTile);
    }
  }
}

double best_score(const std::uint64_t* bins, index_t n, const NewtonNode& node) {
  using V = Vec<double>;
  using Half = Vec<std::int32_t, kLanes<double>>;
  constexpr index_t kWidth = kLanes<double>;
  std::int32_t g[kBinsAtOnce];
  std::int32_t h[kBinsAtOnce];
  const V g_unit = splat<V>(node.g_unit);
  const V h_unit = splat<V>(node.h_unit);
  const V all_g = splat<V>(node.g);
  const V all_h = splat<V>(node.h);
  const V lam = splat<V>(node.lam);
  const V least = splat<V>(node.min_hessian);
  const V zero = splat<V>(0.0);
  const V none = splat<V>(-kInfinity);
  V best = none;
  std::uint64_t sum = 0;
  for (index_t start = 0; start < n; start += kBinsAtOnce) {
    const index_t size = n - start < kBinsAtOnce ? n - start : kBinsAtOnce;
    for (index_t k = 0; k < size; ++k) {
      sum += bins[start + k];
      g[k] = static_cast<std::int32_t>(sum >> 32U);
      h[k] = static_cast<std::int32_t>(sum & 0xffffffffU);
    }
    index_t padded = size;
    for (; padded % kWidth != 0; ++padded) {  // copies of the last cut fill the vector
      g[padded] = g[size - 1];
      h[padded] = h[size - 1];
    }
    for (index_t k = 0; k < padded; k += kWidth) {
      const V left_g = convert<V>(load<Half>(g + k)) * g_unit;
      const V left_h = convert<V>(load<Half>(h + k)) * h_unit;
      const V right_g = all_g - left_g;
      const V right_h = all_h - left_h;
      const V a = left_h + lam;
      const V b = right_h + lam;
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

// Writes start + bins[0] + ... + bins[k] for k = 0, ..., n - 1, and returns the last of these sums. As each sum waits
// for the one before it, several are added up side by side.
#if defined(__AVX512F__)
// Writes up to a multiple of 8 sums; those after the n-th repeat it.
std::uint64_t add_up(const std::uint64_t* bins, index_t n, std::uint64_t start, std::uint64_t* sums) {
  const __m512i last = _mm512_set1_epi64(7);
  __m512i before = _mm512_set1_epi64(static_cast<std::int64_t>(start));
  for (index_t k = 0; k < n; k += 8) {
    const __mmask8 some = n - k < 8 ? static_cast<__mmask8>((1U << static_cast<unsigned>(n - k)) - 1U) : __mmask8{0xff};
    __m512i sum = _mm512_maskz_loadu_epi64(some, bins + k);
    sum = _mm512_add_epi64(sum, _mm512_maskz_alignr_epi64(0xfe, sum, sum, 7));
    sum = _mm512_add_epi64(sum, _mm512_maskz_alignr_epi64(0xfc, sum, sum, 6));
    sum = _mm512_add_epi64(sum, _mm512_maskz_alignr_epi64(0xf0, sum, sum, 4));
    _mm512_storeu_si512(sums + k, _mm512_add_epi64(sum, before));
    before = _mm512_add_epi64(before, _mm512_maskz_permutexvar_epi64(0xff, last, sum));
  }
  return reinterpret<Vec<std::uint64_t>>(before)[0];
}
#else
std::uint64_t add_up(const std::uint64_t* bins, index_t n, std::uint64_t start, std::uint64_t* sums) {
  const index_t part = n / 4;
  const std::uint64_t* part_bins[4];
  std::uint64_t sum[4];
  for (int p = 0; p < 4; ++p) {
    part_bins[p] = bins + p * part;
    sum[p] = start;
    for (index_t k = 0; k < part; ++k) start += part_bins[p][k];
  }
  for (index_t k = 0; k < part; ++k) {
    FASTPU_UNROLL
    for (int p = 0; p < 4; ++p) sums[p * part + k] = sum[p] += part_bins[p][k];
  }
  for (index_t k = 4 * part; k < n; ++k) sums[k] = start += bins[k];
  return start;
}
#endif

// The bound is computed in floats. A float holds the whole numbers of a side, which are below 2^31, to a relative
// 2^-24; twelve more roundings follow, in sums of positive numbers alone: the error is at most 2^-20 in all. The cuts
// are not taken in their order: a vector has the g, or the h, of the cuts of two vectors of words, interleaved.
double score_bound(const std::uint64_t* bins, index_t n, const NewtonNode& node) {
  using V = Vec<float>;
  using Whole = Vec<std::int32_t>;
  using Words = Vec<std::uint64_t>;
  constexpr index_t kWords = kLanes<std::uint64_t>;
  constexpr std::uint64_t kHalf = 32;
  constexpr std::uint64_t kLow = 0xffffffffU;
  const double least_h = node.min_hessian / node.h_unit;
  const Whole least = splat<Whole>(static_cast<std::int32_t>(least_h < 0x1p30 ? least_h : 0x1p30));
  const Whole all_g = splat<Whole>(static_cast<std::int32_t>(node.g / node.g_unit));
  const Whole all_h = splat<Whole>(static_cast<std::int32_t>(node.h / node.h_unit));
  const V lam = splat<V>(static_cast<float>(node.whole_lam()));
  const V zero = splat<V>(0.0F);
  const V none = splat<V>(-1.0F);
  V best = none;
  std::uint64_t sums[static_cast<unsigned>(kBinsAtOnce)];
  std::uint64_t sum = 0;
  for (index_t start = 0; start < n; start += kBinsAtOnce) {
    const index_t size = n - start < kBinsAtOnce ? n - start : kBinsAtOnce;
    sum = add_up(bins + start, size, sum, sums);
    index_t padded = size;
    for (; padded % (2 * kWords) != 0; ++padded) sums[padded] = sum;  // copies of the last cut fill the vector
    for (index_t k = 0; k < padded; k += 2 * kWords) {
      const Words one = load<Words>(sums + k);
      const Words other = load<Words>(sums + k + kWords);
      const auto g = reinterpret<Whole>((one >> kHalf) | (other & (kLow << kHalf)));
      const auto h = reinterpret<Whole>((one & kLow) | (other << kHalf));
      const V left_g = convert<V>(g);
      const V right_g = convert<V>(all_g - g);
      const V a = convert<V>(h) + lam;
      const V b = convert<V>(all_h - h) + lam;
      V score = (left_g * left_g * b + right_g * right_g * a) / (a * b);
      score = where_less(h, least, none, score);
      score = where_less(all_h - h, least, none, score);
      score = where_less(zero, a * b, score, none);
      best = more_of(best, score);
    }
  }
  float lanes[static_cast<unsigned>(kLanes<float>)];
  store(lanes, best);
  float most = lanes[0];
  for (int k = 1; k < kLanes<float>; ++k) most = lanes[k] > most ? lanes[k] : most;
  return most < 0 ? -kInfinity : static_cast<double>(most) * (1 + kBoundShare / 2) * node.score_unit();
}

void subtract(std::uint64_t* FASTPU_RESTRICT bins, const std::uint64_t* FASTPU_RESTRICT less, index_t n) {
  for (index_t k = 0; k < n; ++k) bins[k] -= less[k];
}

// Adding this to a double leaves the nearest whole number in its low bits.
constexpr double kToWhole = 0x1.8p52;

std::uint64_t whole_bits(double value) {
  const double shifted = value + kToWhole;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &shifted, sizeof bits);
  return bits;
}

void make_words(const double* g, const double* h, const double* weights, double repeated, index_t n, double g_scale,
                double h_scale, std::uint64_t* words) {
  if (weights == nullptr) {
    for (index_t i = 0; i < n; ++i) {
      words[i] = (whole_bits(g[i] * g_scale) << 32U) | (whole_bits(h[i] * h_scale) & 0xffffffffU);
    }
    return;
  }
  for (index_t i = 0; i < n; ++i) {
    const double times = weights[i] > 0 ? (weights[i] / repeated + kToWhole) - kToWhole : 1.0;
    const std::uint64_t g_bits = whole_bits(g[i] / times * g_scale) << 32U;
    words[i] = (g_bits | (whole_bits(h[i] / times * h_scale) & 0xffffffffU)) * static_cast<std::uint64_t>(times);
  }
}

}  // namespace

const NewtonKernels kNewtonKernels = {
    add_rows<std::uint8_t>, add_rows<std::uint16_t>, best_score, score_bound, subtract, make_words};

}  // namespace fastpu::detail::FASTPU_LEVEL
