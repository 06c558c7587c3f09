// Support vector machines by what their problems say: intercepts that are midpoints of optimal intervals, nu and its
// meaning, gaps, starts, memory that cannot be had.
#include "fastpu/svm/svm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "svm_data.hpp"
#include "svm_problems.hpp"

namespace {

using namespace svm_tests;

}  // namespace

CASE("the intercept of C-SVM is the midpoint of its optimal values, whatever the scores and costs") {
  std::mt19937 random = random_numbers(1);
  const std::vector<double> few_values = {-1, -0.5, 0, 0.25, 1, 2};
  for (int trial = 0; trial < 400; ++trial) {
    const auto n = static_cast<index_t>(1 + random() % 12);
    const bool has_ties = trial % 2 == 0;
    std::vector<double> h;
    std::vector<double> costs;
    std::vector<std::int8_t> labels;
    std::vector<Hinge> hinges;
    double target = 0;
    for (index_t i = 0; i < n; ++i) {
      h.push_back(has_ties ? few_values[random() % 6] : static_cast<double>(random() % 1000) / 97);
      costs.push_back(has_ties ? 1 : static_cast<double>(1 + random() % 3));
      labels.push_back(trial % 7 == 3      ? std::int8_t{1}
                       : trial % 7 == 5    ? std::int8_t{-1}
                       : random() % 2 == 0 ? std::int8_t{1}
                                           : std::int8_t{-1});
      // cost max(0, 1 - y (h + b)): for y = 1 that is cost (1 - h - b) + cost max(0, b - (1 - h)).
      hinges.push_back({labels.back() - h.back(), costs.back(), 1});
      if (labels.back() > 0) target += costs.back();
    }
    const std::vector<index_t> rows = all_rows(n);
    SvmProblem problem;
    problem.rows = rows.data();
    problem.n = n;
    problem.labels = labels.data();
    problem.costs = costs.data();
    const SvmResult result = solve_svm(problem, pretend(h));
    CHECK(std::abs(result.intercept - middle_by_trying(hinges, target)) <= 1e-12);
    for (std::size_t i = 0; i < h.size(); ++i) CHECK(std::abs(result.decision[i] - h[i] - result.intercept) <= 1e-12);
  }
}

CASE("costs that do not sum exactly do not hide an interval") {
  // Three of 0.1 against one of 0.3: between the two middle kinks nothing changes but by rounding.
  const std::vector<double> costs = {0.1, 0.1, 0.1, 0.3};
  const std::vector<std::int8_t> labels = {1, 1, 1, -1};
  const std::vector<index_t> rows = all_rows(4);
  SvmProblem problem;
  problem.rows = rows.data();
  problem.n = 4;
  problem.labels = labels.data();
  problem.costs = costs.data();
  CHECK(std::abs(solve_svm(problem, pretend({0.0, 0.5, 1.0, -5.0})).intercept - 2.5) <= 1e-12);  // 1 .. 4
}

CASE("margin and intercept of nu-SVM and the margin of one class are midpoints as well") {
  std::mt19937 random = random_numbers(2);
  for (int trial = 0; trial < 300; ++trial) {
    const auto n = static_cast<index_t>(2 + random() % 10);
    std::vector<double> h;
    std::vector<std::int8_t> labels;
    std::vector<Hinge> sides[3];
    const std::vector<double> costs(at(n), 1.0);
    for (index_t i = 0; i < n; ++i) {
      h.push_back(static_cast<double>(random() % 1000) / 97);
      labels.push_back(i == 0 || (i > 1 && random() % 2 == 0) ? std::int8_t{1} : std::int8_t{-1});
      sides[0].push_back({h.back(), 1, 1});
      sides[labels.back() > 0 ? 1 : 2].push_back({labels.back() * h.back(), 1, 1});
    }
    const auto n_least = static_cast<double>(std::min(sides[1].size(), sides[2].size()));
    const std::vector<index_t> rows = all_rows(n);
    SvmProblem problem;
    problem.kind = SvmKind::nu_svm;
    problem.rows = rows.data();
    problem.n = n;
    problem.labels = labels.data();
    problem.costs = costs.data();
    problem.nu = 2 * std::max(0.5, static_cast<double>(random() % 20) / 10 * n_least / 2) / static_cast<double>(n);
    const double half = 0.5 * problem.nu * static_cast<double>(n);
    const SvmResult result = solve_svm(problem, pretend(h));
    const double minus = middle_by_trying(sides[1], half);
    const double plus = middle_by_trying(sides[2], half);
    const double margin = 0.5 * (minus + plus);
    CHECK(std::abs(result.margin - margin) <= 1e-12);
    const double scale = margin > 0 ? margin : 1;
    CHECK(check::close(result.intercept, 0.5 * (plus - minus) / scale, 1e-12));

    problem.kind = SvmKind::one_class;
    problem.labels = nullptr;
    problem.nu = static_cast<double>(1 + random() % 9) / 10;
    const SvmResult one_class = solve_svm(problem, pretend(h));
    CHECK(std::abs(one_class.margin - middle_by_trying(sides[0], problem.nu * static_cast<double>(n))) <= 1e-12);
    CHECK(one_class.intercept == -one_class.margin);
  }
}

