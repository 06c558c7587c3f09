// Chains of problems over the same rows, each from the solution of the one before.
#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "fastpu/svm/smo.hpp"
#include "smo_problems.hpp"
#include "svm_data.hpp"

namespace {

using namespace smo_tests;
using fastpu::SmoStart;

// Solves a box whose kernel rows stay whole, as those of a grid do.
Solved solve(const Points<double>& points, const Box& box, const SmoStart* start = nullptr) {
  Team team(1);
  const auto kernel = make_kernel(points.dense(), kRbf, team);
  KernelCache<double> cache(*kernel, kManyBytes);
  SmoOptions options = with_tol(1e-6);
  options.keeps_rows = true;
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

}  // namespace

CASE("a step to the end of a start is right on a cache whose columns another problem has permuted") {
  const Points<double> points(1500, 3, 605);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  Box box = svm_box(points.n, 0.1, 606);
  Team team(1);
  const auto kernel = make_kernel(points.dense(), kRbf, team);
  KernelCache<double> cache(*kernel, kManyBytes);
  const SmoOptions options = with_tol(1e-6);
  std::vector<double> b = box.start;
  const SmoResult first = smo(cache, box.view(), options, {}, team, b.data());
  CHECK(cache.columns() != box.rows);
  std::vector<double> product = first.gradient;
  for (std::size_t i = 0; i < b.size(); ++i) {
    product[i] -= box.linear[i];
    if (i % 50 == 0) continue;
    box.lower[i] *= 4;
    box.upper[i] *= 4;
  }
  const std::vector<double> end = solve_with(points, kRbf, box, with_tol(0.05), team, kManyBytes).b;
  box.start = b;
  const SmoStart start{product.data(), end.data(), first.moved};
  SmoProblem problem = box.view();
  problem.start = &start;
  const SmoResult second = smo(cache, problem, options, {}, team, b.data());
  CHECK(second.status == SmoStatus::tol);
  CHECK(violation_of(box, gradient_of(k, points.n, box, b), b) <= 2 * options.tol);
}
