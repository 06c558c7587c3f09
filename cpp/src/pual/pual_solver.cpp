#include "fastpu/pual/pual_solver.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "fastpu/linalg/tiled_blas.hpp"
#include "fastpu/pual/pual_system.hpp"
#include "linalg/row_products.hpp"
#include "pual/feature_rows.hpp"
#include "pual/quadratic.hpp"

namespace fastpu {
namespace {

using detail::Quadratic;
using detail::QuadraticMinimum;

constexpr double kEnough = 0.01;        // the refinement ends at this share of the gap that tol allows
constexpr double kMostMisfit = 1e-8;    // largest cosine between a column and the residual of the rows
constexpr double kMostExcess = 1e-9;    // excess over the minimum, relative to the objective, accepted whatever tol is
constexpr double kSumRounding = 1e-13;  // relative rounding error of the terms of a sum that may cancel

// Whether gap and gradient are within `tol` or rounding, for sums whose terms add up to `size`.
bool is_right(double gap, double objective, double size, double misfit, double tol) {
  return gap <= std::max(tol, kMostExcess) * objective + kSumRounding * size && misfit <= kMostMisfit;
}

template <class Term>
double sum_of_terms(index_t n, Term&& term) {
  return detail::sum_in_lanes<8>(0, n, std::forward<Term>(term));
}

// Twice the cost of all unlabelled rows.
double curvature_of_unl(const PualRows& rows, const PualPoint& point) { return 2 * point.C_unl * rows.mass_unl; }

double sum_of(const std::vector<double>& values) {
  return sum_of_terms(static_cast<index_t>(values.size()), [&](index_t i) { return values[at(i)]; });
}

// lam/2 |beta|^2
double ridge_of(const std::vector<double>& beta, double lam) {
  return 0.5 * lam * detail::dot(beta.data(), beta.data(), static_cast<index_t>(beta.size()));
}

// Takes beta and the scores from the minimum, and adds the offset.
PualSolution shifted_solution(QuadraticMinimum& minimum, double offset) {
  PualSolution solution;
  solution.beta = std::move(minimum.beta);
  solution.offset = offset;
  solution.scores = std::move(minimum.f);
  for (double& score : solution.scores) score += offset;
  return solution;
}

// Records the solution itself, behind the steps of the solver.
void record(PualSolution& solution, index_t n_iter, double objective, double gap) {
  solution.iterations.push_back(n_iter);
  solution.objectives.push_back(objective);
  solution.gaps.push_back(gap);
}

// ---- PUAL
//
// A = L L' gives the matrix of the dual (pual.hpp),
//
//     Q = H H',   H = [Z_p L^-T, 1 / sqrt(2 C_unl n_unl)],   L'beta = (Z_p L^-T)'alpha
//
// and C_pos occurs in the box of the dual alone: points that differ in C_pos share A, L and H.

// Z_p L^-T, but for its first columns, which are 0.
AlignedBuffer<double> whitened_positives(BlasMatrix<const double> positives, BlasMatrix<const double> factor,
                                         const TiledBlas& tiles) {
  const index_t rank = positives.n_cols;
  auto whitened = AlignedBuffer<double>(positives.n_rows * rank, "the factor of the dual");
  for (index_t i = 0; i < positives.n_rows; ++i) {
    std::copy_n(positives.data + i * positives.stride, rank, whitened.data() + i * rank);
  }
  const index_t first = factor.n_rows - rank;
  const double* const corner = factor.data + first * factor.stride + first;
  tiles.solve({corner, rank, rank, factor.stride}, {whitened.data(), positives.n_rows, rank});
  return whitened;
}

// H: the whitened positives, with the column of the intercept.
AlignedBuffer<double> factor_of_dual(BlasMatrix<const double> whitened, double of_unl) {
  const index_t rank = whitened.n_cols;
  auto factor = AlignedBuffer<double>(whitened.n_rows * (rank + 1), "the factor of the dual");
  for (index_t i = 0; i < whitened.n_rows; ++i) {
    double* const row = factor.data() + i * (rank + 1);
    std::copy_n(whitened.data + i * rank, rank, row);
    row[rank] = 1 / std::sqrt(of_unl);
  }
  return factor;
}

// beta of each solution of the dual.
AlignedBuffer<double> betas_of(const std::vector<PualResult>& duals, BlasMatrix<const double> whitened,
                               BlasMatrix<const double> factor, const Blas& blas, const TiledBlas& tiles) {
  const auto n = static_cast<index_t>(duals.size());
  auto alphas = AlignedBuffer<double>(n * whitened.n_rows, "the dual variables");
  for (index_t k = 0; k < n; ++k) std::ranges::copy(duals[at(k)].alpha, alphas.data() + k * whitened.n_rows);
  auto products = AlignedBuffer<double>(n * whitened.n_cols, "the solutions");
  tiles.product({alphas.data(), n, whitened.n_rows}, whitened, {products.data(), n, whitened.n_cols});
  auto betas = AlignedBuffer<double>::zeros(n * factor.n_rows, "the solutions");
  for (index_t k = 0; k < n; ++k) {
    std::copy_n(products.data() + k * whitened.n_cols, whitened.n_cols,
                betas.data() + (k + 1) * factor.n_rows - whitened.n_cols);
  }
  blas.trsm(Op::none, factor, {betas.data(), n, factor.n_rows});
  return betas;
}

// alpha at the positives, and what makes the sum 0 at the unlabelled rows, for each solution of the dual.
AlignedBuffer<double> targets_of(const std::vector<PualResult>& duals, const PualRows& rows, index_t n_rows) {
  auto targets = AlignedBuffer<double>(static_cast<index_t>(duals.size()) * n_rows, "the targets of the rows");
  for (std::size_t k = 0; k < duals.size(); ++k) {
    const PualResult& dual = duals[k];
    double* const target = targets.data() + static_cast<index_t>(k) * n_rows;
    const double total = sum_of(dual.alpha);
    for (index_t i = 0; i < n_rows; ++i) target[i] = -total * rows.shares_unl[i];
    for (std::size_t i = 0; i < dual.alpha.size(); ++i) target[rows.pos[i]] = dual.alpha[i];
  }
  return targets;
}

// The solution at the minimum for alpha, with the objective, the gap and the status that its scores have.
PualSolution pual_solution(PualResult& dual, QuadraticMinimum& minimum, const Quadratic& quadratic,
                           const PualRows& rows, const PualPoint& point, double cost, double tol) {
  const double of_unl = curvature_of_unl(rows, point);
  const double neighbours_term = quadratic.neighbours_term(minimum.f);
  PualSolution solution = shifted_solution(minimum, sum_of(dual.alpha) / of_unl - 1 - quadratic.mean(minimum.f));
  const std::vector<double>& f = solution.scores;
  const auto n_pos = static_cast<index_t>(dual.alpha.size());
  const auto lack = [&](index_t i) { return 1 - f[at(rows.pos[i])]; };
  const double hinge = sum_of_terms(n_pos, [&](index_t i) { return cost * std::max(lack(i), 0.0); });
  const double squares = sum_of_terms(static_cast<index_t>(f.size()),
                                      [&](index_t i) { return rows.shares_unl[i] * (1 + f[at(i)]) * (1 + f[at(i)]); });
  const double objective = ridge_of(solution.beta, point.lam) + hinge + 0.5 * of_unl * squares + neighbours_term;
  const double gap = 0.5 * minimum.excess + sum_of_terms(n_pos, [&](index_t i) {
                       const double alpha = dual.alpha[at(i)];  // every term is >= 0, so no large sums cancel
                       return lack(i) > 0 ? (cost - alpha) * lack(i) : -alpha * lack(i);
                     });
  solution.status = dual.status;
  if (dual.status == PualStatus::gap || dual.status == PualStatus::precision) {
    const double size = cost * static_cast<double>(n_pos) + 0.5 * of_unl;
    const bool is_solved = is_right(gap, objective, size, minimum.misfit, 2 * tol);
    solution.status = is_solved ? PualStatus::gap : PualStatus::precision;
  }
  solution.alpha = std::move(dual.alpha);
  solution.iterations = std::move(dual.iterations);
  solution.objectives = std::move(dual.objectives);
  solution.gaps = std::move(dual.gaps);
  record(solution, dual.n_iter, objective, gap);
  return solution;
}

// ---- Least squares
//
// With the unlabelled mean at 0 and m that of the positives, the intercept goes out and leaves
//
//     (lam + 2 C_pos (Z_p - m)'W(Z_p - m) + 2 C_unl Z_u'W Z_u + 2 Z'RZ + k m m') beta = 2 k m,
//     1/k = 1 / (2 C_pos W_p) + 1 / (2 C_unl W_u)
//
// with W the weights of the rows, and their sums W_p and W_u.

// m
std::vector<double> mean_of_positives(const PualRows& rows, const Blas& blas) {
  std::vector<double> mean(at(rows.positives.n_cols));
  blas.gemv(Op::transpose, 1.0, rows.positives, rows.shares_pos, 0.0, mean.data());
  return mean;
}

// (Z_p - m)'W(Z_p - m)
AlignedBuffer<double> spread_of_positives(const PualRows& rows, const std::vector<double>& mean,
                                          const TiledBlas& tiles) {
  const index_t n_pos = rows.positives.n_rows;
  const index_t rank = rows.positives.n_cols;
  auto scaled = AlignedBuffer<double>(n_pos * rank, "the centred positives");
  for (index_t i = 0; i < n_pos; ++i) {
    const double* const row = rows.positives.data + i * rows.positives.stride;
    const double root = std::sqrt(rows.shares_pos[i] * rows.mass_pos);
    for (index_t j = 0; j < rank; ++j) scaled[i * rank + j] = (row[j] - mean[at(j)]) * root;
  }
  auto spread = AlignedBuffer<double>(rank * rank, "the products of the positives");
  tiles.gram({scaled.data(), n_pos, rank}, {spread.data(), rank, rank});
  return spread;
}

// The costs of all rows, doubled.
std::vector<double> curvatures_of(const PualRows& rows, index_t n_rows, double of_pos, double of_unl) {
  std::vector<double> weights(at(n_rows));
  for (index_t i = 0; i < n_rows; ++i) weights[at(i)] = of_unl * rows.shares_unl[i];
  for (index_t i = 0; i < rows.positives.n_rows; ++i) weights[at(rows.pos[i])] = of_pos * rows.shares_pos[i];
  return weights;
}

// The solution at the minimum, with the objective, the gap and the status that its scores have.
PualSolution least_squares_solution(QuadraticMinimum& minimum, const Quadratic& quadratic, const PualRows& rows,
                                    double of_pos, double of_unl, double lam) {
  const double total = of_pos + of_unl;
  const double neighbours_term = quadratic.neighbours_term(minimum.f);
  PualSolution solution = shifted_solution(minimum, (of_pos - of_unl) / total - quadratic.mean(minimum.f));
  const std::vector<double>& f = solution.scores;
  const double squares_unl = sum_of_terms(
      static_cast<index_t>(f.size()), [&](index_t i) { return rows.shares_unl[i] * (1 + f[at(i)]) * (1 + f[at(i)]); });
  const double squares_pos = sum_of_terms(rows.positives.n_rows, [&](index_t i) {
    const double lack = 1 - f[at(rows.pos[i])];
    return rows.shares_pos[i] * lack * lack;
  });
  const double losses = 0.5 * (of_unl * squares_unl + of_pos * squares_pos);
  const double objective = ridge_of(solution.beta, lam) + losses + neighbours_term;
  const double gap = 0.5 * minimum.excess;
  const bool is_solved = is_right(gap, objective, total, minimum.misfit, 0.0);
  solution.status = is_solved ? PualStatus::closed_form : PualStatus::precision;
  record(solution, 0, objective, gap);
  return solution;
}

}  // namespace

PualSolver::PualSolver(const PualRows& rows, const Blas& blas)
    : rows_(rows), blas_(blas), features_(std::make_unique<detail::FeatureRows>(rows, blas)) {
  const index_t n = features_->n_features();
  if (rows.gram_unl.n_rows != n || rows.gram_unl.n_cols != n || rows.triangle.n_cols != rows.triangle.n_rows ||
      rows.positives.n_cols > n || rows.positives.n_rows < 1) {
    throw std::invalid_argument("the matrices of the rows must be of one number of features, with a positive row");
  }
  factor_ = AlignedBuffer<double>(n * n, "the factor of the system");
}

PualSolver::~PualSolver() = default;

BlasMatrix<const double> PualSolver::factored(const PualNeighbours& neighbours, const PualPoint& point,
                                              BlasMatrix<const double> more, Team& team) {
  const index_t n = features_->n_features();
  const BlasMatrix<double> factor(factor_.data(), n, n);
  factor_system({rows_.gram_unl, neighbours.gram, point.C_unl, point.lam}, more, factor, blas_, team);
  return factor;
}

std::vector<PualSolution> PualSolver::solve_pual(const PualNeighbours& neighbours, const PualPoint& point,
                                                 const std::vector<double>& costs, const PualDualOptions& options,
                                                 const PualCallback& callback, Team& team) {
  const TiledBlas tiles(blas_, team);
  const index_t n = features_->n_rows();
  const index_t n_pos = rows_.positives.n_rows;
  const index_t rank = rows_.positives.n_cols;
  const double of_unl = curvature_of_unl(rows_, point);
  const BlasMatrix<const double> factor = factored(neighbours, point, {nullptr, 0, 0}, team);
  const AlignedBuffer<double> half = whitened_positives(rows_.positives, factor, tiles);
  const BlasMatrix<const double> whitened(half.data(), n_pos, rank);
  const AlignedBuffer<double> whole = factor_of_dual(whitened, of_unl);
  const PualDual dual({whole.data(), n_pos, rank + 1}, blas_, team);
  std::vector<PualResult> duals = dual.solve(costs, options, callback, team);

  const auto n_solved = static_cast<index_t>(duals.size());
  const AlignedBuffer<double> starts = betas_of(duals, whitened, factor, blas_, tiles);
  const AlignedBuffer<double> targets = targets_of(duals, rows_, n);
  auto enough = reserve_vector<double>(n_solved, "the accepted gaps");
  for (const PualResult& result : duals) enough.push_back(kEnough * options.tol * result.objective);
  const Quadratic quadratic({*features_, neighbours.laplacian, point.lam, factor}, curvatures_of(rows_, n, 0.0, of_unl),
                            blas_, team);
  std::vector<QuadraticMinimum> minima =
      quadratic.minima({targets.data(), n_solved, n}, {starts.data(), n_solved, factor.n_rows}, enough);

  auto solutions = reserve_vector<PualSolution>(n_solved, "the solutions");
  for (std::size_t k = 0; k < duals.size(); ++k) {
    solutions.push_back(pual_solution(duals[k], minima[k], quadratic, rows_, point, costs[k], options.tol));
  }
  return solutions;
}

std::vector<PualSolution> PualSolver::solve_least_squares(const PualNeighbours& neighbours, const PualPoint& point,
                                                          const std::vector<double>& costs,
                                                          const PualCallback& callback, Team& team) {
  const index_t n = features_->n_rows();
  const index_t rank = rows_.positives.n_cols;
  const double of_unl = curvature_of_unl(rows_, point);
  const std::vector<double> mean = mean_of_positives(rows_, blas_);
  const AlignedBuffer<double> spread = spread_of_positives(rows_, mean, TiledBlas(blas_, team));
  auto of_positives = AlignedBuffer<double>(rank * rank, "the products of the positives");
  std::vector<PualSolution> solutions;
  for (index_t number = 0; number < static_cast<index_t>(costs.size()); ++number) {
    const double cost = costs[at(number)];
    const double of_pos = 2 * cost * rows_.mass_pos;
    const double k = of_pos * (of_unl / (of_pos + of_unl));
    for (index_t i = 0; i < rank; ++i) {
      for (index_t j = 0; j <= i; ++j) {
        of_positives[i * rank + j] = 2 * cost * spread[i * rank + j] + k * mean[at(i)] * mean[at(j)];
      }
    }
    const BlasMatrix<const double> factor = factored(neighbours, point, {of_positives.data(), rank, rank}, team);

    std::vector<double> start(at(factor.n_rows));
    for (index_t j = 0; j < rank; ++j) start[at(factor.n_rows - rank + j)] = 2 * k * mean[at(j)];
    blas_.trsm(Op::transpose, factor, {start.data(), 1, factor.n_rows});
    blas_.trsm(Op::none, factor, {start.data(), 1, factor.n_rows});
    std::vector<double> targets(at(n));
    for (index_t i = 0; i < n; ++i) targets[at(i)] = -2 * k * rows_.shares_unl[i];
    for (index_t i = 0; i < rows_.positives.n_rows; ++i) targets[at(rows_.pos[i])] = 2 * k * rows_.shares_pos[i];
    const Quadratic quadratic({*features_, neighbours.laplacian, point.lam, factor},
                              curvatures_of(rows_, n, of_pos, of_unl), blas_, team);
    QuadraticMinimum minimum = quadratic.minima({targets.data(), 1, n}, {start.data(), 1, factor.n_rows}, {0.0})[0];

    solutions.push_back(least_squares_solution(minimum, quadratic, rows_, of_pos, of_unl, point.lam));
    PualSolution& solution = solutions.back();
    if (callback && callback({number, 0, solution.objectives.back(), solution.gaps.back()})) {
      solution.status = PualStatus::callback;
      break;
    }
  }
  return solutions;
}

}  // namespace fastpu
