// The hot loops of methods that stream the rows of X: products with a vector, weighted sums of rows and their weighted
// Gram matrix. Compiled once per instruction-set level; every sum has one order, so all levels give the same bits.
//
// Those of a pass work on blocks of rows that have been packed: centred and widened to double, with a column of
// ones after the last, in panels of eight columns: element (i, f) at (f / 8) * panel_stride(n) + i * 8 + f % 8.
#pragma once

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

inline constexpr index_t kPanelWidth = 8;
// The number of rows of a block is a multiple of this; rows of zeros fill it up.
inline constexpr index_t kRowLane = 8;
// A pass computes at most so many sums.
inline constexpr int kMostSums = 3;

// A little more than the rows need, so that panels do not all start at the same set of the cache.
constexpr index_t panel_stride(index_t block_rows) { return (block_rows + 1) * kPanelWidth; }

// Where packed rows are. n_rows is a multiple of kRowLane, at most the block_rows that gave the stride.
struct PackedRows {
  const double* data = nullptr;
  index_t n_rows = 0;
  index_t stride = 0;
  index_t n_panels = 0;
};

struct RowKernels {
  // panels of rows[i] - centre: n_features values and a one in each row. Values after the end of a row may be read, but
  // none from `end` on.
  void (*pack_f32)(const float* const* rows, index_t n, index_t n_features, const float* end, const double* centre,
                   double* out, index_t stride);
  void (*pack_f64)(const double* const* rows, index_t n, index_t n_features, const double* end, const double* centre,
                   double* out, index_t stride);
  // out = the same rows, times scale[i]
  void (*rescale)(const PackedRows& x, const double* scale, double* out);
  // products[i] = x_i'w
  void (*products)(const PackedRows& x, const double* w, double* products);
  // sums[s][f] += sum_i weights[s][i] x_if, 1 <= n_sums <= kMostSums
  void (*sums)(const PackedRows& x, const double* const* weights, int n_sums, double* const* sums);
  // gram[f][g] += sum_i x_if x_ig where g / 8 >= f / 8
  void (*gram)(const PackedRows& x, double* gram, index_t gram_stride);
  // What is left of a symmetric matrix when pivot rows first, first + 1, ... of its Cholesky factor are known:
  // matrix[i][j] -= sum_k matrix[k][i] matrix[k][j] for i, j >= first + n_pivots, j / 8 >= i / 8; stride is a multiple
  // of 8, and columns up to it are computed
  void (*eliminate)(double* matrix, index_t stride, index_t n, index_t first, index_t n_pivots);
  // x = (U'U)^-1 x for the upper triangle U of a matrix of n rows and eight columns x, which lie side by side: entry i
  // of column c at x[i * 8 + c]. inverse[i] = 1 / U_ii
  void (*solve_eight)(const double* matrix, index_t stride, index_t n, const double* inverse, double* x);
};

FASTPU_KERNEL_LEVELS(RowKernels, kRowKernels, row_kernels)

}  // namespace fastpu::detail
