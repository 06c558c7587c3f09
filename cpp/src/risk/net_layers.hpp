// A PuNet in the layout of the kernels of net_kernels.hpp, with its forward and backward pass.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/risk/nnpu_problem.hpp"
#include "linalg/row_products.hpp"
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

// Returns a stride of an odd number of cache lines, so that the rows of weights do not all start in the same cache set.
template <class T>
index_t stride_of(index_t n_hidden) {
  const index_t lines = count_blocks(n_hidden, kNetLine<T>);
  return lines == 0 ? 0 : (lines | 1) * kNetLine<T>;
}

template <class View>
class NetLayers {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  NetLayers(index_t n_features, index_t n_hidden, Team& team)
      : n_features_(n_features),
        n_hidden_(n_hidden),
        stride_(stride_of<T>(n_hidden)),
        kernels_(net_kernels<T>(team.isa())),
        team_(team),
        scratch_(at(team.n_threads())),
        totals_(at(stride_)) {}

  // The length of a row of hidden values; 0 without a hidden layer.
  index_t stride() const { return stride_; }
  const NetKernels<T>& kernels() const { return kernels_; }
  Team& team() const { return team_; }

  NetArrays<T> zeros(const char* what_for) const {
    NetArrays<T> arrays;
    arrays.hidden_coef = AlignedBuffer<T>::zeros(n_features_ * stride_, what_for);
    arrays.hidden_intercept = AlignedBuffer<T>::zeros(stride_, what_for);
    arrays.coef = AlignedBuffer<T>::zeros(n_hidden_ > 0 ? stride_ : n_features_, what_for);
    return arrays;
  }

  void read(const PuNet<T>& net, NetArrays<T>& to) const {
    for (index_t f = 0; f < n_features_ && n_hidden_ > 0; ++f) {
      std::copy_n(net.hidden_coef.data() + f * n_hidden_, n_hidden_, to.hidden_coef.data() + f * stride_);
    }
    std::copy(net.hidden_intercept.begin(), net.hidden_intercept.end(), to.hidden_intercept.data());
    std::copy(net.coef.begin(), net.coef.end(), to.coef.data());
    to.intercept = net.intercept;
  }

  void write(const NetArrays<T>& from, PuNet<T>& net) const {
    for (index_t f = 0; f < n_features_ && n_hidden_ > 0; ++f) {
      std::copy_n(from.hidden_coef.data() + f * stride_, n_hidden_, net.hidden_coef.data() + f * n_hidden_);
    }
    std::copy_n(from.hidden_intercept.data(), net.hidden_intercept.size(), net.hidden_intercept.begin());
    std::copy_n(from.coef.data(), net.coef.size(), net.coef.begin());
    net.intercept = from.intercept;
  }

  // The number of workers that are worth waking for so many rows.
  int workers(const View& x, index_t n_rows) const {
    const double entries = mean_row_size(x) * static_cast<double>(n_rows);
    constexpr double kWorthWaking = 200'000;
    return entries * static_cast<double>(std::max<index_t>(1, stride_)) < kWorthWaking ? 1 : team_.n_threads();
  }

  // Memory of a worker for the hidden values of a block of rows.
  T* hidden_of(int worker) {
    AlignedBuffer<T>& hidden = scratch_[at(worker)].hidden;
    if (hidden.empty()) hidden = AlignedBuffer<T>(kNetRows * stride_, "hidden values");
    return hidden.data();
  }

  // Computes f and the hidden values of n rows of the batch, starting at number `first`.
  void forward(const View& x, const NetBatch& batch, index_t first, index_t n, const NetArrays<T>& net, T* hidden,
               T* scores) const {
    assert(n <= kNetRows);
    if constexpr (View::kIsDense) {
      const T* rows[kNetRows];
      row_pointers(x, batch, first, n, rows);
      if (n_hidden_ > 0) {
        kernels_.hidden(rows, n, n_features_, net.hidden_coef.data(), stride_, net.hidden_intercept.data(), hidden);
      } else {
        kernels_.dots(rows, n, n_features_, net.coef.data(), scores);
      }
    } else {
      for (index_t i = 0; i < n; ++i) {
        const index_t row = batch.row(first + i);
        const index_t start = x.row_start[row];
        const index_t n_entries = x.row_start[row + 1] - start;
        if (n_hidden_ > 0) {
          kernels_.hidden_of_sparse(x.values + start, x.columns + start, n_entries, net.hidden_coef.data(), stride_,
                                    net.hidden_intercept.data(), hidden + i * stride_);
          continue;
        }
        T sum = 0;
        for (index_t e = start; e < start + n_entries; ++e) sum += x.values[e] * net.coef[x.columns[e]];
        scores[i] = sum;
      }
    }
    if (n_hidden_ > 0) kernels_.rectify(hidden, n, stride_, net.coef.data(), scores);
    for (index_t i = 0; i < n; ++i) scores[i] += net.intercept;
  }

