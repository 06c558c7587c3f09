// The hot loops of the kernel methods, compiled once per instruction-set level: kernel values of dense rows, sums over
// kernel rows, and the two passes of sequential minimal optimisation. No level fuses or reorders, so all give the same
// bits.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Arrays that the passes of SMO run over have room for a multiple of this many elements, the last ones neutral.
inline constexpr index_t kSmoLane = 16;

struct SmoFirst {
  double up_min;   // least gradient among variables that may grow
  double low_max;  // largest among those that may shrink
  index_t up;      // the variable of up_min, the first of equal ones; -1 if there is none
};

struct SmoSecond {
  double gain;  // twice the decrease of the objective, without the limits of the box
  index_t low;  // the variable that gives it, the first of equal ones; -1 if none does
};

// Loops over values of type T.
template <class T>
struct TypedKernels {
  // Columns are packed in panels of `panel_width`, feature by feature within a panel: panels[d][width] each.
  index_t panel_width;
  // out[k][0 .. n_panels * width) of rows x[k] against n_panels panels: |x - z|^2 if `squares`, else x'z
  void (*pairs)(const T* const* x, index_t n_rows, index_t n_features, const T* panels, index_t n_panels, bool squares,
                T* const* out);
  // v = exp(-gamma v), n a multiple of kKernelPanel
  void (*exp_of)(T* values, index_t n, double gamma);
  // v = (gamma v + coef0)^degree
  void (*power_of)(T* values, index_t n, double gamma, double coef0, int degree);
  // sums[c] += sum_k factors[k] rows[k][c] for c < n, k in order
  void (*add_rows)(double* sums, const T* const* rows, const double* factors, index_t n_rows, index_t n);
  // gradient[t] += step (row_up[t] - row_low[t]); then as first()
  SmoFirst (*move)(double* gradient, const double* up_wall, const double* low_wall, index_t n, double step,
                   const T* row_up, const T* row_low);
  // The best partner of a variable with gradient `from` and kernel row `row`, by second-order gain.
  SmoSecond (*second)(const double* gradient, const double* low_wall, index_t n, double from, double diagonal_up,
                      double least_curvature, const T* row, const T* diagonal);
  // sums[k * 8 + l] over the entries of sparse rows: see sparse_kernel.cpp
  void (*sparse_pairs)(const T* work, const T* values, const std::int32_t* columns, index_t n_entries, double* sums);
};

struct SvmKernels {
  TypedKernels<float> f32;
  TypedKernels<double> f64;
  // The least gradient + up_wall and the largest gradient + low_wall: walls are 0 where a variable may grow or shrink,
  // and infinite where it may not.
  SmoFirst (*first)(const double* gradient, const double* up_wall, const double* low_wall, index_t n);

  template <class T>
  const TypedKernels<T>& of() const {
    return for_type<T>(f32, f64);
  }
};

FASTPU_KERNEL_LEVELS(SvmKernels, kSvmKernels, svm_kernels)

}  // namespace fastpu::detail
