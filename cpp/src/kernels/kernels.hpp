// The kernels of dense and of sparse rows, which make_kernel makes and kernel_scores uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/kernels/kernel_base.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

inline bool is_of_distances(const KernelParams& params) {
  return params.kind == KernelKind::rbf || params.kind == KernelKind::squared_distance;
}

// Turns products x'z, or squared distances for kernels that are functions of these, into kernel values in place. n is a
// multiple of kKernelPanel.
template <class T>
void transform(const KernelParams& params, const TypedKernels<T>& loops, T* values, index_t n) {
  switch (params.kind) {
    case KernelKind::linear:
    case KernelKind::squared_distance:
      return;
    case KernelKind::rbf:
      loops.exp_of(values, n, params.gamma);
      return;
    case KernelKind::poly:
      loops.power_of(values, n, params.gamma, params.coef0, params.degree);
      return;
    case KernelKind::sigmoid:
      for (index_t i = 0; i < n; ++i) {
        values[i] = static_cast<T>(std::tanh(params.gamma * static_cast<double>(values[i]) + params.coef0));
      }
      return;
  }
}

// Fills the panel with zeros after the last of n values.
template <class T>
void finish_panel(T* values, index_t n) {
  std::fill(values + n, values + round_up(n, kKernelPanel), T{});
}

// Panels of panel_width columns, feature by feature within a panel; zeros fill up the last panel.
template <class T>
class DenseColumns final : public KernelColumns<T> {
 public:
  // Rows `rows` of the view, or all of them if that is null.
  DenseColumns(const DenseView<T>& view, const index_t* rows, index_t n, index_t panel_width, Team& team);

  const T* panel(index_t column) const { return packed_.data() + column * n_features_; }

 private:
  index_t n_features_;
  AlignedBuffer<T> packed_;
};

template <class T>
class DenseKernel final : public Kernel<T> {
 public:
  DenseKernel(const DenseView<T>& view, const KernelParams& params, const Team& team)
      : view_(view), params_(params), loops_(svm_kernels(team.isa()).of<T>()) {}

  index_t n_rows() const override { return view_.n_rows; }
  double diagonal(index_t row) const override;
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override {
    return pack(view_, rows, n, team);
  }
  std::unique_ptr<KernelColumns<T>> pack(const DenseView<T>& view, const index_t* rows, index_t n, Team& team) const {
    return std::make_unique<DenseColumns<T>>(view, rows, n, loops_.panel_width, team);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override;
  // Of fewer features most of the time goes into what follows the products, which several rows do not share.
  bool gains_by_several_rows() const override { return view_.n_cols >= 64; }

 private:
  DenseView<T> view_;
  KernelParams params_;
  const TypedKernels<T>& loops_;
};

// Rows of a matrix or a function by number.
template <class T>
struct NumberedColumns : KernelColumns<T> {
  NumberedColumns(const index_t* numbers, index_t n) : rows(make_vector<index_t>(n, "columns of a kernel")) {
    std::copy_n(numbers, n, rows.begin());
  }
  std::vector<index_t> rows;
};

template <class T>
struct SparseColumns final : KernelColumns<T> {
  SparseColumns(const CsrView<T>& of, const index_t* numbers, index_t n);

  CsrView<T> view;
  std::vector<index_t> rows;
  std::vector<double> squared_norms;
};

template <class T>
class SparseKernel final : public Kernel<T> {
 public:
  SparseKernel(const CsrView<T>& view, const KernelParams& params, const Team& team)
      : view_(view), params_(params), loops_(svm_kernels(team.isa()).of<T>()) {}

  index_t n_rows() const override { return view_.n_rows; }
  double diagonal(index_t row) const override;
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override;
  std::unique_ptr<KernelColumns<T>> pack(const CsrView<T>& view, const index_t* rows, index_t n) const {
    return std::make_unique<SparseColumns<T>>(view, rows, n);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override;
  bool gains_by_several_rows() const override { return true; }  // rows side by side share a walk over the columns

 private:
  // Up to eight rows side by side, feature by feature: entry (f, l) of row l at f * 8 + l, and nothing but zeros
  // between two calls. In T, so that more of it stays in cache; products are summed in double.
  struct Scratch {
    AlignedBuffer<T> work;
    AlignedBuffer<double> sums;
  };

  Scratch take_scratch() const {
    const std::scoped_lock lock(lock_);
    if (idle_.empty()) return {};
    Scratch scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void to_distances(const index_t* rows, index_t n, const SparseColumns<T>& columns, index_t first, index_t last,
                    double* sums) const;

  CsrView<T> view_;
  KernelParams params_;
  const TypedKernels<T>& loops_;
  mutable std::mutex lock_;
  mutable std::vector<Scratch> idle_;  // scratch of calls of fill() that have ended
};

}  // namespace fastpu::detail
