#include "knn/distance_filter.hpp"

#include <bit>
#include <cstdint>

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

#if defined(__GNUC__) && defined(FASTPU_HAS_SSE2)
#define FASTPU_MOVE_MASK
#endif

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

using Floats = Vec<float>;
using Words = Vec<std::int32_t, kLanes<float>>;
constexpr index_t kFloats = kLanes<float>;

// Three vectors of columns for each of a few rows: as many sums as there are registers but for the operands.
constexpr index_t kVectors = 3;
#if defined(__AVX512F__)
constexpr index_t kRows = 8;
#else
constexpr index_t kRows = 4;
#endif
constexpr index_t kColumns = kVectors * kFloats;
static_assert(kFilterPanel % kColumns == 0 && kFilterPanel % kRows == 0 && kRows <= kMostFilterRows);

// Bit l says whether lane l is negative.
inline std::uint32_t sign_bits(const Floats& v) {
#if defined(FASTPU_MOVE_MASK) && defined(__AVX512F__)
  return _mm512_movepi32_mask(reinterpret<__m512i>(v));
#elif defined(FASTPU_MOVE_MASK) && defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(v));
#elif defined(FASTPU_MOVE_MASK)
  return static_cast<std::uint32_t>(_mm_movemask_ps(v));
#else
  std::uint32_t bits = 0;
  for (index_t l = 0; l < kFloats; ++l) bits |= static_cast<std::uint32_t>(v[l] < 0) << l;
  return bits;
#endif
}

index_t find(const FilterTask& task, std::uint32_t* FASTPU_RESTRICT codes) {
  index_t n_codes = 0;
  const index_t n_columns = task.n_panels * kFilterPanel;
  for (index_t first = 0; first < n_columns; first += kColumns) {
    const float* panel = task.panels + first / kFilterPanel * kFilterPanel * task.n_features + first % kFilterPanel;
    Floats sums[static_cast<unsigned>(kRows)][static_cast<unsigned>(kVectors)];
    {
      Floats half[static_cast<unsigned>(kVectors)];
      Floats limit[static_cast<unsigned>(kVectors)];
      FASTPU_UNROLL
      for (index_t v = 0; v < kVectors; ++v) {
        half[v] = load<Floats>(task.halves + first + v * kFloats);
        limit[v] = load<Floats>(task.limits + first + v * kFloats);
      }
      FASTPU_UNROLL
      for (index_t k = 0; k < kRows; ++k) {
        const Floats row_half = splat<Floats>(task.row_halves[k]);
        const Floats row_limit = splat<Floats>(task.row_limits[k]);
        FASTPU_UNROLL
        for (index_t v = 0; v < kVectors; ++v) sums[k][v] = (half[v] + row_half) - more_of(limit[v], row_limit);
      }
    }
    const float* rows = task.rows;
    for (index_t f = 0; f < task.n_features; ++f) {
      Floats z[static_cast<unsigned>(kVectors)];
      FASTPU_UNROLL
      for (index_t v = 0; v < kVectors; ++v) z[v] = load<Floats>(panel + v * kFloats);
      FASTPU_UNROLL
      for (index_t k = 0; k < kRows; ++k) {
        const Floats value = splat<Floats>(rows[k]);
        FASTPU_UNROLL
        for (index_t v = 0; v < kVectors; ++v) sums[k][v] = sums[k][v] - value * z[v];
      }
      panel += kFilterPanel;
      rows += kFilterPanel;
    }
#if defined(FASTPU_MOVE_MASK)
    Words any = reinterpret<Words>(sums[0][0]);
    FASTPU_UNROLL
    for (const auto& row : sums) {
      FASTPU_UNROLL
      for (const Floats& sum : row) any = any | reinterpret<Words>(sum);
    }
    if (sign_bits(reinterpret<Floats>(any)) == 0) continue;
#endif
    FASTPU_UNROLL
    for (index_t k = 0; k < kRows; ++k) {
      FASTPU_UNROLL
      for (index_t v = 0; v < kVectors; ++v) {
        for (std::uint32_t bits = sign_bits(sums[k][v]); bits != 0; bits &= bits - 1) {
          codes[n_codes++] = (static_cast<std::uint32_t>(k) << kCodeRowShift) +
                             static_cast<std::uint32_t>(first + v * kFloats + std::countr_zero(bits));
        }
      }
    }
  }
  return n_codes;
}

}  // namespace

const DistanceFilter kDistanceFilter = {kRows, find};

}  // namespace fastpu::detail::FASTPU_LEVEL
