#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/kernels.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kRowsAtOnce = 8;

// Where gamma |x|^2 of both rows of a pair is larger than this, they lie so far from the origin that rounding of
// |x|^2 - 2 x'z + |z|^2 changes their kernel value by some 1e-10: the squares of their differences are summed.
constexpr double kFar = 65536.0;

}  // namespace

template <class T>
SparseColumns<T>::SparseColumns(const CsrView<T>& of, const index_t* numbers, index_t n)
    : view(of),
      rows(make_vector<index_t>(n, "columns of a kernel")),
      squared_norms(make_vector<double>(n, "norms of the columns of a kernel")) {
  for (index_t c = 0; c < n; ++c) {
    const index_t row = numbers == nullptr ? c : numbers[c];
    rows[at(c)] = row;
    squared_norms[at(c)] = squared_norm(view, row);
    if (!std::isfinite(squared_norms[at(c)])) {
      throw std::invalid_argument("row " + std::to_string(row) + " is too large to be squared: scale X");
    }
  }
}

template <class T>
double SparseKernel<T>::diagonal(index_t row) const {
  if (is_of_distances(params_)) return params_.kind == KernelKind::rbf ? 1.0 : 0.0;
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
                           T* const* out) const {
  const auto& chosen = static_cast<const SparseColumns<T>&>(columns);
  const CsrView<T>& other = chosen.view;
  Scratch scratch = take_scratch();
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
      const index_t row = chosen.rows[at(c)];
      const index_t start = other.row_start[row];
      loops_.sparse_pairs(work, other.values + start, other.columns + start, other.row_start[row + 1] - start,
                          sums + (c - first) * kRowsAtOnce);
    }
    if (is_of_distances(params_)) to_distances(rows + k, n_now, chosen, first, last, sums);
    scatter(k, n_now, false);
    for (index_t r = 0; r < n_now; ++r) {
      for (index_t c = first; c < last; ++c) {
        out[k + r][c - first] = static_cast<T>(sums[(c - first) * kRowsAtOnce + r]);
      }
      for (index_t c = last; c < round_up(last, kKernelPanel); ++c) out[k + r][c - first] = T{};
      transform(params_, loops_, out[k + r], round_up(last - first, kKernelPanel));
    }
  }
  const std::scoped_lock lock(lock_);
  idle_.push_back(std::move(scratch));
}

// Squared distances in place of the products of rows with columns.
template <class T>
void SparseKernel<T>::to_distances(const index_t* rows, index_t n, const SparseColumns<T>& columns, index_t first,
                                   index_t last, double* sums) const {
  const double far = kFar / params_.gamma;
  double norms[kRowsAtOnce] = {};
  for (index_t r = 0; r < n; ++r) norms[r] = squared_norm(view_, rows[r]);
  for (index_t c = first; c < last; ++c) {
    double* values = sums + (c - first) * kRowsAtOnce;
    const double norm = columns.squared_norms[at(c)];
    for (index_t r = 0; r < n; ++r) {
      const bool are_far = norms[r] > far && norm > far;
      values[r] = are_far ? squared_distance(view_, rows[r], columns.view, columns.rows[at(c)])
                          : std::max(0.0, (norms[r] + norm) - 2 * values[r]);
    }
  }
}

template class SparseColumns<float>;
template class SparseColumns<double>;
template class SparseKernel<float>;
template class SparseKernel<double>;

}  // namespace fastpu::detail
