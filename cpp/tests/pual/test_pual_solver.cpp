// Solutions of pual_solver.hpp: their gradients and certificates by the definitions, in every form of rows.
#include "fastpu/pual/pual_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "reference_blas.hpp"

namespace {

using fastpu::at;
using fastpu::Blas;
using fastpu::CsrView;
using fastpu::DenseView;
using fastpu::index_t;
using fastpu::PualDualOptions;
using fastpu::PualNeighbours;
using fastpu::PualPoint;
using fastpu::PualRows;
using fastpu::PualSolution;
using fastpu::PualSolver;
using fastpu::PualStatus;
using fastpu::Team;

enum class Form { dense, csr, wide };

// Rows of which each third is positive, with weights, and neighbours on a ring.
class Rows {
 public:
  Rows(index_t rows, index_t columns, bool has_neighbours = true) : n(rows), d(columns), has_ring_(has_neighbours) {
    std::mt19937 random(static_cast<unsigned>(31 * n + d));
    std::normal_distribution<double> normal;
    for (index_t i = 0; i < n; ++i) {
      is_pos.push_back(i % 3 == 0);
      weights.push_back(1 + 0.1 * static_cast<double>(i % 4));
      for (index_t j = 0; j < d; ++j) x.push_back(normal(random) + (is_pos.back() && j == 0 ? 1.5 : 0.0));
    }
    fill_masses();
    fill_centred();
    fill_sparse();
    fill_ring();
  }

  PualNeighbours neighbours(Form form) {
    const index_t r = form == Form::wide ? n - 1 : d;
    PualNeighbours found;
    found.laplacian = {ring_.data(), ring_columns_.data(), ring_start_.data(), n, n};
    if (has_ring_) found.gram = {ring_gram_[form == Form::wide].data(), r, r};
    return found;
  }

  // All that the solver views lives as long as this.
  PualRows view(Form form) {
    PualRows rows;
    if (form == Form::csr) {
      rows.x = CsrView<double>{x.data(), columns_.data(), row_start_.data(), n, d};
    } else {
      rows.x = DenseView<double>{x.data(), n, d};
    }
    rows.mean = mean.data();
    const bool is_wide = form == Form::wide;
    if (is_wide) fill_triangle();
    const std::vector<double>& z = is_wide ? wide_ : centred;
    const index_t r = is_wide ? n - 1 : d;
    if (is_wide) {
      rows.triangle = {triangle_.data(), r, r};
      rows.pivots = pivots_.data();
    }
    positives_.clear();
    gram_unl_.assign(at(r * r), 0.0);
    for (index_t i = 0; i < n; ++i) {
      const double* const row = z.data() + i * r;
      if (is_pos[at(i)]) positives_.insert(positives_.end(), row, row + r);
      for (index_t j = 0; j < r * r && !is_pos[at(i)]; ++j)
        gram_unl_[at(j)] += weights[at(i)] * row[j / r] * row[j % r];
    }
    fill_ring_gram(z, r, is_wide);
    rows.positives = {positives_.data(), static_cast<index_t>(pos.size()), r};
    rows.gram_unl = {gram_unl_.data(), r, r};
    rows.pos = pos.data();
    rows.shares_pos = shares_pos_.data();
    rows.shares_unl = shares_unl_.data();
    rows.mass_pos = mass_pos;
    rows.mass_unl = mass_unl;
    return rows;
  }

  // R f
  std::vector<double> ring_times(const std::vector<double>& f) const {
    std::vector<double> out(f.size());
    for (index_t i = 0; i < n; ++i) {
      for (index_t e = ring_start_[at(i)]; e < ring_start_[at(i + 1)]; ++e) {
        out[at(i)] += ring_[at(e)] * f[at(ring_columns_[at(e)])];
      }
    }
    return out;
  }

  index_t n;
  index_t d;
  std::vector<double> x;
  std::vector<double> weights;
  std::vector<bool> is_pos;
  std::vector<index_t> pos;
  std::vector<double> mean;     // of the unlabelled rows by weight
  std::vector<double> centred;  // x - mean
  double mass_pos = 0;
  double mass_unl = 0;

 private:
  void fill_masses() {
    for (index_t i = 0; i < n; ++i) (is_pos[at(i)] ? mass_pos : mass_unl) += weights[at(i)];
    for (index_t i = 0; i < n; ++i) {
      const bool positive = is_pos[at(i)];
      if (positive) pos.push_back(i);
      if (positive) shares_pos_.push_back(weights[at(i)] / mass_pos);
      shares_unl_.push_back(positive ? 0.0 : weights[at(i)] / mass_unl);
    }
  }

