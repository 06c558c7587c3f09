// A PuNet in the layout of the kernels of net_kernels.hpp, with its forward and backward pass.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/risk/nnpu_problem.hpp"
#include "risk/net_kernels.hpp"

namespace fastpu::detail {

// The values of all parameters, or arrays of the same shapes, such as their gradients.
template <class T>
struct NetArrays {
  AlignedBuffer<T> hidden_coef;       // n_features rows of `stride` numbers; empty without a hidden layer
  AlignedBuffer<T> hidden_intercept;  // stride
  AlignedBuffer<T> coef;              // stride, or n_features
  T intercept = 0;
};

// A batch of rows: `rows` are their numbers; null stands for 0, 1, ...
struct NetBatch {
  const index_t* rows;
  index_t n;
  index_t row(index_t i) const { return rows == nullptr ? i : rows[i]; }
};

template <class View>
class NetLayers {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  static constexpr bool kIsDense = std::is_same_v<View, DenseView<T>>;

  NetLayers(index_t n_features, index_t n_hidden, Team& team);

  // The length of a row of hidden values; 0 without a hidden layer.
  index_t stride() const { return stride_; }
  const NetKernels<T>& kernels() const { return kernels_; }
  Team& team() const { return team_; }

  NetArrays<T> zeros(const char* what_for) const;
  void read(const PuNet<T>& net, NetArrays<T>& to) const;
  void write(const NetArrays<T>& from, PuNet<T>& net) const;

  // The number of blocks of at most kNetRows rows, and of workers that are worth waking for them.
  index_t n_blocks(index_t n_rows) const { return count_blocks(n_rows, kNetRows); }
  int workers(const View& x, index_t n_rows) const;

  // Memory of a worker for the hidden values of a block of rows.
  T* hidden_of(int worker);

  // Computes f and the hidden values of n rows of the batch, starting at number `first`.
  void forward(const View& x, const NetBatch& batch, index_t first, index_t n, const NetArrays<T>& net, T* hidden,
               T* scores) const;

  // Computes gradient = sum_i g_i df(x_i) from the hidden values, which it overwrites.
  void backward(const View& x, const NetBatch& batch, const T* g, T* hidden, const NetArrays<T>& net,
                NetArrays<T>& gradient);

 private:
  struct Scratch {
    AlignedBuffer<T> hidden;
    AlignedBuffer<T> packed;
    AlignedBuffer<T> sums;
  };

  void row_pointers(const View& x, const NetBatch& batch, index_t first, index_t n, const T** rows) const;
  // gradient[f * g_stride + j] = scale_j sum_i g_ij x_if for n_units units j; a null scale stands for ones.
  void add_dense(const View& x, const NetBatch& batch, const T* g, index_t g_stride, index_t n_units, const T* scale,
                 T* gradient);
  void add_sparse(const View& x, const NetBatch& batch, const T* g, const T* scale, T* gradient);
  void add_sparse_linear(const View& x, const NetBatch& batch, const T* g, T* gradient);

  index_t n_features_;
  index_t n_hidden_;
  index_t stride_;
  const NetKernels<T>& kernels_;
  Team& team_;
  std::vector<Scratch> scratch_;  // one per worker
  AlignedBuffer<T> block_sums_;   // of each block: sums, then slopes
  std::vector<double> totals_;    // stride
};

}  // namespace fastpu::detail