CASE("two points: everything is known") {
  const std::vector<double> x = {2.0, 4.0};  // w (x - 3), w = 1
  const std::vector<std::int8_t> labels = {-1, 1};
  const std::vector<index_t> rows = {0, 1};
  const fastpu::DenseView<double> view{x.data(), 2, 1};
  Team team(1);
  SvmEngine<double> engine(SvmEngine<double>::Data{view}, kLinear, kManyBytes, team);
  SvmProblem problem;
  problem.rows = rows.data();
  problem.n = 2;
  problem.labels = labels.data();
  const std::vector<double> costs = {10, 10};
  problem.costs = costs.data();
  const SvmResult hard = engine.solve(problem, {1e-12, 1000}, {}, team);
  CHECK(check::close(hard.alpha[0], 0.5, 1e-12));
  CHECK(check::close(hard.alpha[1], 0.5, 1e-12));
  CHECK(check::close(hard.intercept, -3, 1e-12));
  CHECK(check::close(hard.objective, -0.5, 1e-12));
  CHECK(hard.gap <= 1e-10);
  // A cost of 1/8: both at the bound, w = 1/4, and b anywhere between 1 - w 4 = 0 and w (-2) ... -1 - w 2 = -3/2.
  const std::vector<double> small_costs = {0.125, 0.125};
  problem.costs = small_costs.data();
  const SvmResult soft = engine.solve(problem, {1e-12, 1000}, {}, team);
  CHECK(soft.alpha[0] == 0.125);
  CHECK(check::close(soft.intercept, -0.75, 1e-12));
  CHECK(soft.gap <= 1e-12);
}

CASE("gaps are the primal less the dual, and small") {
  Team team(2);
  const Classes data(250, 1.0, 31);
  for (const KernelParams& params : {kRbf, kLinear}) {
    SvmEngine<double> engine = engine_of(data, params);
    const std::vector<double> k = kernel_matrix(params, data.points);
    for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
      const SvmProblem problem = data.problem(kind);
      const SvmResult result = engine.solve(problem, {1e-7, 1'000'000}, {}, team);
      CHECK(result.status == SmoStatus::tol);
      const double scale = kind == SvmKind::nu_svm ? result.margin : 1;
      REQUIRE(scale > 0);
      std::vector<double> h(at(data.n()));
      double squared_norm = 0;
      const auto b_of = [&](index_t j) {
        return scale * result.alpha[at(j)] * (problem.labels == nullptr ? 1 : problem.labels[j]);
      };
      for (index_t i = 0; i < data.n(); ++i) {
        for (index_t j = 0; j < data.n(); ++j) h[at(i)] += k[at(i * data.n() + j)] * b_of(j);
        squared_norm += h[at(i)] * b_of(i);
      }
      const double gain = kind == SvmKind::c_svm ? sum_of(result.alpha) : 0;
      CHECK(check::close(result.objective, 0.5 * squared_norm - gain, 1e-9));
      const double loss = loss_of(problem, h, result.intercept * scale, result.margin);
      CHECK(std::abs(result.gap - (squared_norm + loss - gain)) <= 1e-8);
      CHECK(result.gap <= 1e-4);
      // f of the rows; its constant cannot be bettered.
      for (index_t i = 0; i < data.n(); ++i) {
        CHECK(std::abs(result.decision[at(i)] - (h[at(i)] / scale + result.intercept)) <= 1e-9);
      }
      for (const double step : {-0.01, 0.01}) {
        const double margin = kind == SvmKind::one_class ? result.margin + step : result.margin;
        CHECK(loss_of(problem, h, result.intercept * scale + step, margin) >= loss - 1e-12);
        if (kind == SvmKind::nu_svm)
          CHECK(loss_of(problem, h, result.intercept * scale, margin + step) >= loss - 1e-12);
      }
    }
  }
}

