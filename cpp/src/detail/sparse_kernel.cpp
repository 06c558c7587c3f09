#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "detail/kernels.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kRowsAtOnce = 8;

// Entries in ascending order of the column, as in every product with another row: |x|^2 - 2 x'z + |z|^2 is then exactly
// zero for equal rows.
template <class T>
double squared_norm(const CsrView<T>& view, index_t row) {
  double sum = 0;
  for (index_t e = view.row_start[row]; e < view.row_start[row + 1]; ++e) {
    const auto value = static_cast<double>(view.values[e]);
    sum += value * value;
  }
  return sum;
}

}  // namespace

template <class T>
SparseColumns<T>::SparseColumns(const CsrView<T>& view, const index_t* rows, index_t n)
    : view_(view),
      rows_(make_vector<index_t>(n, "columns of a kernel")),
      squared_norms_(make_vector<double>(n, "norms of the columns of a kernel")) {
  for (index_t c = 0; c < n; ++c) {
    const auto at = static_cast<std::size_t>(c);
    rows_[at] = rows == nullptr ? c : rows[c];
    squared_norms_[at] = detail::squared_norm(view, rows_[at]);
    if (!std::isfinite(squared_norms_[at])) {
      throw std::invalid_argument("row " + std::to_string(rows_[at]) + " is too large to be squared: scale X");
    }
  }
}

template <class T>
SparseKernel<T>::SparseKernel(const CsrView<T>& view, const KernelParams& params, Isa isa, int n_workers)
    : view_(view), params_(params), loops_(svm_kernels(isa).of<T>()), scratch_(static_cast<std::size_t>(n_workers)) {}

template <class T>
double SparseKernel<T>::diagonal(index_t row) const {
  if (params_.kind == KernelKind::rbf) return 1.0;
  alignas(64) T value[kKernelPanel] = {};
  value[0] = static_cast<T>(squared_norm(view_, row));
  transform(params_, loops_, value, kKernelPanel);
  return static_cast<double>(value[0]);
}

template <class T>
std::unique_ptr<KernelColumns<T>> SparseKernel<T>::pack(const index_t* rows, index_t n, Team& /*team*/) const {
  return pack(view_, rows, n);
}

template <class T>
void SparseKernel<T>::fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
                           T* const* out, int worker) const {
  const auto& chosen = static_cast<const SparseColumns<T>&>(columns);
  const CsrView<T>& other = chosen.view();
  Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
  if (scratch.work.empty()) {
    scratch.work = AlignedBuffer<T>::zeros(view_.n_cols * kRowsAtOnce, "rows of a sparse kernel side by side");
  }
  if (scratch.sums.size() < (last - first) * kRowsAtOnce) {
    scratch.sums = AlignedBuffer<double>((last - first) * kRowsAtOnce, "products of a sparse kernel");
  }
  T* work = scratch.work.data();
  double* sums = scratch.sums.data();
  const auto scatter = [&](index_t k, index_t n_now, bool is_start) {
    for (index_t r = 0; r < n_now; ++r) {
      for (index_t e = view_.row_start[rows[k + r]]; e < view_.row_start[rows[k + r] + 1]; ++e) {
        work[static_cast<index_t>(view_.columns[e]) * kRowsAtOnce + r] = is_start ? view_.values[e] : T{};
      }
    }
  };
  for (index_t k = 0; k < n; k += kRowsAtOnce) {
    const index_t n_now = std::min(kRowsAtOnce, n - k);
    scatter(k, n_now, true);
    for (index_t c = first; c < last; ++c) {
      const index_t start = other.row_start[chosen.row(c)];
      loops_.sparse_pairs(work, other.values + start, other.columns + start, other.row_start[chosen.row(c) + 1] - start,
                          sums + (c - first) * kRowsAtOnce);
    }
    scatter(k, n_now, false);
    for (index_t r = 0; r < n_now; ++r) {
      const double norm = params_.kind == KernelKind::rbf ? squared_norm(view_, rows[k + r]) : 0.0;
      for (index_t c = first; c < last; ++c) {
        double value = sums[(c - first) * kRowsAtOnce + r];
        if (params_.kind == KernelKind::rbf) value = std::max(0.0, (norm + chosen.squared_norm(c)) - 2 * value);
        out[k + r][c - first] = static_cast<T>(value);
      }
      for (index_t c = last; c < round_up(last, kKernelPanel); ++c) out[k + r][c - first] = T{};
      transform(params_, loops_, out[k + r], round_up(last - first, kKernelPanel));
    }
  }
}

template class SparseColumns<float>;
template class SparseColumns<double>;
template class SparseKernel<float>;
template class SparseKernel<double>;

}  // namespace fastpu::detail
