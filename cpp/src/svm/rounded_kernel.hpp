// The rbf kernel of dense rows in single precision, whose values take half the time and memory of exact ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"

namespace fastpu::detail {

// The rows times the square root of gamma, rounded, with their kernel, whose gamma is 1, and its cache.
struct RoundedKernel {
  AlignedBuffer<float> rows;
  std::unique_ptr<Kernel<float>> kernel;
  std::unique_ptr<KernelCache<float>> cache;
};

// Returns null where a row is so far from the origin that rounding would show: up to kMostNorm, a kernel value is wrong
// by some 1e-6. Whether max_bytes are enough does not decide it, so that the memory changes no bit of a result.
inline std::shared_ptr<RoundedKernel> round_kernel(const DenseView<double>& x, double gamma, index_t max_bytes,
                                                   const Team& team) {
  constexpr double kMostNorm = 16;
  const index_t bytes = x.n_rows * x.n_cols * static_cast<index_t>(sizeof(float));
  auto rounded = std::make_shared<RoundedKernel>();
  rounded->rows = AlignedBuffer<float>(x.n_rows * x.n_cols, "rounded rows");
  const double scale = std::sqrt(gamma);
  for (index_t i = 0; i < x.n_rows; ++i) {
    double norm = 0;
    for (index_t f = 0; f < x.n_cols; ++f) {
      const double value = scale * x.row(i)[f];
      norm += value * value;
      if (!(norm <= kMostNorm * kMostNorm)) return nullptr;
      rounded->rows[i * x.n_cols + f] = static_cast<float>(value);
    }
  }
  const KernelParams params{.kind = KernelKind::rbf, .gamma = 1.0};
  rounded->kernel = make_kernel(DenseView<float>{rounded->rows.data(), x.n_rows, x.n_cols}, params, team);
  rounded->cache = std::make_unique<KernelCache<float>>(*rounded->kernel, std::max<index_t>(0, max_bytes - bytes));
  return rounded;
}

}  // namespace fastpu::detail
