// Bodies of the kernels; included by one source per instruction-set level, which defines FASTPU_LEVEL as the name of
// the level's namespace. Everything here has internal linkage but the table, or a linker could hand the code of a
// high level to a processor of a low one. For the same reason nothing from the standard library is called.

#include "detail/stump_kernels.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#define FASTPU_HAS_SSE2 1
#endif

#if defined(_MSC_VER)
#define FASTPU_RESTRICT __restrict
#define FASTPU_PREFETCH(address) static_cast<void>(address)
#else
#define FASTPU_RESTRICT __restrict__
#define FASTPU_PREFETCH(address) __builtin_prefetch(address)
#endif

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

template <class Code>
PairSums add_rows(const DenseCodes<Code>& codes, RowState* state, const std::uint32_t* FASTPU_RESTRICT rows, index_t n,
                  const RowChange& change, std::int64_t* FASTPU_RESTRICT histogram) {
  constexpr index_t kAhead =
      8;  // rows fetched ahead: their addresses are known, but the processor does not see the pattern
  const index_t feature_step = (sizeof(Code) == 1 ? kByteBinStride : codes.bin_stride) * 4;
  PairSums sums;
  for (index_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      const index_t ahead = rows[i + kAhead];
      FASTPU_PREFETCH(state + ahead);
      FASTPU_PREFETCH(codes.by_row + ahead * codes.row_stride);
    }
    const index_t row = rows[i];
    RowState& s = state[row];
    const auto minus = static_cast<std::int64_t>(s.minus * change.minus_scale);
    const auto plus = static_cast<std::int64_t>(s.plus * change.plus_scale);
    sums.minus += minus;
    sums.plus += plus;
    const Pair pair = make_pair(minus, plus);
    const Code* FASTPU_RESTRICT code = codes.by_row + row * codes.row_stride;
    std::int64_t* bins = histogram;
    for (index_t e = 0; e < codes.n_features; ++e) {
      add_pair(bins + 2 * static_cast<index_t>(code[e]), pair);
      bins += feature_step;
    }
    if (change.step != 0) {
      s.minus *= change.minus_ratio;
      s.plus *= change.plus_ratio;
      const double sum = s.f + change.step;  // error-free: sum + error is s.f + change.step
      const double part = sum - s.f;
      s.f_low += (s.f - (sum - part)) + (change.step - part);
      s.f = sum;
    }
  }
  return sums;
}

template <class Code>
inline std::uint64_t word_above(const Code* codes, Code cut) {
  std::uint64_t word = 0;
  for (int i = 0; i < 64; ++i) word |= static_cast<std::uint64_t>(codes[i] > cut) << i;
  return word;
}

void two_bytes_above(const std::uint16_t* codes, std::uint16_t cut, index_t n_words, std::uint64_t* words) {
  for (index_t w = 0; w < n_words; ++w) words[w] = word_above(codes + 64 * w, cut);
}

void bytes_above(const std::uint8_t* codes, std::uint8_t cut, index_t n_words, std::uint64_t* words) {
#if defined(__AVX512BW__)
  const __m512i limit = _mm512_set1_epi8(static_cast<char>(cut));
  for (index_t w = 0; w < n_words; ++w) {
    words[w] = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(codes + 64 * w), limit);
  }
#elif defined(FASTPU_HAS_SSE2)
  if (cut == 255) {  // nothing is above, and cut + 1 would wrap
    for (index_t w = 0; w < n_words; ++w) words[w] = 0;
    return;
  }
  const __m128i next = _mm_set1_epi8(static_cast<char>(cut + 1));
  for (index_t w = 0; w < n_words; ++w) {
    std::uint64_t word = 0;
    for (int part = 0; part < 4; ++part) {
      const __m128i c = _mm_load_si128(reinterpret_cast<const __m128i*>(codes + 64 * w + index_t{16} * part));
      const auto above = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(c, next), c)));
      word |= static_cast<std::uint64_t>(above) << (16 * part);
    }
    words[w] = word;
  }
#else
  for (index_t w = 0; w < n_words; ++w) words[w] = word_above(codes + 64 * w, cut);
#endif
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

}  // namespace

// Each level's source includes this file once.
// NOLINTNEXTLINE(misc-definitions-in-headers)
extern const StumpKernels kStumpKernels = {
    add_rows<std::uint8_t>, add_rows<std::uint16_t>, bytes_above, two_bytes_above, merge_bins, bin_gains,
};

}  // namespace fastpu::detail::FASTPU_LEVEL
