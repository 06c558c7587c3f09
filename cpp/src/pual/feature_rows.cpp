#include "pual/feature_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "linalg/row_products.hpp"

namespace fastpu::detail {
namespace {

constexpr index_t kBlockRows = 1024;   // at least so many rows in a block
constexpr index_t kMostBlocks = 32;    // of which sums are kept
constexpr double kWorthThreads = 2e6;  // a thread is woken for so many multiplications at least

template <class T>
BlasMatrix<T> columns_of(BlasMatrix<T> a, index_t first, index_t end) {
  return {a.data + first, a.n_rows, end - first, a.stride};
}
template <class T>
BlasMatrix<T> row_of(BlasMatrix<T> a, index_t k) {
  return {a.data + k * a.stride, 1, a.n_cols, a.stride};
}

BlasMatrix<const double> block_of(const DenseView<double>& x, index_t first, index_t end) {
  return {x.row(first), end - first, x.n_cols, x.n_cols};
}

// The columns first to end - 1 of out = w X'
void multiply_block(const DenseView<double>& x, index_t first, index_t end, BlasMatrix<const double> w,
                    BlasMatrix<double> out, const Blas& blas) {
  const auto block = block_of(x, first, end);
  if (w.n_rows == 1) return blas.gemv(Op::none, 1.0, block, w.data, 0.0, out.data + first);
  blas.gemm(Op::none, Op::transpose, 1.0, w, block, 0.0, columns_of(out, first, end));
}

void multiply_block(const CsrView<double>& x, index_t first, index_t end, BlasMatrix<const double> w,
                    BlasMatrix<double> out, const Blas& /*blas*/) {
  for (index_t i = first; i < end; ++i) {
    for (index_t k = 0; k < w.n_rows; ++k) out.data[k * out.stride + i] = dot(x, i, w.data + k * w.stride);
  }
}

// out = factors X of the rows first to end - 1
void sum_block(const DenseView<double>& x, index_t first, index_t end, BlasMatrix<const double> factors,
               BlasMatrix<double> out, const Blas& blas) {
  const auto block = block_of(x, first, end);
  if (factors.n_rows == 1) return blas.gemv(Op::transpose, 1.0, block, factors.data + first, 0.0, out.data);
  blas.gemm(Op::none, Op::none, 1.0, columns_of(factors, first, end), block, 0.0, out);
}

void sum_block(const CsrView<double>& x, index_t first, index_t end, BlasMatrix<const double> factors,
               BlasMatrix<double> out, const Blas& /*blas*/) {
  std::fill_n(out.data, out.n_cols, 0.0);  // sums() comes with one row of factors
  for (index_t i = first; i < end; ++i) add_row(x, i, factors.data[i], out.data);
}

// The most workers of a loop that reads the rows once for each of n vectors.
int workers_of(const PualRows& rows, index_t n) {
  const double entries =
      std::visit([](const auto& x) { return mean_row_size(x) * static_cast<double>(x.n_rows); }, rows.x);
  return entries * static_cast<double>(n) < kWorthThreads ? 1 : std::numeric_limits<int>::max();
}

double sum_of(const double* values, index_t n) {
  return sum_in_lanes<8>(0, n, [&](index_t i) { return values[i]; });
}

void add_squares(const DenseView<double>& x, index_t row, double* sums) {
  const double* const values = x.row(row);
  for (index_t f = 0; f < x.n_cols; ++f) sums[f] += values[f] * values[f];
}
void add_squares(const CsrView<double>& x, index_t row, double* sums) {
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) sums[x.columns[e]] += x.values[e] * x.values[e];
}

std::vector<double> column_lengths(const PualRows& rows, index_t n_columns) {
  std::vector<double> lengths(at(n_columns));
  std::visit(
      [&](const auto& x) {
        for (index_t i = 0; i < x.n_rows; ++i) add_squares(x, i, lengths.data());
      },
      rows.x);
  for (double& length : lengths) length = std::sqrt(length);
  return lengths;
}

}  // namespace

FeatureRows::FeatureRows(const PualRows& rows, const Blas& blas)
    : rows_(rows),
      blas_(blas),
      n_rows_(std::visit([](const auto& x) { return x.n_rows; }, rows.x)),
      n_columns_(std::visit([](const auto& x) { return x.n_cols; }, rows.x)),
      n_features_(is_wide() ? rows.triangle.n_rows : n_columns_) {
  if (rows.mean != nullptr) lengths_ = column_lengths(rows, n_columns_);
}

void FeatureRows::scores(BlasMatrix<const double> betas, BlasMatrix<double> scores, Team& team) const {
  if (!is_wide()) return products(betas, scores, team);
  const index_t n = betas.n_rows;
  auto columns = AlignedBuffer<double>(n * n_columns_, "coefficients of the columns");
  const BlasMatrix<double> w(columns.data(), n, n_columns_);
  for (index_t k = 0; k < n; ++k) to_columns(row_of(betas, k).data, row_of(w, k).data);
  products(w, scores, team);
}

