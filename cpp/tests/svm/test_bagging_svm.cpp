// Bags of unlabelled rows against problems of their own.
#include "fastpu/svm/bagging_svm.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "svm_data.hpp"
#include "svm_problems.hpp"

namespace {

using fastpu::BaggingProblem;
using fastpu::BaggingResult;
using fastpu::SvmReport;
using namespace svm_tests;

// Positives, and bags of the others, some drawn twice.
struct Bags {
  Classes data;
  std::vector<index_t> positives;
  std::vector<double> costs_pos;
  std::vector<index_t> drawn;
  BaggingProblem problem;

  Bags(index_t n, index_t n_bags, index_t bag_size, unsigned seed) : data(n, 1.0, seed) {
    std::vector<index_t> unlabelled;
    for (index_t i = 0; i < n; ++i) (data.labels[at(i)] > 0 && i % 2 == 0 ? positives : unlabelled).push_back(i);
    costs_pos.assign(positives.size(), 1.5);
    costs_pos.back() = 0.25;
    std::mt19937 random(seed + 5);
    for (index_t k = 0; k < n_bags * bag_size; ++k) drawn.push_back(unlabelled[random() % unlabelled.size()]);
    if (bag_size > 2 && n_bags > 0) drawn[1] = drawn[2] = drawn[0];
    problem = {positives.data(),
               static_cast<index_t>(positives.size()),
               costs_pos.data(),
               drawn.data(),
               n_bags,
               bag_size,
               0.75};
  }
};

bool same_bits(const BaggingResult& a, const BaggingResult& b) {
  if (a.support != b.support || !::same_bits(a.coefs, b.coefs) || a.bags.size() != b.bags.size()) return false;
  for (std::size_t k = 0; k < a.bags.size(); ++k) {
    const SvmReport& x = a.bags[k];
    const SvmReport& y = b.bags[k];
    if (x.intercept != y.intercept || x.objective != y.objective || x.gap != y.gap || x.violation != y.violation ||
        x.n_steps != y.n_steps || x.status != y.status) {
      return false;
    }
  }
  return true;
}

// Each bag as a problem of its own, in an engine of its own.
void check_bags(const Bags& bags, const BaggingResult& result, const KernelParams& params) {
  Team team(1);
  const index_t n_bags = bags.problem.n_bags;
  REQUIRE(result.bags.size() == at(n_bags));
  REQUIRE(result.coefs.size() == result.support.size() * at(n_bags));
  CHECK(std::ranges::is_sorted(result.support));
  CHECK(std::ranges::adjacent_find(result.support) == result.support.end());
  for (index_t bag = 0; bag < n_bags; ++bag) {
    std::vector<index_t> rows = bags.positives;
    std::vector<std::int8_t> labels(rows.size(), std::int8_t{1});
    std::vector<double> costs = bags.costs_pos;
    for (index_t k = 0; k < bags.problem.bag_size; ++k) {
      const index_t row = bags.drawn[at(bag * bags.problem.bag_size + k)];
      const auto place = std::ranges::find(rows, row);
      if (place != rows.end()) {
        costs[at(place - rows.begin())] += bags.problem.cost_unl;
        continue;
      }
      rows.push_back(row);
      labels.push_back(-1);
      costs.push_back(bags.problem.cost_unl);
    }
    SvmProblem single;
    single.rows = rows.data();
    single.n = static_cast<index_t>(rows.size());
    single.labels = labels.data();
    single.costs = costs.data();
    const SvmResult expected = engine_of(bags.data, params).solve(single, {1e-9, 1'000'000}, {}, team);
    const SvmReport& report = result.bags[at(bag)];
    CHECK(report.status == SmoStatus::tol);
    CHECK(std::abs(report.objective - expected.objective) <= 1e-6);
    CHECK(std::abs(report.intercept - expected.intercept) <= 1e-5);
    CHECK(report.gap <= 1e-6);
    CHECK(report.violation <= 1e-9);
    double total = 0;
    for (std::size_t s = 0; s < result.support.size(); ++s) {
      const double coef = result.coefs[s * at(n_bags) + at(bag)];
      total += coef;
      const auto place = std::ranges::find(rows, result.support[s]);
      if (place == rows.end()) {
        CHECK(coef == 0);
        continue;
      }
      const auto number = at(place - rows.begin());
      CHECK(std::abs(coef - expected.alpha[number] * labels[number]) <= 1e-4);
    }
    CHECK(std::abs(total) <= 1e-10);
  }
}

}  // namespace

