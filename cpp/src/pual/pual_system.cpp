#include "fastpu/pual/pual_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/linalg/tiled_blas.hpp"

namespace fastpu {
namespace {

constexpr double kLeastPivot = 1e-14;  // a pivot below this share of its diagonal entry is rounding
constexpr int kFirstExponent = -14;    // of the shares 10^k that are added to the diagonal
constexpr int kShares = 16;

std::vector<double> diagonal_of(const PualSystem& system, BlasMatrix<const double> more) {
  const index_t n = system.curvature.n_rows;
  std::vector<double> diagonal(at(n));
  for (index_t i = 0; i < n; ++i) diagonal[at(i)] = system.curvature.data[i * system.curvature.stride + i];
  const index_t first = n - more.n_rows;
  for (index_t i = 0; i < more.n_rows; ++i) diagonal[at(first + i)] += more.data[i * more.stride + i];
  return diagonal;
}

// What the attempt of this number adds to the diagonal: nothing, then shares of each entry, and finally shares of the
// largest entry. The last ones are for neighbours' terms that are only rounding errors; whether the minimum is good is
// found out on the rows.
std::vector<double> ridge_of(int attempt, const std::vector<double>& diagonal) {
  if (attempt == 0) return std::vector<double>(diagonal.size());
  const double share = std::pow(10.0, kFirstExponent + (attempt - 1) % kShares);
  std::vector<double> ridge(diagonal);
  if (attempt > kShares) std::ranges::fill(ridge, *std::ranges::max_element(diagonal));
  for (double& value : ridge) value *= share;
  return ridge;
}

std::string named(const PualSystem& system) {
  return "C_unl = " + detail::to_text(system.C_unl) + " and lam = " + detail::to_text(system.lam);
}

}  // namespace

void factor_system(const PualSystem& system, BlasMatrix<const double> more, BlasMatrix<double> factor, const Blas& blas,
                   Team& team) {
  const BlasMatrix<const double> curvature = system.curvature;
  const index_t n = curvature.n_rows;
  if (curvature.n_cols != n || factor.n_rows != n || factor.n_cols != n || more.n_rows > n ||
      more.n_cols != more.n_rows) {
    throw std::invalid_argument("the matrices of a system must be square, and the factor as large as the curvature");
  }
  const std::vector<double> diagonal = diagonal_of(system, more);
  if (!std::ranges::all_of(diagonal, [](double value) { return std::isfinite(value); })) {
    throw std::invalid_argument("X must have entries so small that their squares do not overflow, with " +
                                named(system) + "; scale X");
  }
  const index_t first = n - more.n_rows;
  for (int attempt = 0; attempt <= 2 * kShares; ++attempt) {
    const std::vector<double> ridge = ridge_of(attempt, diagonal);
    std::vector<double> whole(diagonal);
    for (index_t i = 0; i < n; ++i) {
      double* const row = factor.data + i * factor.stride;
      std::copy_n(curvature.data + i * curvature.stride, i, row);
      for (index_t j = first; j < i; ++j) row[j] += more.data[(i - first) * more.stride + (j - first)];
      row[i] = whole[at(i)] += std::max(system.lam, ridge[at(i)]);
    }
    if (TiledBlas(blas, team).cholesky(factor) != 0) continue;
    if (std::ranges::any_of(ridge, [](double value) { return value != 0; })) return;
    bool is_certain = true;
    for (index_t i = 0; i < n; ++i) {
      const double pivot = factor.data[i * factor.stride + i];
      is_certain = is_certain && pivot * pivot / whole[at(i)] > kLeastPivot;
    }
    if (is_certain) return;
  }
  throw std::invalid_argument("X must have columns of one size with " + named(system) +
                              ", got columns so small that rounding hides their squares beside those of others; scale "
                              "the features of X");
}

std::vector<PualSolution> solve_pual(const PualSystem& system, BlasMatrix<const double> positives, index_t n_unl,
                                     const std::vector<double>& costs, const PualDualOptions& options,
                                     BlasMatrix<double> factor, const Blas& blas, const PualCallback& callback,
                                     Team& team) {
  factor_system(system, {nullptr, 0, 0}, factor, blas, team);
  const TiledBlas tiles(blas, team);
  const index_t n = factor.n_rows;
  const index_t n_pos = positives.n_rows;
  const index_t rank = positives.n_cols;
  const index_t first = n - rank;

  // H = [Z_p L^-T, 1 / sqrt(2 C_unl n_unl)], and `half`, its part without the intercept's column
  auto part = AlignedBuffer<double>(n_pos * rank, "the factor of the dual");
  for (index_t i = 0; i < n_pos; ++i) std::copy_n(positives.data + i * positives.stride, rank, part.data() + i * rank);
  const BlasMatrix<double> half(part.data(), n_pos, rank);
  tiles.solve({factor.data + first * factor.stride + first, rank, rank, factor.stride}, half);
  const double of_intercept = 1 / std::sqrt(2 * system.C_unl * static_cast<double>(n_unl));
  auto whole = AlignedBuffer<double>(n_pos * (rank + 1), "the factor of the dual");
  for (index_t i = 0; i < n_pos; ++i) {
    std::copy_n(part.data() + i * rank, rank, whole.data() + i * (rank + 1));
    whole[i * (rank + 1) + rank] = of_intercept;
  }

  const PualDual dual({whole.data(), n_pos, rank + 1}, blas, team);
  std::vector<PualSolution> solutions;
  for (PualResult& result : dual.solve(costs, options, callback, team)) solutions.push_back({std::move(result), {}});

  // L'beta, for all costs at once
  const auto n_solved = static_cast<index_t>(solutions.size());
  auto alphas = AlignedBuffer<double>(n_solved * n_pos, "the dual variables");
  for (index_t k = 0; k < n_solved; ++k) std::ranges::copy(solutions[at(k)].alpha, alphas.data() + k * n_pos);
  auto products = AlignedBuffer<double>(n_solved * rank, "the solutions");
  tiles.product({alphas.data(), n_solved, n_pos}, half, {products.data(), n_solved, rank});
  for (index_t k = 0; k < n_solved; ++k) {
    solutions[at(k)].half.assign(products.data() + k * rank, products.data() + (k + 1) * rank);
  }
  return solutions;
}

}  // namespace fastpu