CASE("nu bounds the share of errors from above and that of support vectors from below") {
  Team team(2);
  const Classes data(300, 1.0, 41);
  SvmEngine<double> engine = engine_of(data, kRbf);
  const double total = sum_of(data.costs);
  for (const double nu : {0.2, 0.3, 0.6}) {
    for (const SvmKind kind : {SvmKind::nu_svm, SvmKind::one_class}) {
      const SvmResult result = engine.solve(data.problem(kind, nu), {1e-6, 1'000'000}, {}, team);
      CHECK(result.status == SmoStatus::tol);
      const double scale = kind == SvmKind::nu_svm ? result.margin : 1;
      REQUIRE(scale > 0);
      double errors = 0;
      double support = 0;
      double sums[2] = {0, 0};
      for (index_t i = 0; i < data.n(); ++i) {
        const double cost = data.costs[at(i)];
        CHECK(result.alpha[at(i)] >= 0 && result.alpha[at(i)] * scale <= cost * (1 + 1e-12));
        if (result.alpha[at(i)] > 0) support += cost;
        const double short_of =
            kind == SvmKind::nu_svm ? 1 - data.labels[at(i)] * result.decision[at(i)] : -result.decision[at(i)];
        if (short_of > 1e-4) errors += cost;
        sums[kind == SvmKind::nu_svm && data.labels[at(i)] < 0 ? 1 : 0] += result.alpha[at(i)] * scale;
      }
      CHECK(errors <= nu * total);
      CHECK(support >= nu * total * (1 - 1e-12));
      if (kind == SvmKind::nu_svm) {
        CHECK(check::close(sums[0], nu * total / 2, 1e-10));
        CHECK(check::close(sums[1], nu * total / 2, 1e-10));
      } else {
        CHECK(check::close(sums[0], nu * total, 1e-10));
      }
    }
  }
}

CASE("nu-SVM is the C-SVM whose costs are divided by its margin") {
  Team team(1);
  const Classes data(200, 1.0, 51);
  SvmEngine<double> engine = engine_of(data, kRbf);
  const SvmResult nu = engine.solve(data.problem(SvmKind::nu_svm, 0.35), {1e-9, 1'000'000}, {}, team);
  REQUIRE(nu.margin > 0);
  Classes divided = data;
  for (double& cost : divided.costs) cost /= nu.margin;
  const SvmResult c = engine.solve(divided.problem(SvmKind::c_svm), {1e-9, 1'000'000}, {}, team);
  for (index_t i = 0; i < data.n(); ++i) {
    CHECK(std::abs(nu.alpha[at(i)] - c.alpha[at(i)]) <= 1e-4);
    CHECK(std::abs(nu.decision[at(i)] - c.decision[at(i)]) <= 1e-4);
  }
}

CASE("nu that the classes do not allow is refused with the largest that they do") {
  Team team(1);
  Classes data(10, 1.0, 61);
  data.costs.assign(10, 1.0);
  data.labels = {1, -1, -1, -1, -1, -1, -1, -1, 1, -1};
  SvmEngine<double> engine = engine_of(data, kRbf);
  CHECK_THROWS(std::invalid_argument, engine.solve(data.problem(SvmKind::nu_svm, 0.41), {}, {}, team),
               "nu must be at most 0.4 for these classes, got 0.41");
  const SvmResult most = engine.solve(data.problem(SvmKind::nu_svm, 0.4), {}, {}, team);  // both at their bounds
  const double scale = most.margin > 0 ? most.margin : 1;
  CHECK(check::close(most.alpha[0] * scale, 1, 1e-12));
  CHECK(check::close(most.alpha[8] * scale, 1, 1e-12));
  data.labels.assign(10, std::int8_t{1});
  CHECK_THROWS(std::invalid_argument, engine.solve(data.problem(SvmKind::nu_svm, 0.1), {}, {}, team),
               "nu must be at most 0 ");
  data.costs.assign(10, 1e-200);
  CHECK_THROWS(std::invalid_argument, engine.solve(data.problem(SvmKind::nu_svm, 1e-200), {}, {}, team),
               "nu must be at most 0");
}