CASE("bags equal problems of their own, with few kernel rows in the cache or many") {
  for (const KernelParams& params : {kRbf, kLinear}) {
    for (const index_t bytes : {index_t{0}, index_t{300'000}, kManyBytes}) {
      const Bags bags(150, 6, 25, 101);
      const SvmEngine<double> engine = engine_of(bags.data, params, bytes);
      Team one(1);
      const BaggingResult result = solve_bags(engine, bags.problem, {1e-9, 1'000'000}, one);
      check_bags(bags, result, params);
      for (const int n_threads : {2, 3, 7}) {
        Team team(n_threads);
        CHECK(same_bits(solve_bags(engine, bags.problem, {1e-9, 1'000'000}, team), result));
      }
    }
  }
}

CASE("bags of kernel values that are dear to compute, stored for all or for the positives, start anywhere") {
  for (const index_t bytes : {index_t{0}, index_t{300'000}, kManyBytes}) {
    Bags bags(150, 6, 25, 103);
    const std::vector<double> k = kernel_matrix(kRbf, bags.data.points);
    const index_t n = bags.data.n();
    const SvmEngine<double> engine(fastpu::make_precomputed_kernel(fastpu::DenseView<double>{k.data(), n, n}), bytes);
    Team team(2);
    check_bags(bags, solve_bags(engine, bags.problem, {1e-9, 1'000'000}, team), kRbf);
    std::vector<double> start(at(n), 0.0);
    for (index_t i = 0; i < n; i += 2) start[at(i)] = i % 3 == 0 ? 1.0 : 0.3;
    bags.problem.start = start.data();
    check_bags(bags, solve_bags(engine, bags.problem, {1e-9, 1'000'000}, team), kRbf);
    check_bags(bags, solve_bags(engine_of(bags.data, kRbf, bytes), bags.problem, {1e-9, 1'000'000}, team), kRbf);
    check_bags(bags, solve_bags(engine_of(bags.data, kLinear, bytes), bags.problem, {1e-9, 1'000'000}, team), kLinear);
  }
}

CASE("bags have the same bits for every number of threads, though many threads leave each a small cache") {
  Bags bags(600, 7, 250, 105);
  for (double& cost : bags.costs_pos) cost *= 1000;
  bags.problem.cost_unl = 1000;
  const SvmEngine<double> engine = engine_of(bags.data, kRbf, 1'200'000);
  Team one(1);
  const BaggingResult expected = solve_bags(engine, bags.problem, {1e-3, 20'000}, one);
  CHECK(std::ranges::any_of(expected.bags, [](const SvmReport& bag) { return bag.n_steps > 5000; }));
  for (const int n_threads : {2, 7}) {
    Team team(n_threads);
    CHECK(same_bits(solve_bags(engine, bags.problem, {1e-3, 20'000}, team), expected));
  }
}

CASE("bags of one row, of one draw many times, and no bags") {
  Team team(2);
  const Bags one_row(60, 4, 1, 111);
  check_bags(one_row, solve_bags(engine_of(one_row.data, kRbf), one_row.problem, {1e-9, 100'000}, team), kRbf);
  Bags same(60, 2, 10, 112);
  std::ranges::fill(same.drawn, same.drawn[0]);
  check_bags(same, solve_bags(engine_of(same.data, kRbf), same.problem, {1e-9, 100'000}, team), kRbf);
  const Bags none(60, 0, 5, 113);
  const BaggingResult nothing = solve_bags(engine_of(none.data, kRbf), none.problem, {}, team);
  CHECK(nothing.bags.empty());
  CHECK(nothing.support.empty());
}

CASE("bags ask a kernel function from the calling thread alone") {
  const Bags bags(80, 5, 12, 121);
  const std::vector<double> k = kernel_matrix(kRbf, bags.data.points);
  const index_t n = bags.data.n();
  std::atomic<int> n_inside{0};
  std::atomic<bool> is_shared{false};
  const SvmEngine<double> engine(
      fastpu::make_function_kernel(
          n,
          [&](const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out) {
            if (n_inside++ != 0) is_shared = true;
            for (index_t r = 0; r < n_rows; ++r) {
              for (index_t c = 0; c < n_columns; ++c) out[r * n_columns + c] = k[at(rows[r] * n + columns[c])];
            }
            --n_inside;
          }),
      kManyBytes);
  Team team(4);
  check_bags(bags, solve_bags(engine, bags.problem, {1e-9, 1'000'000}, team), kRbf);
  CHECK(!is_shared);
}

CASE("bags end when Poll throws") {
  const Bags bags(200, 20, 60, 131);
  const SvmEngine<double> engine = engine_of(bags.data, kRbf, 0);
  // With several threads only the first call is certain: the others may have taken all bags by the second.
  for (const auto& [n_threads, last] : {std::pair{3, 1}, {1, 1}, {1, 2}, {1, 40}}) {
    int polls_left = last;
    Team team(n_threads, [&] {
      if (--polls_left == 0) throw std::runtime_error("interrupted");
    });
    CHECK_THROWS(std::runtime_error, solve_bags(engine, bags.problem, {1e-9, 1'000'000}, team), "interrupted");
    CHECK(polls_left == 0);
  }
}
