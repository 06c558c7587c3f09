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

bool is_square(BlasMatrix<const double> a, index_t n) { return a.n_rows == n && a.n_cols == n; }

// out = 2 C_unl Z_u'Z_u + 2 Z'RZ in the columns first to end - 1 of a row
void curvature_of(const PualSystem& system, index_t row, index_t first, index_t end, double* out) {
  const double* const of_unl = system.of_unl.data + row * system.of_unl.stride;
  for (index_t j = first; j < end; ++j) out[j - first] = 2 * system.C_unl * of_unl[j];
  if (system.of_neighbours.n_rows == 0) return;
  const double* const of_neighbours = system.of_neighbours.data + row * system.of_neighbours.stride;
  for (index_t j = first; j < end; ++j) out[j - first] += 2 * of_neighbours[j];
}

std::vector<double> diagonal_of(const PualSystem& system, BlasMatrix<const double> more) {
  const index_t n = system.of_unl.n_rows;
  std::vector<double> diagonal(at(n));
  for (index_t i = 0; i < n; ++i) curvature_of(system, i, i, i + 1, &diagonal[at(i)]);
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
  const index_t n = system.of_unl.n_rows;
  const index_t n_neighbours = system.of_neighbours.n_rows;
  if (!is_square(system.of_unl, n) || !is_square(system.of_neighbours, n_neighbours) || !is_square(factor, n) ||
      !is_square(more, more.n_rows) || more.n_rows > n || (n_neighbours != 0 && n_neighbours != n)) {
    throw std::invalid_argument("the matrices of a system must be square and of one size");
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
      curvature_of(system, i, 0, i, row);
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

}  // namespace fastpu
