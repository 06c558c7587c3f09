// Chains of problems that share work against each problem by itself.
#include "fastpu/svm/svm_grid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "svm_data.hpp"
#include "svm_problems.hpp"

namespace {

using fastpu::ChainResult;
using fastpu::GridFit;
using fastpu::GridPoint;
using fastpu::solve_chains;
using fastpu::SvmChain;
using namespace svm_tests;

const std::vector<GridPoint> kPoints = {{10, 10, 0}, {0.1, 0.1, 0}, {1, 1, 0}, {1, 0.1, 0}, {10, 0.1, 0}};

// Chains of two widths on the even rows, which score the odd ones.
struct Chains {
  Classes data;
  std::vector<index_t> rows, held;
  std::vector<std::int8_t> labels;
  std::vector<double> base;
  std::vector<SvmChain> chains;

  explicit Chains(index_t n, SvmKind kind = SvmKind::c_svm) : data(n, 1.0, 3) {
    for (index_t i = 0; i < n; ++i) {
      (i % 2 == 0 ? rows : held).push_back(i);
      if (i % 2 != 0) continue;
      labels.push_back(data.labels[at(i)]);
      base.push_back(data.costs[at(i)]);
    }
    for (const double gamma : {0.1, 1.0}) {
      SvmChain chain;
      chain.kind = kind;
      chain.gamma = gamma;
      chain.rows = rows.data();
      chain.n = static_cast<index_t>(rows.size());
      chain.labels = kind == SvmKind::one_class ? nullptr : labels.data();
      chain.base = base.data();
      chain.points = kind == SvmKind::c_svm ? kPoints : std::vector<GridPoint>{{1, 1, 0.5}, {1, 1, 0.2}};
      chain.held_out = held.data();
      chain.n_held_out = static_cast<index_t>(held.size());
      chains.push_back(chain);
    }
  }
  std::vector<ChainResult> solve(double tol, int n_threads, index_t bytes = kManyBytes) const {
    Team team(n_threads);
    return solve_chains<double>(data.points.dense(), kRbf, false, chains, SmoOptions{tol, 10'000'000}, bytes, team);
  }
};

CASE("a chain meets tol and has the objectives and scores of problems by themselves") {
  constexpr double kTol = 1e-9;
  for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
    const Chains grid(200, kind);
    const std::vector<ChainResult> found = grid.solve(kTol, 1);
    for (std::size_t c = 0; c < found.size(); ++c) {
      const SvmChain& chain = grid.chains[c];
      KernelParams params = kRbf;
      params.gamma = chain.gamma;
      for (std::size_t p = 0; p < chain.points.size(); ++p) {
        const GridFit& fit = found[c].fits[p];
        CHECK(fit.violation <= kTol);
        std::vector<double> costs(at(chain.n));
        for (index_t i = 0; i < chain.n; ++i) {
          costs[at(i)] =
              chain.base[i] * (grid.labels[at(i)] > 0 ? chain.points[p].factor_pos : chain.points[p].factor_neg);
        }
        SvmProblem problem;
        problem.kind = kind;
        problem.rows = chain.rows;
        problem.n = chain.n;
        problem.labels = chain.labels;
        problem.costs = costs.data();
        problem.nu = chain.points[p].nu;
        Team team(1);
        SvmEngine<double> engine = engine_of(grid.data, params);
        const SvmResult alone = engine.solve(problem, SmoOptions{kTol, 10'000'000}, {}, team);
        CHECK(std::abs(fit.objective - alone.objective) <= 1e-6 * (1 + std::abs(alone.objective)));
        // Rows on the boundary of one class have f of 0 up to rounding.
        CHECK(kind == SvmKind::one_class ||
              fit.n_positive == std::ranges::count_if(alone.decision, [](double f) { return f > 0; }));
        std::vector<double> coefs(at(chain.n));
        for (index_t i = 0; i < chain.n; ++i) {
          coefs[at(i)] = alone.alpha[at(i)] * (chain.labels == nullptr ? 1 : chain.labels[i]);
        }
        std::vector<double> scores(at(chain.n_held_out));
        kernel_scores(engine.kernel(), {chain.rows, chain.n, coefs.data(), &alone.intercept, 1}, chain.held_out,
                      chain.n_held_out, team, scores.data());
        for (index_t k = 0; k < chain.n_held_out; ++k) {
          CHECK(std::abs(scores[at(k)] - found[c].held_out_scores[at(k) * chain.points.size() + p]) <= 1e-5);
        }
      }
    }
  }
}

CASE("chains have the same bits for every number of threads and size of the cache") {
  const Chains grid(900);
  const std::vector<ChainResult> expected = grid.solve(1e-3, 1);
  for (const int n_threads : {1, 2, 7}) {
    for (const index_t bytes : {kManyBytes, index_t{1} << 12}) {
      const std::vector<ChainResult> found = grid.solve(1e-3, n_threads, bytes);
      for (std::size_t c = 0; c < found.size(); ++c) {
        CHECK(same_bits(found[c].held_out_scores, expected[c].held_out_scores));
        for (std::size_t p = 0; p < kPoints.size(); ++p) {
          CHECK(same_bits(found[c].fits[p].alpha, expected[c].fits[p].alpha));
        }
      }
    }
  }
}

CASE("nothing to solve gives nothing") {
  Team team(2);
  const Classes data(10, 1.0, 1);
  CHECK(solve_chains<double>(data.points.dense(), kRbf, false, {}, SmoOptions{}, kManyBytes, team).empty());
}

}  // namespace