CASE("a margin of next to nothing is none, and alphas stay finite") {
  Team team(1);
  Classes data(10, 1.0, 63);
  for (double& x : data.points.x) x *= 1e-161;
  SvmEngine<double> engine = engine_of(data, kLinear);
  const SvmResult found = engine.solve(data.problem(SvmKind::nu_svm, 0.2), {}, {}, team);
  CHECK(std::isfinite(found.intercept));
  for (const double alpha : found.alpha) CHECK(std::isfinite(alpha));
}

CASE("one class with nu of 1 takes all rows in full, and with next to nothing one") {
  Team team(1);
  const Classes data(40, 2.0, 62);
  SvmEngine<double> engine = engine_of(data, kRbf);
  const SvmResult all = engine.solve(data.problem(SvmKind::one_class, 1.0), {}, {}, team);
  for (index_t i = 0; i < data.n(); ++i) CHECK(check::close(all.alpha[at(i)], data.costs[at(i)], 1e-12));
  CHECK(all.n_steps <= 1);
  const SvmResult few = engine.solve(data.problem(SvmKind::one_class, 1e-3), {1e-9, 100'000}, {}, team);
  CHECK(check::close(sum_of(few.alpha), 1e-3 * sum_of(data.costs), 1e-12));
}

CASE("one class alone, a row alone, and rows that are all equal are solved") {
  Team team(1);
  Classes data(30, 1.0, 63);
  for (const KernelParams& params : {kRbf, kLinear}) {
    for (const std::int8_t only : {std::int8_t{1}, std::int8_t{-1}}) {
      data.labels.assign(30, only);
      const SvmResult result = engine_of(data, params).solve(data.problem(SvmKind::c_svm), {}, {}, team);
      CHECK(sum_of(result.alpha) == 0);
      CHECK(result.intercept == only);  // the finite end of a half-infinite interval
      CHECK(result.gap == 0);
    }
    SvmEngine<double> engine = engine_of(data, params);
    SvmProblem alone = data.problem(SvmKind::c_svm);
    alone.n = 1;
    CHECK(engine.solve(alone, {}, {}, team).intercept == -1);
    alone.kind = SvmKind::one_class;
    alone.labels = nullptr;
    const SvmResult single = engine.solve(alone, {}, {}, team);
    CHECK(check::close(single.alpha[0], 0.3 * data.costs[0], 1e-12));
    CHECK(std::abs(single.decision[0]) <= 1e-12);
  }
  Classes equal(20, 1.0, 64);
  std::ranges::fill(equal.points.x, 0.75);
  for (const KernelParams& params : {kRbf, kLinear}) {
    for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
      const SvmResult result = engine_of(equal, params).solve(equal.problem(kind), {}, {}, team);
      CHECK(std::isfinite(result.intercept));
      CHECK(result.gap <= 1e-9);
      for (const double f : result.decision) CHECK(std::isfinite(f));
    }
  }
}

CASE("a row with weight 2 is the row twice") {
  Team team(1);
  const Classes data(60, 1.0, 71);
  Classes twice = data;
  twice.points = Points<double>(120, 3, 71);
  for (index_t i = 0; i < 120; ++i) {
    for (index_t e = 0; e < 3; ++e) twice.points.x[at(i * 3 + e)] = data.points.row(i / 2)[e];
  }
  twice.rows = all_rows(120);
  twice.labels.clear();
  twice.costs.clear();
  Classes heavy = data;
  for (index_t i = 0; i < 120; ++i) {
    twice.labels.push_back(data.labels[at(i / 2)]);
    twice.costs.push_back(data.costs[at(i / 2)]);
  }
  for (double& cost : heavy.costs) cost *= 2;
  for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
    const SmoOptions options{1e-9, 1'000'000};
    const SvmResult a = engine_of(heavy, kRbf).solve(heavy.problem(kind), options, {}, team);
    const SvmResult b = engine_of(twice, kRbf).solve(twice.problem(kind), options, {}, team);
    for (index_t i = 0; i < 60; ++i) {
      CHECK(std::abs(a.decision[at(i)] - b.decision[at(2 * i)]) <= 1e-6);
      CHECK(std::abs(a.alpha[at(i)] - b.alpha[at(2 * i)] - b.alpha[at(2 * i + 1)]) <= 1e-4);
    }
  }
}

