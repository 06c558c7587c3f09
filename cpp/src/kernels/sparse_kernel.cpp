#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/add_exactly.hpp"
#include "kernels/kernels.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kRowsAtOnce = 8;

// Where gamma |x|^2 of both rows of a pair is larger than this, they lie so far from the origin that rounding of
// |x|^2 - 2 x'z + |z|^2 changes their kernel value by some 1e-10. Such a pair is summed with twice as many digits.
constexpr double kFar = 65536.0;

// A sum of products as the number nearest to it and the rest (Ogita, Rump and Oishi, 2005, algorithm Dot2).
struct Sum2 {
  double sum = 0;
  double rest = 0;
};

inline double rest_of_product(double a, double b, double product) {
  constexpr double kSplit = 0x1p27 + 1;
  const double a_high = kSplit * a - (kSplit * a - a);
  const double b_high = kSplit * b - (kSplit * b - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

inline void add_product(double a, double b, Sum2& to) {
  const double product = a * b;
  const double sum = to.sum + product;
  to.rest += rest_of_sum(to.sum, product, sum) + rest_of_product(a, b, product);
  to.sum = sum;
}

template <class T>
Sum2 exact_squared_norm(const CsrView<T>& view, index_t row) {
  Sum2 norm;
  for (index_t e = view.row_start[row]; e < view.row_start[row + 1]; ++e) {
    const auto value = static_cast<double>(view.values[e]);
    add_product(value, value, norm);
  }
  return norm;
}

// Exactly 0 for equal rows, and the same for x and z as for z and x.
double squared_distance(const Sum2& x, const Sum2& z, const Sum2& product) {
  const double norms = x.sum + z.sum;
  const double distance = norms - 2 * product.sum;
  const double rest = rest_of_sum(x.sum, z.sum, norms) + ((x.rest + z.rest) - 2 * product.rest);
  return std::max(0.0, distance + (rest_of_sum(norms, -2 * product.sum, distance) + rest));
}

}  // namespace

template <class T>
SparseColumns<T>::SparseColumns(const CsrView<T>& view, const index_t* rows, index_t n)
    : view_(view),
      rows_(make_vector<index_t>(n, "columns of a kernel")),
      squared_norms_(make_vector<double>(n, "norms of the columns of a kernel")) {
  for (index_t c = 0; c < n; ++c) {
    const index_t row = rows == nullptr ? c : rows[c];
    rows_[at(c)] = row;
    squared_norms_[at(c)] = detail::squared_norm(view, row);
    if (!std::isfinite(squared_norms_[at(c)])) {
      throw std::invalid_argument("row " + std::to_string(row) + " is too large to be squared: scale X");
    }
  }
}

template <class T>
SparseKernel<T>::SparseKernel(const CsrView<T>& view, const KernelParams& params, const Team& team)
    : view_(view), params_(params), loops_(svm_kernels(team.isa()).of<T>()), scratch_(at(team.n_threads())) {}

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
                           T* const* out, int worker) const {
  const auto& chosen = static_cast<const SparseColumns<T>&>(columns);
  const CsrView<T>& other = chosen.view();
  Scratch& scratch = scratch_[at(worker)];
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
    if (is_of_distances(params_)) to_distances(rows + k, n_now, chosen, first, last, work, sums);
    scatter(k, n_now, false);
    for (index_t r = 0; r < n_now; ++r) {
      for (index_t c = first; c < last; ++c) {
        out[k + r][c - first] = static_cast<T>(sums[(c - first) * kRowsAtOnce + r]);
      }
      for (index_t c = last; c < round_up(last, kKernelPanel); ++c) out[k + r][c - first] = T{};
      transform(params_, loops_, out[k + r], round_up(last - first, kKernelPanel));
    }
  }
}

// Squared distances in place of the products of rows, which lie side by side in `work`, with columns.
template <class T>
void SparseKernel<T>::to_distances(const index_t* rows, index_t n, const SparseColumns<T>& columns, index_t first,
                                   index_t last, const T* work, double* sums) const {
  const double far = kFar / params_.gamma;
  double norms[kRowsAtOnce] = {};
  Sum2 exact_norms[kRowsAtOnce];
  bool has_far = false;
  for (index_t r = 0; r < n; ++r) {
    norms[r] = squared_norm(view_, rows[r]);
    if (norms[r] <= far) continue;
    has_far = true;
    exact_norms[r] = exact_squared_norm(view_, rows[r]);
  }
  const CsrView<T>& other = columns.view();
  for (index_t c = first; c < last; ++c) {
    double* values = sums + (c - first) * kRowsAtOnce;
    const double norm = columns.squared_norm(c);
    for (index_t r = 0; r < n; ++r) values[r] = std::max(0.0, (norms[r] + norm) - 2 * values[r]);
    if (!has_far || norm <= far) continue;
    const Sum2 exact_norm = exact_squared_norm(other, columns.row(c));
    Sum2 products[kRowsAtOnce];
    for (index_t e = other.row_start[columns.row(c)]; e < other.row_start[columns.row(c) + 1]; ++e) {
      const T* at = work + static_cast<index_t>(other.columns[e]) * kRowsAtOnce;
      const auto value = static_cast<double>(other.values[e]);
      for (index_t r = 0; r < kRowsAtOnce; ++r) add_product(static_cast<double>(at[r]), value, products[r]);
    }
    for (index_t r = 0; r < n; ++r) {
      if (norms[r] > far) values[r] = squared_distance(exact_norms[r], exact_norm, products[r]);
    }
  }
}

template class SparseColumns<float>;
template class SparseColumns<double>;
template class SparseKernel<float>;
template class SparseKernel<double>;

}  // namespace fastpu::detail
