// Products, sums and rotations of vectors, and the loops of the SVM path over the slacks of its rows, compiled once per
// instruction-set level. Sums have eight lanes whatever the width of a vector, so all levels give the same bits.
#pragma once

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Rows whose slack is followed: those off the margin. side is +1 outside it, -1 inside and 0 on it; weight = side y.
struct PathSlacks {
  index_t n;
  const double* score;  // h
  const double* weight;
  const double* side;
};

struct PathStep {
  double step;  // infinite if no row comes nearer
  index_t row;  // -1 then; of equal ones the first
};

// How a point violates the optimality conditions, in the units of lam, and its loss.
struct PathCheck {
  double worst;
  double loss;
};

struct VectorKernels {
  double (*dot)(const double* a, const double* b, index_t n);
  // y += factor x
  void (*add)(double* y, double factor, const double* x, index_t n);
  // a[c] += sum_k in_a[k] rows[k][c] and b[c] += sum_k in_b[k] rows[k][c], k in order
  void (*add_two)(double* a, double* b, const double* const* rows, const double* in_a, const double* in_b,
                  index_t n_rows, index_t n);
  // row, carried = c row + s carried, c carried - s row
  void (*rotate)(double* carried, double* row, double c, double s, index_t n);
  // The least step at which a row reaches the margin: distance p = weight (h + a0) - side lam, at the speed
  // q = weight (v + d0) + side, where q < 0: max(p, 0) / -q.
  PathStep (*nearest)(const PathSlacks& slacks, const double* speed, double a0, double d0, double lam);
  // Lists the rows with side != 0 and p <= limit; returns how many.
  index_t (*list_near)(const PathSlacks& slacks, double a0, double lam, double limit, index_t* rows);
  // With x = y (h + a0) - lam: the largest -side x, of rows on the margin (side 0) |x|; and the sum of cost max(-x, 0).
  PathCheck (*check)(const PathSlacks& slacks, const double* label, const double* cost, double a0, double lam);
};

FASTPU_KERNEL_LEVELS(VectorKernels, kVectorKernels, vector_kernels)

}  // namespace fastpu::detail
