// Steps by kernel values in single precision, certified by those in double precision.
#include "svm/rounded_kernel.hpp"

#include <cmath>
#include <vector>

#include "check.hpp"
#include "smo_problems.hpp"
#include "svm_problems.hpp"

namespace {

using namespace smo_tests;
using fastpu::SvmEngine;
using fastpu::SvmKind;
using fastpu::SvmProblem;
using fastpu::SvmResult;
using svm_tests::Classes;
using svm_tests::engine_of;

// Variables of 0 that are in no violating pair may keep gradients of rounded kernel values; nothing else depends on
// them.
void check_certified(Solved solved, const std::vector<double>& k, index_t n_points, const Box& box, double tol) {
  constexpr double kRounding = 4e-6;
  const std::vector<double> g = gradient_of(k, n_points, box, solved.b);
  for (std::size_t i = 0; i < g.size(); ++i) {
    double& gradient = solved.result.gradient[i];
    if (solved.b[i] == 0 && std::abs(gradient - g[i]) <= kRounding * absolute_sum(solved.b)) gradient = g[i];
  }
  check_optimal(solved, k, n_points, box, tol, 1e-11);
}

}  // namespace

CASE("steps with rounded kernel rows end optimal by the exact kernel, or tell that they cannot") {
  const Points<double> points(900, 3, 205);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(2));
  Team team(2);
  const auto solve = [&](const Box& box, double tol, index_t bytes) {
    const auto rounded = fastpu::detail::round_kernel(points.dense(), kRbf.gamma, bytes, team);
    REQUIRE(rounded != nullptr);
    Solved solved{{}, box.start};
    solved.result = fastpu::smo_rounded(*rounded->cache, *kernel, box.view(), with_tol(tol), {}, team, solved.b.data());
    return solved;
  };
  for (const index_t bytes : {index_t{300'000}, kManyBytes}) {
    for (const double cost : {0.05, 1.0, 30.0}) {
      const Box box = svm_box(900, cost, 206);
      const Solved solved = solve(box, 1e-3, bytes);
      check_certified(solved, k, points.n, box, 1e-3);
      check_rounds(solved, box, k, points.n, 1e-3);
    }
    Box box = random_box(900, true, 207);
    check_certified(solve(box, 1e-3, bytes), k, points.n, box, 1e-3);
    box = svm_box(900, 1e3, 208);
    const Solved hidden = solve(box, 1e-6, bytes);
    CHECK(hidden.result.status == SmoStatus::precision);
    const std::vector<double> g = gradient_of(k, points.n, box, hidden.b);
    CHECK(std::abs(violation_of(box, g, hidden.b) - hidden.result.violation) <= 1e-8);
  }
}

CASE("rows are not rounded where that would show, whatever the memory") {
  const auto is_rounded = [](const Points<double>& points, double gamma, index_t bytes) {
    return fastpu::detail::round_kernel(points.dense(), gamma, bytes, Team(1)) != nullptr;
  };
  Points<double> points(50, 4, 209);
  CHECK(is_rounded(points, 0.3, kManyBytes));
  CHECK(is_rounded(points, 0.3, 0));
  CHECK(!is_rounded(points, 3e4, kManyBytes));
  for (const double far : {1e3, 1e200, -1e308}) {
    points.x[17] = far;
    CHECK(!is_rounded(points, 0.3, kManyBytes));
  }
}

CASE("where rounded kernel values hide the optimum, exact ones go on from where these end") {
  Team team(2);
  Classes data(300, 0.5, 45);
  for (double& cost : data.costs) cost *= 1e4;
  const SvmProblem problem = data.problem(SvmKind::c_svm);
  SvmEngine<double> exact = engine_of(data, kRbf);
  exact.solve(problem, {1e-5, 1}, {}, team);  // an engine that needed exact values once keeps to them
  const SvmResult expected = exact.solve(problem, {}, {}, team);
  std::vector<fastpu::SmoRound> heard;
  const auto listen = [&](const fastpu::SmoRound& round) {
    heard.push_back(round);
    return false;
  };
  SvmEngine<double> engine = engine_of(data, kRbf);
  const SvmResult found = engine.solve(problem, {}, listen, team);
  CHECK(found.status == SmoStatus::tol);
  CHECK(found.violation <= 1e-3);
  CHECK(check::close(found.objective, expected.objective, 1e-5));
  REQUIRE(heard.size() == found.rounds.size());
  CHECK(heard.back().n_steps == found.n_steps);
  bool goes_on = false;
  for (std::size_t r = 1; r < heard.size(); ++r) {
    CHECK(heard[r].n_steps >= heard[r - 1].n_steps);
    goes_on = goes_on || (heard[r].n_active == data.n() && heard[r - 1].n_active < data.n());
  }
  CHECK(goes_on);  // all variables are active again
}