CASE("any start is made feasible, and a solution is left as it is") {
  Team team(1);
  const Classes data(150, 1.0, 81);
  for (const KernelParams& params : {kRbf, kLinear}) {
    SvmEngine<double> engine = engine_of(data, params);
    for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
      SvmProblem problem = data.problem(kind);
      const SvmResult cold = engine.solve(problem, {1e-6, 1'000'000}, {}, team);
      std::vector<double> starts[4];
      starts[0].assign(at(data.n()), 0.0);
      starts[1].assign(at(data.n()), 1e9);
      starts[2].assign(at(data.n()), -5.0);
      for (index_t i = 0; i < data.n(); ++i) starts[3].push_back(i % 3 == 0 ? 0.7 : 1e-300);
      for (const auto& start : starts) {
        problem.start = start.data();
        const SvmResult warm = engine.solve(problem, {1e-6, 1'000'000}, {}, team);
        CHECK(warm.status == SmoStatus::tol);
        CHECK(std::abs(warm.objective - cold.objective) <= 1e-4 * (1 + std::abs(cold.objective)));
        double balance = 0;
        for (index_t i = 0; i < data.n(); ++i) {
          const double scale = kind == SvmKind::nu_svm && warm.margin > 0 ? warm.margin : 1;
          CHECK(warm.alpha[at(i)] >= 0 && warm.alpha[at(i)] * scale <= data.costs[at(i)] * (1 + 1e-12));
          balance += warm.alpha[at(i)] * data.labels[at(i)];
        }
        if (kind != SvmKind::one_class) CHECK(std::abs(balance) <= 1e-10);
      }
      problem.start = cold.alpha.data();
      const SvmResult again = engine.solve(problem, {2e-6, 1'000'000}, {}, team);
      CHECK(again.n_steps <= 5);  // alphas at a bound may be rounded off it
      CHECK(std::abs(again.intercept - cold.intercept) <= 1e-9);
    }
  }
}

CASE("kernels of every form give the same machine") {
  Team team(2);
  const Classes data(120, 1.0, 91);
  const SmoOptions options{1e-8, 1'000'000};
  const std::vector<double> k = kernel_matrix(kRbf, data.points);
  const index_t n = data.n();
  SvmEngine<double> dense = engine_of(data, kRbf);
  SvmEngine<double> sparse(SvmEngine<double>::Data{data.points.sparse()}, kRbf, kManyBytes, team);
  SvmEngine<double> precomputed(fastpu::make_precomputed_kernel(fastpu::DenseView<double>{k.data(), n, n}), kManyBytes);
  SvmEngine<double> function(
      fastpu::make_function_kernel(
          n,
          [&](const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out) {
            for (index_t r = 0; r < n_rows; ++r) {
              for (index_t c = 0; c < n_columns; ++c) out[r * n_columns + c] = k[at(rows[r] * n + columns[c])];
            }
          }),
      kManyBytes);
  for (const SvmKind kind : {SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class}) {
    const SvmResult expected = dense.solve(data.problem(kind), options, {}, team);
    for (SvmEngine<double>* engine : {&sparse, &precomputed, &function}) {
      const SvmResult result = engine->solve(data.problem(kind), options, {}, team);
      CHECK(std::abs(result.intercept - expected.intercept) <= 1e-5);
      for (index_t i = 0; i < n; ++i) CHECK(std::abs(result.decision[at(i)] - expected.decision[at(i)]) <= 1e-5);
    }
  }
}