  void fill_centred() {
    mean.assign(at(d), 0.0);
    for (index_t k = 0; k < n * d; ++k) mean[at(k % d)] += shares_unl_[at(k / d)] * x[at(k)];
    for (index_t k = 0; k < n * d; ++k) centred.push_back(x[at(k)] - mean[at(k % d)]);
  }

  void fill_sparse() {
    for (index_t i = 0; i <= n; ++i) row_start_.push_back(i * d);
    for (index_t k = 0; k < n * d; ++k) columns_.push_back(static_cast<std::int32_t>(k % d));
  }

  void fill_ring() {
    ring_start_.push_back(0);
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j < n && has_ring_; ++j) {
        const bool is_next = (j + 1) % n == i || (i + 1) % n == j;
        if (i != j && !is_next) continue;
        ring_columns_.push_back(static_cast<std::int32_t>(j));
        ring_.push_back(i == j ? 0.4 : -0.2);
      }
      ring_start_.push_back(static_cast<index_t>(ring_.size()));
    }
  }

  void fill_ring_gram(const std::vector<double>& z, index_t r, bool is_wide) {
    std::vector<double>& gram = ring_gram_[is_wide];
    gram.assign(at(r * r), 0.0);
    for (index_t k = 0; k < r; ++k) {
      std::vector<double> column(at(n));
      for (index_t i = 0; i < n; ++i) column[at(i)] = z[at(i * r + k)];
      const std::vector<double> times = ring_times(column);
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j < r; ++j) gram[at(j * r + k)] += z[at(i * r + j)] * times[at(i)];
      }
    }
  }

  // The factor of the products of all rows but the last, positives first, and its rows in the order of x.
  void fill_triangle() {
    pivots_ = pos;
    for (index_t i = 0; i < n; ++i) {
      if (!is_pos[at(i)]) pivots_.push_back(i);
    }
    const index_t r = n - 1;
    const index_t last = pivots_.back();
    pivots_.pop_back();
    const auto product = [&](index_t i, index_t j) {
      double sum = 0;
      for (index_t k = 0; k < d; ++k) sum += centred[at(i * d + k)] * centred[at(j * d + k)];
      return sum;
    };
    triangle_.assign(at(r * r), 0.0);
    wide_.assign(at(n * r), 0.0);
    for (index_t i = 0; i < n; ++i) {
      const index_t row = i < r ? pivots_[at(i)] : last;
      std::vector<double> of_row(at(r));
      for (index_t j = 0; j < std::min(i + 1, r); ++j) {
        double sum = product(row, pivots_[at(j)]);
        for (index_t k = 0; k < j; ++k) sum -= of_row[at(k)] * (j == i ? of_row[at(k)] : triangle_[at(j * r + k)]);
        of_row[at(j)] = j == i ? std::sqrt(sum) : sum / triangle_[at(j * r + j)];
      }
      if (i < r) std::ranges::copy(of_row, triangle_.begin() + i * r);
      std::reverse_copy(of_row.begin(), of_row.end(), wide_.begin() + row * r);
    }
  }

  bool has_ring_;
  std::vector<double> shares_pos_;
  std::vector<double> shares_unl_;
  std::vector<index_t> row_start_;
  std::vector<std::int32_t> columns_;
  std::vector<double> ring_;
  std::vector<std::int32_t> ring_columns_;
  std::vector<index_t> ring_start_;
  std::vector<double> ring_gram_[2];
  std::vector<double> positives_;
  std::vector<double> gram_unl_;
  std::vector<double> triangle_;
  std::vector<double> wide_;
  std::vector<index_t> pivots_;
};

double ring_value(const Rows& rows, const std::vector<double>& f) {
  const std::vector<double> times = rows.ring_times(f);
  double sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += f[i] * times[i];
  return sum;
}

// Checks that the gradient of the objective is 0, given its gradient by the scores, without the neighbours' term.
void check_gradient(const Rows& rows, const PualSolution& solution, std::vector<double> by_f, double lam) {
  const std::vector<double> times = rows.ring_times(solution.scores);
  double by_offset = 0;
  for (std::size_t i = 0; i < by_f.size(); ++i) {
    by_f[i] += 2 * times[i];
    by_offset += by_f[i];
  }
  CHECK(std::abs(by_offset) < 1e-7);
  for (index_t j = 0; j < rows.d; ++j) {
    double slope = lam * solution.beta[at(j)];
    for (index_t i = 0; i < rows.n; ++i) slope += rows.centred[at(i * rows.d + j)] * by_f[at(i)];
    CHECK(std::abs(slope) < 1e-7);
  }
}

