// Loops over an upper triangular matrix that is stored in panels of eight rows, compiled once per instruction-set
// level. Sums have eight lanes whatever the width of a vector, so all levels give the same bits.
#pragma once

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

inline constexpr index_t kPanelRows = 8;

// A panel holds all columns from that of its first diagonal entry on: a rectangle of kPanelRows rows, one after the
// other, of which what lies below the diagonal is not used. Every value is finite. `capacity` and `n` are multiples of
// kPanelRows, and the first panel has `capacity` columns. Where `inverse`, that of the diagonal, is 0, the row and the
// column of that number are left out of the matrix.
struct Triangle {
  const double* values;
  index_t capacity;
  const double* inverse;
  index_t n;
};

struct TriangleKernels {
  // x = U'^-1 x; entries that are left out become 0.
  void (*solve_transposed)(const Triangle& u, double* x);
  // x = U^-1 x; the same.
  void (*solve)(const Triangle& u, double* x);
  // Eight rotations, one after the other, of `carried` with each row of a panel, n columns (a multiple of kPanelRows)
  // of it: row, carried = c row + s carried, c carried - s row.
  void (*turn)(double* panel, index_t stride, double* carried, const double* c, const double* s, index_t n);
};

FASTPU_KERNEL_LEVELS(TriangleKernels, kTriangleKernels, triangle_kernels)

}  // namespace fastpu::detail
