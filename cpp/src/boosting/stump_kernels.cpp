#include "boosting/stump_kernels.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "common/compiler_hints.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

#if defined(FASTPU_HAS_SSE2)
using Pair = __m128i;
inline Pair make_pair(std::int64_t minus, std::int64_t plus) { return _mm_set_epi64x(plus, minus); }
inline void add_pair(std::int64_t* bin, Pair pair) {
  auto* at = reinterpret_cast<__m128i*>(bin);
  _mm_store_si128(at, _mm_add_epi64(_mm_load_si128(at), pair));
}
#else
struct Pair {
  std::int64_t minus;
  std::int64_t plus;
};
inline Pair make_pair(std::int64_t minus, std::int64_t plus) { return {minus, plus}; }
inline void add_pair(std::int64_t* bin, Pair pair) {
  bin[0] += pair.minus;
  bin[1] += pair.plus;
}
#endif

// Eight codes as one word, and the k-th of them, whatever the order of bytes in memory.
inline std::uint64_t load_word(const std::uint8_t* codes) {
  std::uint64_t word = 0;
  std::memcpy(&word, codes, sizeof word);
  return word;
}
inline index_t code_of(std::uint64_t word, int k) {
  const int shift = std::endian::native == std::endian::little ? 8 * k : 56 - 8 * k;
  return static_cast<index_t>((word >> shift) & 0xffU);
}

// Changes a row, and returns its weights before the change in fixed point.
inline Pair change_row(RowState& s, const RowChange& change, PairSums& sums) {
  const auto minus = static_cast<std::int64_t>(s.minus * change.minus_scale);
  const auto plus = static_cast<std::int64_t>(s.plus * change.plus_scale);
  sums.minus += minus;
  sums.plus += plus;
  if (change.step != 0) {
    s.minus *= change.minus_ratio;
    s.plus *= change.plus_ratio;
    const double sum = s.f + change.step;  // error-free: sum + error is s.f + change.step
    const double part = sum - s.f;
    s.f_low += (s.f - (sum - part)) + (change.step - part);
    s.f = sum;
  }
  return make_pair(minus, plus);
}

// Rows are prefetched so many places ahead, as their addresses follow no pattern that the processor could detect.
constexpr index_t kAhead = 48;

// The codes of each row are read once, as words of eight codes. Then, for one word and so for eight features after the
// other, all rows are added to the histograms. The bins of eight features stay in the first-level cache; those of all
// features would not, and moving them in and out for every row would cost more than the adding.
PairSums add_byte_rows(const DenseCodes<std::uint8_t>& codes, RowState* state, const std::uint32_t* rows, index_t n,
                       const RowChange& change, std::int64_t* histogram) {
  constexpr index_t kFeatures = 8;  // of a word
  constexpr index_t kWords = 8;     // of a cache line
  const index_t feature_step = 4 * codes.bin_stride;
  alignas(64) Pair pairs[kMostRows];
  alignas(64) std::uint64_t words[kWords][kMostRows];
  PairSums sums;
  for (index_t i = 0; i < n; ++i) {
    if (i + kAhead < n) FASTPU_PREFETCH(state + rows[i + kAhead]);
    FASTPU_PREFETCH(codes.by_row + rows[i] * codes.row_stride);  // for the next loop
    pairs[i] = change_row(state[rows[i]], change, sums);
  }
  for (index_t first = 0; first < codes.n_features; first += kFeatures * kWords) {
    const index_t n_words = (codes.n_features - first + kFeatures - 1) / kFeatures;
    const index_t used = n_words < kWords ? n_words : kWords;
    for (index_t i = 0; i < n; ++i) {
      if (i + kAhead < n) FASTPU_PREFETCH(codes.by_row + rows[i + kAhead] * codes.row_stride + first);
      const std::uint8_t* line = codes.by_row + rows[i] * codes.row_stride + first;
      for (index_t w = 0; w < used; ++w) words[w][i] = load_word(line + kFeatures * w);
    }
    for (index_t w = 0; w < used; ++w) {
      const index_t left = codes.n_features - first - kFeatures * w;
      std::int64_t* bins = histogram + (first + kFeatures * w) * feature_step;
      if (left >= kFeatures) {
        for (index_t i = 0; i < n; ++i) {
          const std::uint64_t word = words[w][i];
          FASTPU_UNROLL
          for (int k = 0; k < kFeatures; ++k) add_pair(bins + k * feature_step + 2 * code_of(word, k), pairs[i]);
        }
      } else {
        for (index_t i = 0; i < n; ++i) {
          const std::uint64_t word = words[w][i];
          for (int k = 0; k < left; ++k) add_pair(bins + k * feature_step + 2 * code_of(word, k), pairs[i]);
        }
      }
    }
  }
  return sums;
}

