// Chains of problems over the same rows, each from the solution of the one before.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/svm/smo.hpp"
#include "smo_problems.hpp"
#include "svm/working_kernel.hpp"
#include "svm_data.hpp"

namespace {

using namespace smo_tests;
using fastpu::SmoStart;
using fastpu::detail::WorkingKernel;

// Solves a box whose kernel rows stay whole, as those of a grid do.
Solved solve(const Points<double>& points, const Box& box, const SmoStart* start = nullptr) {
  Team team(1);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(1));
  KernelCache<double> cache(*kernel, kManyBytes);
  SmoOptions options = with_tol(1e-6);
  options.shrinks = false;
  Solved solved;
  solved.b = box.start;
  SmoProblem problem = box.view();
  problem.start = start;
  solved.result = smo(cache, problem, options, {}, team, solved.b.data());
  return solved;
}

CASE("a problem that starts from another one's solution ends optimal") {
  const Points<double> points(400, 3, 601);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  Box box = svm_box(400, 0.1, 602);
  Solved last = solve(points, box);
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
    last = solve(points, box, &start);
    check_optimal(last, k, points.n, box, 1e-6, 1e-10);
  }
}

CASE("where bounds grow by one factor, what is at its bound stays there without a step of its own") {
  const Points<double> points(400, 3, 605);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  Box box = svm_box(400, 0.1, 606);
  const Solved small = solve(points, box);
  std::vector<double> product = small.result.gradient;
  constexpr double kGrowth = 4;
  for (std::size_t i = 0; i < product.size(); ++i) {
    product[i] -= box.linear[i];
    box.lower[i] *= kGrowth;
    box.upper[i] *= kGrowth;
  }
  box.start = small.b;
  const SmoStart start{product.data(), small.b.data(), small.result.moved};
  const Solved large = solve(points, box, &start);
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
  const Solved small = solve(points, box);
  std::vector<double> product = small.result.gradient;
  for (std::size_t i = 0; i < product.size(); ++i) {
    product[i] -= box.linear[i];
    box.upper[i] = 8;
  }
  box.start = small.b;
  const SmoStart start{product.data(), small.b.data(), small.result.moved};
  const Solved large = solve(points, box, &start);
  CHECK(std::abs(std::accumulate(large.b.begin(), large.b.end(), 0.0) - 60) < 1e-9);
}

CASE("the kernel matrix of a working set is right after every change of the set") {
  const Points<double> points(60, 3, 631);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(1));
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