  // Computes gradient = sum_i g_i df(x_i) from the hidden values, which it overwrites.
  void backward(const View& x, const NetBatch& batch, const T* g, T* hidden, const NetArrays<T>& net,
                NetArrays<T>& gradient) {
    double intercept = 0;
    for (index_t i = 0; i < batch.n; ++i) intercept += static_cast<double>(g[i]);
    gradient.intercept = static_cast<T>(intercept);
    if (n_hidden_ == 0) {
      if constexpr (View::kIsDense) {
        add_dense(x, batch, g, 1, 1, nullptr, gradient.coef.data());
      } else {
        add_sparse_linear(x, batch, g, gradient.coef.data());
      }
      return;
    }
    const index_t blocks = count_blocks(batch.n, kNetRows);
    if (block_sums_.size() < blocks * 2 * stride_)
      block_sums_ = AlignedBuffer<T>(blocks * 2 * stride_, "sums of blocks");
    team_.for_each(blocks, workers(x, batch.n), [&](index_t block, int) {
      const index_t first = block * kNetRows;
      T* sums = block_sums_.data() + block * 2 * stride_;
      kernels_.back(hidden + first * stride_, std::min(kNetRows, batch.n - first), stride_, g + first, sums,
                    sums + stride_);
    });
    // Adds the blocks in their order.
    const auto add_blocks = [&](index_t offset, T* to) {
      std::fill(totals_.begin(), totals_.end(), 0.0);
      for (index_t block = 0; block < blocks; ++block) {
        const T* sums = block_sums_.data() + block * 2 * stride_ + offset;
        for (index_t j = 0; j < stride_; ++j) totals_[at(j)] += static_cast<double>(sums[j]);
      }
      for (index_t j = 0; j < stride_; ++j) to[j] = static_cast<T>(totals_[at(j)]);
    };
    add_blocks(0, gradient.coef.data());
    add_blocks(stride_, gradient.hidden_intercept.data());
    // The derivative of f by hidden value j is coef_j where the value is positive.
    if constexpr (View::kIsDense) {
      add_dense(x, batch, hidden, stride_, n_hidden_, net.coef.data(), gradient.hidden_coef.data());
    } else {
      add_sparse(x, batch, hidden, net.coef.data(), gradient.hidden_coef.data());
    }
    for (index_t j = 0; j < stride_; ++j) gradient.hidden_intercept[j] *= net.coef[j];
  }

 private:
  struct Scratch {
    AlignedBuffer<T> hidden;
    AlignedBuffer<T> packed;
    AlignedBuffer<T> sums;
  };

  static constexpr index_t kPollBlocks = 64;  // blocks of rows between two polls of Ctrl-C

  // For dense rows.
  void row_pointers(const View& x, const NetBatch& batch, index_t first, index_t n, const T** rows) const {
    for (index_t i = 0; i < n; ++i) rows[i] = x.row(batch.row(first + i));
  }

  // gradient[f * g_stride + j] = scale_j sum_i g_ij x_if for n_units units j; a null scale stands for ones.
  void add_dense(const View& x, const NetBatch& batch, const T* g, index_t g_stride, index_t n_units, const T* scale,
                 T* gradient) {
    constexpr index_t kTile = kNetTile<T>;
    team_.for_blocks(n_features_, kTile, workers(x, batch.n), [&](index_t feature, index_t end, int worker) {
      Scratch& scratch = scratch_[at(worker)];
      if (scratch.packed.empty()) {
        scratch.packed = AlignedBuffer<T>(kNetRows * kTile, "a block of rows");
        scratch.sums = AlignedBuffer<T>(n_units * kTile, "a part of the gradient");
      }
      scratch.sums.clear();
      const index_t n_values = end - feature;
      const T* rows[kNetRows];
      for (index_t block = 0, first = 0; first < batch.n; ++block, first += kNetRows) {
        if (block % kPollBlocks == kPollBlocks - 1) team_.poll();
        const index_t n = std::min(kNetRows, batch.n - first);
        row_pointers(x, batch, first, n, rows);
        kernels_.pack(rows, n, feature, n_values, scratch.packed.data());
        kernels_.add_rows(scratch.packed.data(), n, g + first * g_stride, g_stride, n_units, scratch.sums.data());
      }
      for (index_t f = 0; f < n_values; ++f) {
        T* to = gradient + (feature + f) * g_stride;
        for (index_t j = 0; j < n_units; ++j) {
          const T sum = scratch.sums[j * kTile + f];
          to[j] = scale == nullptr ? sum : scale[j] * sum;
        }
      }
    });
  }

  void add_sparse(const View& x, const NetBatch& batch, const T* g, const T* scale, T* gradient) {
    // Each worker has lines of hidden units to itself, so no two write to the same place.
    team_.for_each(stride_ / kNetLine<T>, workers(x, batch.n), [&](index_t line, int) {
      const index_t unit = line * kNetLine<T>;
      for (index_t f = 0; f < n_features_; ++f) std::fill_n(gradient + f * stride_ + unit, kNetLine<T>, T{0});
      for (index_t i = 0; i < batch.n; ++i) {
        if (i % (kPollBlocks * kNetRows) == 0) team_.poll();
        const index_t row = batch.row(i);
        const index_t start = x.row_start[row];
        kernels_.add_sparse(x.values + start, x.columns + start, x.row_start[row + 1] - start, g + i * stride_ + unit,
                            gradient + unit, stride_);
      }
      for (index_t f = 0; f < n_features_; ++f) {
        for (index_t j = unit; j < unit + kNetLine<T>; ++j) gradient[f * stride_ + j] *= scale[j];
      }
    });
  }

  void add_sparse_linear(const View& x, const NetBatch& batch, const T* g, T* gradient) {
    std::fill_n(gradient, n_features_, T{0});
    for (index_t i = 0; i < batch.n; ++i) {
      if (i % (kPollBlocks * kNetRows) == 0) team_.poll();
      const index_t row = batch.row(i);
      for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) gradient[x.columns[e]] += g[i] * x.values[e];
    }
  }

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