CASE("an engine solves one problem after the other as fresh ones do, and gives the same bits for all threads") {
  const Classes data(300, 1.0, 95);
  for (const KernelParams& params : {kRbf, kLinear}) {
    for (const index_t bytes : {index_t{0}, index_t{50'000}, kManyBytes}) {
      std::vector<SvmResult> expected;
      for (const int n_threads : {1, 2, 3, 7}) {
        SvmEngine<double> engine = engine_of(data, params, bytes);
        Team team(n_threads);
        std::size_t number = 0;
        for (const SvmKind kind : {SvmKind::c_svm, SvmKind::one_class, SvmKind::nu_svm, SvmKind::c_svm}) {
          SvmProblem problem = data.problem(kind, 0.2);
          const index_t first = static_cast<index_t>(number) * 40;
          problem.rows += first;
          problem.n = 150;
          if (problem.labels != nullptr) problem.labels += first;
          problem.costs += first;
          const SvmResult result = engine.solve(problem, {1e-4, 1'000'000}, {}, team);
          if (n_threads == 1) {
            const SvmResult fresh = engine_of(data, params).solve(problem, {1e-4, 1'000'000}, {}, team);
            CHECK(std::abs(fresh.objective - result.objective) <= 1e-2);
            expected.push_back(result);
          }
          CHECK(same_bits(result, expected[number]));
          ++number;
        }
      }
    }
  }
}

CASE("kernel values that overflow, and no rows at all, are refused") {
  // (gamma x'z + coef0)^2 is zero for equal rows and 1e40 for opposite ones.
  const std::vector<float> x = {1e10F, -1e10F, 1e10F, -1e10F};
  const std::vector<index_t> rows = all_rows(4);
  const std::vector<std::int8_t> labels = {1, -1, -1, 1};
  const std::vector<double> costs(4, 1.0);
  SvmProblem problem;
  problem.rows = rows.data();
  problem.n = 4;
  problem.labels = labels.data();
  problem.costs = costs.data();
  Team team(1);
  SvmEngine<float> engine(SvmEngine<float>::Data{fastpu::DenseView<float>{x.data(), 4, 1}},
                          {KernelKind::poly, 1.0, 2, -1e20}, kManyBytes, team);
  CHECK_THROWS(std::invalid_argument, engine.solve(problem, {}, {}, team), "scale X");
  problem.n = 0;
  CHECK_THROWS(std::invalid_argument, engine.solve(problem, {}, {}, team), "needs rows");
}

CASE("a callback that stops leaves a feasible machine and says so") {
  Team team(1);
  const Classes data(300, 3.0, 141);
  SvmEngine<double> engine = engine_of(data, kRbf);
  const SvmResult result =
      engine.solve(data.problem(SvmKind::c_svm), {1e-6, 1'000'000}, [](const fastpu::SmoRound&) { return true; }, team);
  CHECK(result.status == SmoStatus::callback);
  CHECK(result.rounds.size() == 1);
  CHECK(result.gap > 0);
  CHECK(std::isfinite(result.intercept));
}

CASE("a cache that no memory could hold is an OutOfMemory, and the engine can be asked again") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: a sanitizer ends the program instead");
#else
  constexpr index_t kRows = index_t{1} << 23;
  SvmEngine<double> engine(fastpu::make_function_kernel(kRows,
                                                        [](const index_t* rows, index_t n_rows, const index_t* columns,
                                                           index_t n_columns, double* out) {
                                                          for (index_t r = 0; r < n_rows; ++r) {
                                                            for (index_t c = 0; c < n_columns; ++c) {
                                                              out[r * n_columns + c] = rows[r] == columns[c] ? 1 : 0;
                                                            }
                                                          }
                                                        }),
                           std::numeric_limits<index_t>::max());
  const std::vector<index_t> rows = {5, kRows - 1};
  const std::vector<std::int8_t> labels = {1, -1};
  const std::vector<double> costs = {1, 1};
  SvmProblem problem;
  problem.rows = rows.data();
  problem.n = 2;
  problem.labels = labels.data();
  problem.costs = costs.data();
  Team team(1);
  CHECK_THROWS(fastpu::OutOfMemory, engine.solve(problem, {}, {}, team), "for the cache of kernel rows (cache_mb)");
  CHECK_THROWS(fastpu::OutOfMemory, engine.solve(problem, {}, {}, team), "for the cache of kernel rows (cache_mb)");
#endif
}