void check_scores(const Rows& rows, const PualSolution& solution) {
  for (index_t i = 0; i < rows.n; ++i) {
    double score = solution.offset;
    for (index_t j = 0; j < rows.d; ++j) score += rows.centred[at(i * rows.d + j)] * solution.beta[at(j)];
    CHECK(std::abs(score - solution.scores[at(i)]) < 1e-10);
  }
}

double ridge(const PualSolution& solution, double lam) {
  double sum = 0;
  for (const double value : solution.beta) sum += 0.5 * lam * value * value;
  return sum;
}

struct Solved {
  std::vector<PualSolution> pual;
  std::vector<PualSolution> least_squares;
};

Solved solve(Rows& rows, Form form, const PualPoint& point, const std::vector<double>& costs, int n_threads = 1) {
  const Blas blas(reference_blas());
  Team team(n_threads);
  PualSolver solver(rows.view(form), blas);
  const PualNeighbours neighbours = rows.neighbours(form);
  PualDualOptions options;
  options.tol = 1e-12;
  return {solver.solve_pual(neighbours, point, costs, options, {}, team),
          solver.solve_least_squares(neighbours, point, costs, {}, team)};
}

CASE("least squares leave no gradient") {
  for (const Form form : {Form::dense, Form::csr}) {
    for (const bool has_neighbours : {true, false}) {
      Rows rows(30, 4, has_neighbours);
      const std::vector<double> costs{0.3, 2.0};
      for (const double lam : {0.01, 5.0}) {
        const std::vector<PualSolution> found = solve(rows, form, {0.2, lam}, costs).least_squares;
        CHECK(found.size() == 2);
        for (std::size_t c = 0; c < 2; ++c) {
          std::vector<double> by_f;
          double objective = ridge(found[c], lam) + ring_value(rows, found[c].scores);
          for (index_t i = 0; i < rows.n; ++i) {
            const bool positive = rows.is_pos[at(i)];
            const double cost = (positive ? costs[c] : 0.2) * rows.weights[at(i)];
            const double lack = found[c].scores[at(i)] - (positive ? 1 : -1);
            by_f.push_back(2 * cost * lack);
            objective += cost * lack * lack;
          }
          check_scores(rows, found[c]);
          check_gradient(rows, found[c], by_f, lam);
          CHECK(check::close(objective, found[c].objectives.back(), 1e-12));
          CHECK(found[c].gaps.back() >= 0);
          CHECK(found[c].gaps.back() < 1e-12);
          CHECK(found[c].status == PualStatus::closed_form);
          CHECK(found[c].alpha.empty());
        }
      }
    }
  }
}

CASE("PUAL is certified by its dual variables") {
  for (const Form form : {Form::dense, Form::csr}) {
    Rows rows(30, 4);
    const std::vector<double> costs{1e-3, 0.3, 2.0};
    for (const double lam : {0.01, 5.0}) {
      const std::vector<PualSolution> found = solve(rows, form, {0.2, lam}, costs).pual;
      CHECK(found.size() == 3);
      for (std::size_t c = 0; c < costs.size(); ++c) {
        const PualSolution& solution = found[c];
        std::vector<double> by_f;
        double objective = ridge(solution, lam) + ring_value(rows, solution.scores);
        double gap = 0;
        std::size_t k = 0;
        for (index_t i = 0; i < rows.n; ++i) {
          const double f = solution.scores[at(i)];
          if (!rows.is_pos[at(i)]) {
            const double cost = 0.2 * rows.weights[at(i)];
            by_f.push_back(2 * cost * (1 + f));
            objective += cost * (1 + f) * (1 + f);
            continue;
          }
          const double alpha = solution.alpha[k++];
          CHECK(alpha >= 0);
          CHECK(alpha <= costs[c]);
          by_f.push_back(-alpha);
          objective += costs[c] * std::max(1 - f, 0.0);
          gap += costs[c] * std::max(1 - f, 0.0) - alpha * (1 - f);
        }
        check_scores(rows, solution);
        check_gradient(rows, solution, by_f, lam);
        CHECK(check::close(objective, solution.objectives.back(), 1e-10));
        CHECK(std::abs(gap - solution.gaps.back()) < 1e-10);
        CHECK(solution.gaps.back() <= 1e-9 * objective);
        CHECK(solution.status == PualStatus::gap);
        CHECK(solution.iterations.size() == solution.gaps.size());
        CHECK(solution.iterations.size() == solution.objectives.size());
      }
    }
  }
}

