#include "pual/box_gram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/to_text.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

// Q is kept as a matrix if H has at most so many rows per column: computing with Q is then cheaper than with H.
constexpr index_t kDenseRows = 2;

}  // namespace

BoxGram::BoxGram(BlasMatrix<const double> factor, const Blas& blas, Team& team)
    : blas_(blas), loops_(vector_kernels(team.isa())), n_(factor.n_rows), rank_(factor.n_cols) {
  if (n_ < 1 || rank_ < 1) throw std::invalid_argument("the factor must have at least one row and one column");
  factor_ = AlignedBuffer<double>(n_ * rank_, "the factor of the dual problem");
  diagonal_ = AlignedBuffer<double>(n_, "the dual problem");
  for (index_t i = 0; i < n_; ++i) {
    const double* row = factor.data + i * factor.stride;
    std::copy_n(row, rank_, factor_.data() + i * rank_);
    diagonal_[i] = dot(row, row, rank_);
    trace_ += diagonal_[i];
  }
  if (!std::isfinite(trace_)) {
    throw std::invalid_argument("the squares of the factor must have a finite sum, got " + to_text(trace_));
  }
  if (n_ > kDenseRows * rank_) return;
  gram_ = AlignedBuffer<double>(n_ * n_, "the matrix of the dual problem");
  const BlasMatrix<double> gram(gram_.data(), n_, n_);
  TiledBlas(blas_, team).symmetric_product(Op::none, this->factor(), this->factor(), gram);
  for (index_t i = 0; i < n_; ++i) gram_[i * n_ + i] = diagonal_[i];
}

void BoxGram::apply(const double* x, double* out) const {
  if (is_dense()) {
    blas_.gemv(Op::none, 1.0, gram(), x, 0.0, out);
    return;
  }
  std::vector<double> w(at(rank_));
  blas_.gemv(Op::transpose, 1.0, factor(), x, 0.0, w.data());
  blas_.gemv(Op::none, 1.0, factor(), w.data(), 0.0, out);
}

void BoxGram::take(const std::vector<index_t>& rows, double* out) const {
  const std::size_t size = rows.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) out[i * size + j] = gram_[rows[i] * n_ + rows[j]];
  }
}

void BoxGram::descend(double cost, double* alpha, double* q_alpha) const {
  for (index_t i = 0; i < n_; ++i) {
    if (!(diagonal_[i] > 0)) continue;
    const double moved = std::clamp(alpha[i] - (q_alpha[i] - 2) / diagonal_[i], 0.0, cost);
    const double change = moved - alpha[i];
    if (change == 0) continue;
    alpha[i] = moved;
    loops_.add(q_alpha, change, gram_.data() + i * n_, n_);
  }
}

BoxValue box_value(double cost, const std::vector<double>& alpha, const std::vector<double>& q_alpha) {
  BoxValue value;
  double square = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const double lack = 2 - q_alpha[i];  // 1 - f
    value.objective += cost * std::max(lack, 0.0);
    // Every term is >= 0, so no large sums cancel.
    value.gap += lack > 0 ? (cost - alpha[i]) * lack : -alpha[i] * lack;
    square += alpha[i] * q_alpha[i];
  }
  value.objective += 0.5 * square;
  return value;
}

}  // namespace fastpu::detail
