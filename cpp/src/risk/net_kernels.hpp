// The innermost loops of training f(x) by gradients: the hidden layer of a block of rows, and the sums over rows that
// make up a gradient. Compiled once per instruction-set level; every sum has a fixed order, so all levels give the same
// bits.
//
// Weights, hidden values and their gradients are row-major, with a stride of whole cache lines; the entries beyond the
// last hidden unit are zero.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Most rows of a block.
inline constexpr index_t kNetRows = 128;
// Numbers of 64 bytes: the lanes of every sum over one row.
template <class T>
inline constexpr index_t kNetLine = 64 / static_cast<index_t>(sizeof(T));
// Features whose gradient is summed at a time.
template <class T>
inline constexpr index_t kNetTile = 4 * kNetLine<T>;

// One step of Adam for a gradient g: g = unit * gradient + decay * value, then the moving means m of g and v of g^2 are
// updated, and value -= rate * m / (sqrt(v) * per_root + eps).
struct AdamStep {
  double rate;      // learning rate / (1 - mean_decay^t)
  double per_root;  // 1 / sqrt(1 - square_decay^t)
  double mean_decay;
  double square_decay;
  double eps;
  double decay;
  double unit = 1;
};

template <class T>
struct NetKernels {
  // out[i] = bias + sum_f rows[i][f] weights[f], n <= kNetRows rows of `stride` values
  void (*hidden)(const T* const* rows, index_t n, index_t n_features, const T* weights, index_t stride, const T* bias,
                 T* out);
  // out = bias + sum over the entries of a sparse row
  void (*hidden_of_sparse)(const T* values, const std::int32_t* columns, index_t n, const T* weights, index_t stride,
                           const T* bias, T* out);
  // scores[i] = sum_f rows[i][f] weights[f]
  void (*dots)(const T* const* rows, index_t n, index_t n_features, const T* weights, T* scores);
  // hidden = max(hidden, 0); scores[i] = sum_j weights[j] hidden[i][j]
  void (*rectify)(T* hidden, index_t n, index_t stride, const T* weights, T* scores);
  // sums[j] = sum_i g[i] hidden[i][j]; then hidden[i][j] becomes g[i] where it was > 0, else 0; slopes[j] is its sum
  // over i
  void (*back)(T* hidden, index_t n, index_t stride, const T* g, T* sums, T* slopes);
  // packed[i] = the kNetTile values of rows[i] starting at `first`; only `n_values` exist, the others are set to 0
  void (*pack)(const T* const* rows, index_t n, index_t first, index_t n_values, T* packed);
  // sums[j] += sum_i g[i * stride + j] packed[i], j < n_units
  void (*add_rows)(const T* packed, index_t n, const T* g, index_t stride, index_t n_units, T* sums);
  // gradient[columns[e] * stride + k] += values[e] g[k] for one line of k
  void (*add_sparse)(const T* values, const std::int32_t* columns, index_t n, const T* g, T* gradient, index_t stride);
  void (*adam)(const AdamStep& step, const T* gradient, index_t n, T* value, T* mean, T* square);
};

FASTPU_KERNEL_LEVELS(NetKernels<float>, kNetKernels32, net_kernels32)
FASTPU_KERNEL_LEVELS(NetKernels<double>, kNetKernels64, net_kernels64)

template <class T>
const NetKernels<T>& net_kernels(Isa isa) {
  return for_type<T>(net_kernels32(isa), net_kernels64(isa));
}

}  // namespace fastpu::detail