CASE("rows with more columns than rows have the scores of their columns") {
  for (const bool has_neighbours : {true, false}) {
    Rows rows(9, 25, has_neighbours);
    const Solved narrow = solve(rows, Form::dense, {0.2, 0.7}, {0.3, 2.0});
    const Solved wide = solve(rows, Form::wide, {0.2, 0.7}, {0.3, 2.0});
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(wide.pual[c].beta.size() == 8);
      for (std::size_t i = 0; i < 9; ++i) {
        CHECK(std::abs(wide.pual[c].scores[i] - narrow.pual[c].scores[i]) < 1e-5);
        CHECK(std::abs(wide.least_squares[c].scores[i] - narrow.least_squares[c].scores[i]) < 1e-10);
      }
      CHECK(check::close(wide.pual[c].objectives.back(), narrow.pual[c].objectives.back(), 1e-9));
    }
  }
}

// Columns that are almost equal cost the factor half of its digits.
CASE("residuals of the rows mend what the factor alone does not solve") {
  Rows rows(60, 5, false);
  for (index_t i = 0; i < rows.n; ++i) {
    for (index_t j = 1; j < rows.d; ++j) {
      double& value = rows.centred[at(i * rows.d + j)];
      value = rows.centred[at(i * rows.d)] + 1e-6 * value;
      rows.x[at(i * rows.d + j)] = value + rows.mean[at(j)];
    }
  }
  const PualSolution solution = solve(rows, Form::dense, {0.2, 1e-9}, {1.0}).least_squares[0];
  std::vector<double> by_f;
  for (index_t i = 0; i < rows.n; ++i) {
    const bool positive = rows.is_pos[at(i)];
    by_f.push_back(2 * (positive ? 1.0 : 0.2) * rows.weights[at(i)] * (solution.scores[at(i)] - (positive ? 1 : -1)));
  }
  check_gradient(rows, solution, by_f, 1e-9);
  CHECK(solution.gaps.back() < 1e-12 * solution.objectives.back());
}

CASE("threads leave the bits of solutions alone") {
  Rows rows(2500, 12, false);  // several blocks, and enough work for more than one thread
  const std::vector<double> costs(70, 0.4);
  for (const Form form : {Form::dense, Form::csr}) {
    const Solved one = solve(rows, form, {0.2, 0.7}, costs);
    for (const int n_threads : {2, 7}) {
      const Solved many = solve(rows, form, {0.2, 0.7}, costs, n_threads);
      for (std::size_t c = 0; c < costs.size(); ++c) {
        CHECK(one.pual[c].beta == many.pual[c].beta && one.pual[c].gaps == many.pual[c].gaps);
        CHECK(one.least_squares[c].beta == many.least_squares[c].beta);
      }
    }
  }
}

CASE("a callback leaves the later costs out") {
  Rows rows(30, 4);
  const Blas blas(reference_blas());
  Team team(1);
  PualSolver solver(rows.view(Form::dense), blas);
  const PualNeighbours neighbours = rows.neighbours(Form::dense);
  const auto stop = [](const fastpu::PualRound& round) { return round.cost == 1; };
  const std::vector<double> costs{0.3, 2.0, 4.0};
  for (const auto& found : {solver.solve_pual(neighbours, {0.2, 1.0}, costs, {}, stop, team),
                            solver.solve_least_squares(neighbours, {0.2, 1.0}, costs, stop, team)}) {
    CHECK(found.size() == 2);
    CHECK(found[0].status != PualStatus::callback);
    CHECK(found[1].status == PualStatus::callback);
    CHECK(std::isfinite(found[1].offset));
  }
}

CASE("matrices of rows that do not fit are refused") {
  Rows rows(30, 4);
  const Blas blas(reference_blas());
  PualRows bad = rows.view(Form::dense);
  bad.gram_unl = {bad.gram_unl.data, 3, 3};
  CHECK_THROWS(std::invalid_argument, PualSolver(bad, blas), "one number of features");
  bad = rows.view(Form::dense);
  bad.positives = {bad.positives.data, 0, 4};
  CHECK_THROWS(std::invalid_argument, PualSolver(bad, blas), "a positive row");
}

}  // namespace
