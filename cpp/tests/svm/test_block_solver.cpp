// Optimisation in blocks against a slow method, one problem after the other on the same rows.
#include "svm/block_solver.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "check.hpp"
#include "smo_problems.hpp"
#include "svm_data.hpp"

namespace {

using namespace smo_tests;
using fastpu::Isa;
using fastpu::SmoStart;
using fastpu::detail::BlockSolver;
using fastpu::detail::WorkingKernel;

constexpr double kTightTol = 1e-10;

// The rows of a box, and what solves problems on them.
template <class T>
struct Blocks {
  std::unique_ptr<fastpu::Kernel<T>> kernel;
  std::vector<index_t> rows;
  Team team{1};
  std::optional<KernelCache<T>> cache;
  std::unique_ptr<BlockSolver<T>> solver;

  Blocks(const Points<T>& points, const KernelParams& params, const Box& box, const SmoOptions& options, index_t bytes)
      : kernel(make_kernel(points.dense(), params, options.isa, 1)), rows(box.rows) {
    cache.emplace(*kernel, bytes);
    cache->set_columns(rows.data(), box.n(), team);
    solver = std::make_unique<BlockSolver<T>>(*cache, rows, box.groups.empty() ? 1 : 2, options, team);
  }
  Solved solve(const Box& box, const SmoStart* start = nullptr) {
    Solved solved;
    solved.b = box.start;
    SmoProblem problem = box.view();
    problem.start = start;
    solved.result = solver->solve(problem, solved.b.data());
    return solved;
  }
};

SmoOptions sets_of(index_t size, double tol) {
  SmoOptions options = with_tol(tol);
  options.working_set = size;
  return options;
}

template <class T>
void check_against_slow(const KernelParams& params, index_t n, bool has_two_groups, unsigned seed) {
  const Points<T> points(n + 5, 4, seed);
  const Box box = random_box(n, has_two_groups, seed + 1);
  const std::vector<double> k = kernel_matrix(params, points);
  const std::vector<double> slow = slow_solution(k, points.n, box);
  const double slow_objective = objective_of(box, gradient_of(k, points.n, box, slow), slow);
  const double kernel_error = sizeof(T) == sizeof(float) ? 1e-5 : 1e-12;
  for (const index_t size : {8, 12, 512}) {
    for (const index_t bytes : {index_t{0}, kManyBytes}) {
      Blocks<T> blocks(points, params, box, sets_of(size, kTightTol), bytes);
      const Solved solved = blocks.solve(box);
      check_optimal(solved, k, points.n, box, kTightTol, kernel_error);
      const double objective = objective_of(box, gradient_of(k, points.n, box, solved.b), solved.b);
      // A violation of tol may cost that much for each unit that can be moved; so may an error of the gradient.
      CHECK(std::abs(objective - slow_objective) <= 1e-7 + 10 * kernel_error * (1 + absolute_sum(solved.b)));
    }
  }
}

CASE("fast equals slow, whatever the size of working sets") {
  unsigned seed = 500;
  for (const bool has_two_groups : {false, true}) {
    for (const index_t n : {2, 3, 10, 25}) {
      for (const KernelParams& params : {kRbf, kPoly}) {
        check_against_slow<double>(params, n, has_two_groups, ++seed);
        check_against_slow<float>(params, n, has_two_groups, ++seed);
      }
    }
  }
}

CASE("a problem that starts from another one's solution ends optimal") {
  const Points<double> points(400, 3, 601);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  Box box = svm_box(400, 0.1, 602);
  Blocks<double> blocks(points, kRbf, box, sets_of(64, 1e-6), kManyBytes);
  Solved last = blocks.solve(box);
  check_optimal(last, k, points.n, box, 1e-6, 1e-11);
  for (const double growth : {10.0, 10.0, 0.5}) {
    std::vector<double> product = last.result.gradient;
    for (std::size_t i = 0; i < product.size(); ++i) product[i] -= box.linear[i];
    // Where bounds shrink the start does so too, so that it is feasible.
    const double factor = std::min(growth, 1.0);
    for (std::size_t i = 0; i < product.size(); ++i) {
      box.lower[i] *= growth;
      box.upper[i] *= growth;
      box.start[i] = std::clamp(factor * last.b[i], box.lower[i], box.upper[i]);
      product[i] *= factor;
    }
    std::vector<double> end = last.b;
    for (double& b : end) b *= growth;
    const SmoStart start{product.data(), end.data(), last.result.moved};
    last = blocks.solve(box, &start);
    check_optimal(last, k, points.n, box, 1e-6, 1e-10);
  }
}

CASE("where bounds grow by one factor, what is at its bound stays there without a step of its own") {
  const Points<double> points(400, 3, 605);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  Box box = svm_box(400, 0.1, 606);
  Blocks<double> blocks(points, kRbf, box, sets_of(64, 1e-6), kManyBytes);
  const Solved small = blocks.solve(box);
  std::vector<double> product = small.result.gradient;
  constexpr double kGrowth = 4;
  for (std::size_t i = 0; i < product.size(); ++i) {
    product[i] -= box.linear[i];
    box.lower[i] *= kGrowth;
    box.upper[i] *= kGrowth;
  }
  box.start = small.b;
  const SmoStart start{product.data(), small.b.data(), small.result.moved};
  const Solved large = blocks.solve(box, &start);
  check_optimal(large, k, points.n, box, 1e-6, 1e-10);
  CHECK(large.result.n_steps < small.result.n_steps / 10);
}

CASE("a group whose sum is not 0 keeps it where its bounds grow") {
  const Points<double> points(200, 3, 607);
  Box box = svm_box(200, 1.0, 608);
  for (std::size_t i = 0; i < box.start.size(); ++i) {
    box.lower[i] = 0;
    box.upper[i] = 1;
    box.start[i] = 0.3;
    box.linear[i] -= 1000;  // a larger sum would be better
  }
  Blocks<double> blocks(points, kRbf, box, sets_of(32, 1e-6), kManyBytes);
  const Solved small = blocks.solve(box);
  std::vector<double> product = small.result.gradient;
  for (std::size_t i = 0; i < product.size(); ++i) {
    product[i] -= box.linear[i];
    box.upper[i] = 8;
  }
  box.start = small.b;
  const SmoStart start{product.data(), small.b.data(), small.result.moved};
  const Solved large = blocks.solve(box, &start);
  CHECK(std::abs(std::accumulate(large.b.begin(), large.b.end(), 0.0) - 60) < 1e-9);
}

CASE("every level and size of the cache gives the same bits") {
  const Points<double> points(900, 5, 611);
  const Box box = svm_box(900, 2.0, 612);
  SmoOptions options = sets_of(128, 1e-3);
  options.isa = Isa::baseline;
  const Solved expected = Blocks<double>(points, kRbf, box, options, kManyBytes).solve(box);
  CHECK(expected.result.rounds.size() > 3);
  for (const index_t bytes : {index_t{0}, index_t{300'000}, kManyBytes}) {
    for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
      options.isa = static_cast<Isa>(level);
      CHECK(same_bits(Blocks<double>(points, kRbf, box, options, bytes).solve(box), expected));
    }
  }
}

CASE("it says when it runs out of steps or of precision") {
  const Points<double> points(300, 3, 621);
  const Box box = svm_box(300, 10.0, 622);
  SmoOptions options = sets_of(32, 1e-3);
  options.max_steps = 40;
  const Solved few = Blocks<double>(points, kRbf, box, options, kManyBytes).solve(box);
  CHECK(few.result.status == SmoStatus::max_steps);
  CHECK(few.result.n_steps == 40);
  check_feasible(box, few.b);
  const Solved exact = Blocks<double>(points, kRbf, box, sets_of(32, 1e-300), kManyBytes).solve(box);
  CHECK(exact.result.status == SmoStatus::precision);
  CHECK(exact.result.violation < 1e-9);
}

CASE("the kernel matrix of a working set is right after every change of the set") {
  const Points<double> points(60, 3, 631);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const auto kernel = make_kernel(points.dense(), kRbf, fastpu::best_isa(), 1);
  const std::vector<index_t> rows = random_box(60, false, 632).rows;
  Team team(1);
  WorkingKernel<double> working(*kernel, rows, 40);
  std::mt19937 random = random_numbers(633);
  for (int change = 0; change < 20; ++change) {
    std::vector<index_t> variables = all_rows(60);
    std::shuffle(variables.begin(), variables.end(), random);
    variables.resize(1 + random() % 40);
    working.hold(variables, team);
    std::vector<index_t> held;
    for (index_t p = 0; p < working.capacity(); ++p) {
      if (working.variable(p) < 0) continue;
      held.push_back(working.variable(p));
      for (index_t q = 0; q < working.capacity(); ++q) {
        if (working.variable(q) < 0) continue;
        const double expected = k[at(rows[at(working.variable(p))] * points.n + rows[at(working.variable(q))])];
        CHECK(std::abs(working.row(p)[q] - expected) <= 1e-14);
      }
    }
    std::ranges::sort(held);
    std::ranges::sort(variables);
    CHECK(held == variables);
  }
}

}  // namespace
