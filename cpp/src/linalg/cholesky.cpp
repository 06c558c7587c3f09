#include "linalg/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "linalg/row_kernels.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

// In place of a pivot that rounding has left nothing of.
constexpr double kHuge = 1e100;

}  // namespace

Cholesky::Cholesky(index_t n, Isa isa, const char* what_for)
    : n_(n),
      stride_(round_up(n, kPanelWidth)),
      isa_(isa),
      matrix_(AlignedBuffer<double>::zeros(stride_ * stride_, what_for)),
      scale_(make_vector<double>(n, what_for)),
      inverse_(make_vector<double>(n, what_for)) {}

index_t Cholesky::factor() {
  double* a = matrix_.data();
  for (index_t i = 0; i < n_; ++i) {
    const double diagonal = a[i * stride_ + i];
    scale_[at(i)] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1.0;
  }
  for (index_t i = 0; i < n_; ++i) {
    const double scale = scale_[at(i)];
    for (index_t j = i; j < n_; ++j) a[i * stride_ + j] *= scale * scale_[at(j)];
  }
  // Less than rounding may leave of a pivot that is 1 to begin with; more would throw away what counts.
  const double least = 1e-18 * static_cast<double>(n_);
  index_t n_left_out = 0;
  constexpr index_t kPivots = 8;
  const RowKernels& kernels = row_kernels(isa_);
  for (index_t first = 0; first < n_; first += kPivots) {
    const index_t last = std::min(first + kPivots, n_);
    for (index_t k = first; k < last; ++k) {
      double* row = a + k * stride_;
      for (index_t pivot = first; pivot < k; ++pivot) {
        const double* from = a + pivot * stride_;
        const double factor = from[k];
        for (index_t j = k; j < n_; ++j) row[j] -= factor * from[j];
      }
      if (!(row[k] > least)) {
        std::fill(row + k, row + n_, 0.0);
        inverse_[at(k)] = 1 / kHuge;
        ++n_left_out;
        continue;
      }
      const double inverse = 1 / std::sqrt(row[k]);
      inverse_[at(k)] = inverse;
      for (index_t j = k + 1; j < n_; ++j) row[j] *= inverse;
    }
    if (last < n_) kernels.eliminate(a, stride_, n_, first, last - first);
  }
  return n_left_out;
}

void Cholesky::solve(double* x) const {
  const double* u = matrix_.data();
  for (index_t i = 0; i < n_; ++i) x[i] *= scale_[at(i)];
  for (index_t i = 0; i < n_; ++i) {  // U'
    const double* row = u + i * stride_;
    const double value = x[i] * inverse_[at(i)];
    x[i] = value;
    for (index_t j = i + 1; j < n_; ++j) x[j] -= value * row[j];
  }
  for (index_t i = n_ - 1; i >= 0; --i) {  // U
    const double* row = u + i * stride_;
    const double sum = sum_in_lanes<8>(i + 1, n_, [&](index_t j) { return row[j] * x[j]; });
    x[i] = (x[i] - sum) * inverse_[at(i)];
  }
  for (index_t i = 0; i < n_; ++i) x[i] *= scale_[at(i)];
}

void Cholesky::solve(const std::vector<double*>& columns) const {
  AlignedBuffer<double> x(n_ * kPanelWidth, "solutions of a factored system");
  for (std::size_t first = 0; first < columns.size(); first += kPanelWidth) {
    const std::size_t n_columns = std::min<std::size_t>(kPanelWidth, columns.size() - first);
    std::fill_n(x.data(), n_ * kPanelWidth, 0.0);
    for (std::size_t c = 0; c < n_columns; ++c) {
      for (index_t i = 0; i < n_; ++i)
        x[i * kPanelWidth + static_cast<index_t>(c)] = columns[first + c][i] * scale_[at(i)];
    }
    row_kernels(isa_).solve_eight(matrix_.data(), stride_, n_, inverse_.data(), x.data());
    for (std::size_t c = 0; c < n_columns; ++c) {
      for (index_t i = 0; i < n_; ++i)
        columns[first + c][i] = x[i * kPanelWidth + static_cast<index_t>(c)] * scale_[at(i)];
    }
  }
}

}  // namespace fastpu::detail
