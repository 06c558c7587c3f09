// The loops of an interior point over the rows, compiled once per instruction-set level; interior_point.cpp has the
// formulas. Every sum has eight lanes whatever the width of a vector, so that all levels give the same bits.
#pragma once

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Some rows of the point.
struct PointRows {
  index_t n;
  const double* side;
  const double* label;
  double* alpha;
  double* room;
  double* low;
  double* high;
  double* f;
  double* per_alpha;
  double* per_room;
  double* theta;
  double* d_alpha;
  double* d_low;
  double* d_high;
  double* d_f;
};

struct PointKernels {
  // Computes f = products, 1 / alpha, 1 / room and theta, and the weights theta (y - f) and t alpha, divided by `unit`.
  void (*factor)(const PointRows& rows, const double* products, double unit, double* const* weights);
  // For the step to mu = 0, stores the products of second order in d_low and d_high, and computes the weights with
  // which they and mu enter the right-hand side. Raises `fastest` to the largest relative speed at which a value
  // decreases to 0, and adds the products to `curvature`.
  void (*predict)(const PointRows& rows, const double* products, double unit, double* const* weights, double& fastest,
                  double& curvature);
  // Computes the step. Adds 0 to `check` if every part of the step is finite, and NaN otherwise.
  void (*correct)(const PointRows& rows, const double* products, double mu, double second_order, double& fastest,
                  double& check);
  // Moves by `length` along the step. Adds to the sums: alpha low + room high; cost lack_+; room lack_+ + alpha
  // (-lack)_+.
  void (*advance)(const PointRows& rows, double length, double* sums);
};

FASTPU_KERNEL_LEVELS(PointKernels, kPointKernels, point_kernels)

}  // namespace fastpu::detail
