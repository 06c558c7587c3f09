// What an interior point does with each row, compiled once per instruction-set level: see interior_point.cpp for the
// formulas. Every sum has eight lanes whatever the width of a vector, so all levels give the same bits.
#pragma once

#include "fastpu/common/isa.hpp"
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
  // f = products; 1 / alpha, 1 / room and theta; weights theta (y - f) and t alpha, over `unit`
  void (*factor)(const PointRows& rows, const double* products, double unit, double* const* weights);
  // The products of second order of the step to mu = 0, in d_low and d_high, with the weights of what they and mu add
  // to the right-hand side. fastest = max(fastest, speed at which some value goes to 0), curvature += the products.
  void (*predict)(const PointRows& rows, const double* products, double unit, double* const* weights, double& fastest,
                  double& curvature);
  // Computes the step. Adds 0 to `check` if every part of the step is finite, and NaN otherwise.
  void (*correct)(const PointRows& rows, const double* products, double mu, double second_order, double& fastest,
                  double& check);
  // Goes so far along the step. sums += alpha low + room high, cost lack_+, and room lack_+ + alpha (-lack)_+.
  void (*advance)(const PointRows& rows, double length, double* sums);
};

const PointKernels& point_kernels(Isa isa);

// The tables behind point_kernels.
namespace baseline {
extern const PointKernels kPointKernels;
}
namespace avx2 {
extern const PointKernels kPointKernels;
}
namespace avx512 {
extern const PointKernels kPointKernels;
}

}  // namespace fastpu::detail
