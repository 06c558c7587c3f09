// Which pairs of rows may be near each other: products in float32, as many at once as registers hold.
//
// The rows y, in float32, lie in panels of kFilterPanel rows, feature by feature; each row has h = |y|^2 / 2 and a
// limit t. A pair passes the filter if h_i + h_j - max(t_i, t_j) - y_i'y_j, computed with a few roundings per feature,
// is negative. The caller sets the limits so large that rounding loses no pair. Instruction-set levels may pass
// different pairs, since multiply-adds are fused where the processor has them (the build allows that for these files
// alone).
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// The rows of a panel: a multiple of the numbers of rows and columns that any level compares at once.
inline constexpr index_t kFilterPanel = 48;
// The most rows that any level compares at once.
inline constexpr index_t kMostFilterRows = 8;
// A pair is written as (row << kCodeRowShift) + column: there are fewer columns than 2^16.
inline constexpr unsigned kCodeRowShift = 16;

// Rows of one panel that are compared with all rows of other panels, the columns.
struct FilterTask {
  const float* rows = nullptr;  // the panel, starting at the first of the rows
  const float* row_halves = nullptr;
  const float* row_limits = nullptr;
  const float* panels = nullptr;
  const float* halves = nullptr;
  const float* limits = nullptr;
  index_t n_panels = 0;
  index_t n_features = 0;
};

struct DistanceFilter {
  index_t rows_at_once = 0;  // divides kFilterPanel
  // Writes the code of each pair of a row and a column that passes; returns their number.
  index_t (*find)(const FilterTask& task, std::uint32_t* codes);
};

FASTPU_KERNEL_LEVELS(DistanceFilter, kDistanceFilter, distance_filter)

}  // namespace fastpu::detail
