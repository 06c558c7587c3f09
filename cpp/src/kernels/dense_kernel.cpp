#include <algorithm>

#include "kernels/kernels.hpp"

namespace fastpu::detail {

template <class T>
DenseColumns<T>::DenseColumns(const DenseView<T>& view, const index_t* rows, index_t n, index_t panel_width, Team& team)
    : n_features_(view.n_cols), packed_(round_up(n, kKernelPanel) * view.n_cols, "columns of a kernel") {
  if (packed_.empty()) return;
  constexpr index_t kColumnsAtOnce = 4 * kKernelPanel;
  const int max_workers = n * n_features_ < 100'000 ? 1 : team.n_threads();
  team.for_blocks(round_up(n, kKernelPanel), kColumnsAtOnce, max_workers, [&](index_t first, index_t end, int) {
    for (index_t c = first; c < end; ++c) {
      T* panel = packed_.data() + c / panel_width * panel_width * n_features_ + c % panel_width;
      if (c < n) {
        const T* from = view.row(rows == nullptr ? c : rows[c]);
        for (index_t f = 0; f < n_features_; ++f) panel[f * panel_width] = from[f];
      } else {
        for (index_t f = 0; f < n_features_; ++f) panel[f * panel_width] = T{};
      }
    }
  });
}

template <class T>
double DenseKernel<T>::diagonal(index_t row) const {
  if (is_of_distances(params_)) return params_.kind == KernelKind::rbf ? 1.0 : 0.0;
  const T* x = view_.row(row);
  alignas(64) T value[kKernelPanel] = {};
  for (index_t f = 0; f < view_.n_cols; ++f) value[0] += x[f] * x[f];
  transform(params_, loops_, value, kKernelPanel);
  return static_cast<double>(value[0]);
}

template <class T>
void DenseKernel<T>::fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
                          T* const* out) const {
  const auto& packed = static_cast<const DenseColumns<T>&>(columns);
  constexpr index_t kRowsAtOnce = 16;  // few enough that their pointers fit on the stack and a panel stays in the cache
  const T* x[kRowsAtOnce];
  T* to[kRowsAtOnce];
  for (index_t c = first; c < last; c += kKernelPanel) {
    for (index_t k = 0; k < n; k += kRowsAtOnce) {
      const index_t n_now = std::min(kRowsAtOnce, n - k);
      for (index_t r = 0; r < n_now; ++r) {
        x[r] = view_.row(rows[k + r]);
        to[r] = out[k + r] + (c - first);
      }
      loops_.pairs(x, n_now, view_.n_cols, packed.panel(c), kKernelPanel / loops_.panel_width, is_of_distances(params_),
                   to);
      for (index_t r = 0; r < n_now; ++r) transform(params_, loops_, to[r], kKernelPanel);
    }
  }
}

template class DenseColumns<float>;
template class DenseColumns<double>;
template class DenseKernel<float>;
template class DenseKernel<double>;

}  // namespace fastpu::detail