void FeatureRows::slopes(BlasMatrix<const double> on_rows, BlasMatrix<const double> betas, double lam,
                         BlasMatrix<double> along, Team& team) const {
  sums(on_rows, along, team);
  std::vector<double> w(at(n_columns_));
  for (index_t k = 0; k < betas.n_rows; ++k) {
    to_columns(row_of(betas, k).data, w.data());
    double* const to = row_of(along, k).data;
    for (index_t j = 0; j < n_columns_; ++j) to[j] -= lam * w[at(j)];
  }
}

// With V = (X - mean)'A for Z'A = I, where A has rows of the inverse triangle at the pivots and zeros elsewhere:
// w = V beta, and the slope along the features is V' times that along the columns.
void FeatureRows::to_columns(const double* beta, double* w) const {
  if (!is_wide()) {
    std::copy_n(beta, n_columns_, w);
    return;
  }
  std::vector<double> factors(at(n_features_));
  std::reverse_copy(beta, beta + n_features_, factors.begin());
  blas_.trsm(Op::none, rows_.triangle, {factors.data(), 1, n_features_});
  std::fill_n(w, n_columns_, 0.0);
  std::visit(
      [&](const auto& x) {
        for (index_t k = 0; k < n_features_; ++k) add_row(x, rows_.pivots[k], factors[at(k)], w);
      },
      rows_.x);
  const double total = sum_of(factors.data(), n_features_);
  for (index_t j = 0; j < n_columns_; ++j) w[j] -= total * rows_.mean[j];
}

void FeatureRows::to_features(const double* along, double* out) const {
  if (!is_wide()) {
    std::copy_n(along, n_features_, out);
    return;
  }
  const double shift = dot(along, rows_.mean, n_columns_);
  std::visit(
      [&](const auto& x) {
        for (index_t k = 0; k < n_features_; ++k) out[k] = dot(x, rows_.pivots[k], along) - shift;
      },
      rows_.x);
  blas_.trsm(Op::transpose, rows_.triangle, {out, 1, n_features_});
  std::reverse(out, out + n_features_);
}

double FeatureRows::steepest(const double* along, double lam, double weight) const {
  if (lengths_.empty()) return 0;
  double most = 0;
  for (index_t j = 0; j < n_columns_; ++j) {
    // 1/2 slope^2 / curvature
    const double size = std::abs(along[j]) / std::hypot(std::sqrt(lam), std::sqrt(weight) * lengths_[at(j)]);
    if (!(size <= most)) most = size;  // NaN too
  }
  return most;
}

// out = (x_i - mean)'w of all rows, for each row w
void FeatureRows::products(BlasMatrix<const double> w, BlasMatrix<double> out, Team& team) const {
  std::visit(
      [&](const auto& x) {
        team.for_blocks(n_rows_, kBlockRows, workers_of(rows_, w.n_rows),
                        [&](index_t first, index_t end, int) { multiply_block(x, first, end, w, out, blas_); });
      },
      rows_.x);
  if (rows_.mean == nullptr) return;
  for (index_t k = 0; k < w.n_rows; ++k) {
    const double shift = dot(row_of(w, k).data, rows_.mean, n_columns_);
    double* const to = row_of(out, k).data;
    for (index_t i = 0; i < n_rows_; ++i) to[i] -= shift;
  }
}

// out = sum_i factors_i (x_i - mean), for each row of factors
void FeatureRows::sums(BlasMatrix<const double> factors, BlasMatrix<double> out, Team& team) const {
  if (std::holds_alternative<CsrView<double>>(rows_.x) && factors.n_rows > 1) {
    // Sparse rows gain nothing from several at once, whose sums take memory for each block.
    for (index_t k = 0; k < factors.n_rows; ++k) sums(row_of(factors, k), row_of(out, k), team);
    return;
  }
  const index_t block_rows = std::max(kBlockRows, count_blocks(n_rows_, kMostBlocks));
  const index_t n_blocks = count_blocks(n_rows_, block_rows);
  const index_t size = out.n_rows * out.n_cols;
  auto parts = AlignedBuffer<double>(n_blocks * size, "sums of rows");
  std::visit(
      [&](const auto& x) {
        team.for_blocks(n_rows_, block_rows, workers_of(rows_, out.n_rows), [&](index_t first, index_t end, int) {
          const BlasMatrix<double> part(parts.data() + first / block_rows * size, out.n_rows, out.n_cols);
          sum_block(x, first, end, factors, part, blas_);
        });
      },
      rows_.x);
  for (index_t k = 0; k < out.n_rows; ++k) {
    double* const to = row_of(out, k).data;
    const double* const from = parts.data() + k * out.n_cols;
    const double total = rows_.mean == nullptr ? 0.0 : sum_of(row_of(factors, k).data, n_rows_);
    for (index_t j = 0; j < out.n_cols; ++j) {
      double sum = 0;
      for (index_t block = 0; block < n_blocks; ++block) sum += from[block * size + j];
      to[j] = rows_.mean == nullptr ? sum : sum - total * rows_.mean[j];
    }
  }
}

}  // namespace fastpu::detail