PairSums add_two_byte_rows(const DenseCodes<std::uint16_t>& codes, RowState* state, const std::uint32_t* rows,
                           index_t n, const RowChange& change, std::int64_t* histogram) {
  PairSums sums;
  for (index_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      FASTPU_PREFETCH(state + rows[i + kAhead]);
      FASTPU_PREFETCH(codes.by_row + rows[i + kAhead] * codes.row_stride);
    }
    const Pair pair = change_row(state[rows[i]], change, sums);
    const std::uint16_t* code = codes.by_row + rows[i] * codes.row_stride;
    std::int64_t* bins = histogram;
    for (index_t e = 0; e < codes.n_features; ++e) {
      add_pair(bins + 2 * static_cast<index_t>(code[e]), pair);
      bins += 4 * codes.bin_stride;
    }
  }
  return sums;
}

void merge_bins(double* FASTPU_RESTRICT histogram, std::int64_t* FASTPU_RESTRICT added, index_t n_bins,
                double minus_factor, double plus_factor) {
  for (index_t b = 0; b < n_bins; ++b) {
    histogram[2 * b] += minus_factor * static_cast<double>(added[2 * b]);
    histogram[2 * b + 1] += plus_factor * static_cast<double>(added[2 * b + 1]);
    added[2 * b] = 0;
    added[2 * b + 1] = 0;
  }
}

void bin_gains(const double* FASTPU_RESTRICT unlabelled, const double* FASTPU_RESTRICT labelled, index_t n_bins,
               const GainCoefs& k, double* FASTPU_RESTRICT gain) {
  for (index_t b = 0; b < n_bins; ++b) {
    gain[b] = (k.unlabelled_plus * unlabelled[2 * b + 1] - k.unlabelled_minus * unlabelled[2 * b]) +
              (k.labelled_plus * labelled[2 * b + 1] - k.labelled_minus * labelled[2 * b]);
  }
}

double prefix_sums(const double* FASTPU_RESTRICT gain, index_t n, double* FASTPU_RESTRICT prefix) {
  double sum = 0;
  index_t b = 0;
  for (; b + 4 <= n; b += 4) {  // one addition to the running sum per block: the others do not wait for it
    const double two = gain[b] + gain[b + 1];
    const double three = two + gain[b + 2];
    const double four = three + gain[b + 3];
    prefix[b] = sum + gain[b];
    prefix[b + 1] = sum + two;
    prefix[b + 2] = sum + three;
    prefix[b + 3] = sum + four;
    sum = prefix[b + 3];
  }
  for (; b < n; ++b) {
    sum += gain[b];
    prefix[b] = sum;
  }
  return sum;
}

double largest_score(const double* prefix, index_t first, index_t end, double total, double slope, double center) {
  constexpr index_t kLanes = 8;
  const auto score = [&](index_t k) { return std::fabs(slope * (total - prefix[k]) + center); };
  double lanes[kLanes];
  for (double& lane : lanes) lane = -1;
  index_t k = first;
  for (; k + kLanes <= end; k += kLanes) {
    for (index_t j = 0; j < kLanes; ++j) {
      const double value = score(k + j);
      lanes[j] = lanes[j] < value ? value : lanes[j];
    }
  }
  double best = -1;
  for (; k < end; ++k) {
    const double value = score(k);
    best = best < value ? value : best;
  }
  for (const double lane : lanes) best = best < lane ? lane : best;
  return best;
}

}  // namespace

const StumpKernels kStumpKernels = {
    add_byte_rows, add_two_byte_rows, merge_bins, bin_gains, prefix_sums, largest_score,
};

}  // namespace fastpu::detail::FASTPU_LEVEL
