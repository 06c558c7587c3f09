// Sequential minimal optimisation against a slow projected gradient method, and its promises: optimality, feasibility,
// bits, ends that are not the optimum.
#include "fastpu/svm/smo.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "smo_problems.hpp"
#include "svm_data.hpp"

namespace {

using namespace smo_tests;
using fastpu::Isa;

constexpr double kTightTol = 1e-10;

template <class T>
void check_against_slow(const KernelParams& params, index_t n, bool has_two_groups, unsigned seed) {
  const Points<T> points(n + 5, 4, seed);
  const Box box = random_box(n, has_two_groups, seed + 1);
  const std::vector<double> k = kernel_matrix(params, points);
  const std::vector<double> slow = slow_solution(k, points.n, box);
  const double slow_objective = objective_of(box, gradient_of(k, points.n, box, slow), slow);
  Team team(2);
  const double kernel_error = sizeof(T) == sizeof(float) ? 1e-5 : 1e-12;
  // A violation of tol may cost that much for each unit that can be moved; so may an error of the gradient.
  const auto check = [&](const Solved& solved, double error) {
    check_optimal(solved, k, points.n, box, kTightTol, error);
    check_rounds(solved, box, k, points.n, 10 * error);
    const double objective = objective_of(box, gradient_of(k, points.n, box, solved.b), solved.b);
    CHECK(std::abs(objective - slow_objective) <= 1e-7 + 10 * error * (1 + absolute_sum(solved.b)));
  };
  for (const index_t bytes : {index_t{0}, index_t{400} * static_cast<index_t>(sizeof(T)), kManyBytes}) {
    check(solve_with(points, params, box, with_tol(kTightTol), team, bytes), kernel_error);
  }
  if (params.kind != KernelKind::linear) return;
  check(solve_linear(points.dense(), box, with_tol(kTightTol), team), 1e-12);
  check(solve_linear(points.sparse(), box, with_tol(kTightTol), team), 1e-12);
  SmoOptions few_at_a_time = with_tol(kTightTol);
  few_at_a_time.working_set = 8;
  check(solve_linear(points.dense(), box, few_at_a_time, team), 1e-12);
}

}  // namespace

CASE("fast equals slow, on boxes with one and with two groups") {
  unsigned seed = 100;
  for (const bool has_two_groups : {false, true}) {
    for (const index_t n : {2, 3, 10, 25}) {
      for (const KernelParams& params : {kRbf, kLinear, kPoly}) {
        check_against_slow<double>(params, n, has_two_groups, ++seed);
        check_against_slow<float>(params, n, has_two_groups, ++seed);
      }
    }
  }
}

CASE("problems that shrink end optimal among all variables") {
  const Points<double> points(900, 3, 201);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const std::vector<double> k_linear = kernel_matrix(kLinear, points);
  for (const double cost : {0.05, 1.0, 30.0}) {
    const Box box = svm_box(900, cost, 202);
    Team team(2);
    for (const index_t bytes : {index_t{300'000}, kManyBytes}) {
      const Solved solved = solve_with(points, kRbf, box, with_tol(1e-4), team, bytes);
      check_optimal(solved, k, points.n, box, 1e-4, 1e-11);
      check_rounds(solved, box, k, points.n, 1e-9);
      index_t fewest = points.n;
      for (const SmoRound& round : solved.result.rounds) fewest = std::min(fewest, round.n_active);
      CHECK(cost > 1 || fewest < points.n);
    }
    const Solved linear = solve_linear(points.dense(), box, with_tol(1e-4), team);
    check_optimal(linear, k_linear, points.n, box, 1e-4, 1e-11);
    check_optimal(solve_linear(points.sparse(), box, with_tol(1e-4), team), k_linear, points.n, box, 1e-4, 1e-11);
  }
}

CASE("a problem over some rows of the data, after another one, ends optimal") {
  const Points<double> points(400, 3, 211);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(2));
  Team team(2);
  for (const index_t bytes : {index_t{0}, index_t{50'000}, kManyBytes}) {
    KernelCache<double> cache(*kernel, bytes);
    for (unsigned seed = 0; seed < 6; ++seed) {
      Box box = random_box(400, seed % 2 == 1, 212 + seed);
      const std::size_t n_left = 30 + 70 * seed;
      box.rows.resize(n_left);
      box.linear.resize(n_left);
      box.lower.resize(n_left);
      box.upper.resize(n_left);
      box.start.resize(n_left);
      if (!box.groups.empty()) box.groups.resize(n_left);
      check_optimal(solve_cached(cache, box, with_tol(1e-6), team), k, points.n, box, 1e-6, 1e-11);
    }
  }
}

CASE("every number of threads and every level gives the same bits") {
  const Points<double> points(900, 5, 221);
  for (const bool has_two_groups : {false, true}) {
    Box box = svm_box(900, 2.0, 222);
    if (has_two_groups) {
      for (const double q : box.linear) box.groups.push_back(q > 0 ? 1 : 0);
      for (std::size_t i = 0; i < box.start.size(); ++i) box.start[i] = 0.25 * (box.lower[i] + box.upper[i]);
    }
    const SmoOptions options;
    Team one(1, {}, Isa::baseline);
    const Solved expected = solve_with(points, kRbf, box, options, one);
    const Solved expected_linear = solve_linear(points.dense(), box, options, one);
    const Solved expected_sparse = solve_linear(points.sparse(), box, options, one);
    CHECK(expected.result.n_steps > 100);
    for (const int n_threads : {1, 2, 3, 7}) {
      for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
        Team team(n_threads, {}, static_cast<Isa>(level));
        CHECK(same_bits(solve_with(points, kRbf, box, options, team), expected));
        CHECK(same_bits(solve_linear(points.dense(), box, options, team), expected_linear));
        CHECK(same_bits(solve_linear(points.sparse(), box, options, team), expected_sparse));
      }
    }
  }
}

CASE("so do problems of so many variables that passes are cut into blocks") {
  constexpr index_t kMany = 17'003;  // more than two blocks of 8192
  const Points<float> points(kMany, 2, 231);
  for (const bool has_two_groups : {false, true}) {
    Box box = svm_box(kMany, 1.0, 232);
    if (has_two_groups) {
      for (const double q : box.linear) box.groups.push_back(q > 0 ? 1 : 0);
      for (index_t i = 0; i < 40; ++i) box.start[at(i)] = box.lower[at(i)] + box.upper[at(i)];
    }
    SmoOptions options;
    options.max_steps = 100;
    Team one(1);
    const Solved expected = solve_with(points, kRbf, box, options, one);
    CHECK(expected.result.n_steps == 100);
    CHECK(expected.result.status == SmoStatus::max_steps);
    check_feasible(box, expected.b);
    options.max_steps = 600;
    const Solved expected_linear = solve_linear(points.dense(), box, options, one);
    for (const int n_threads : {2, 3, 7}) {
      Team team(n_threads);
      options.max_steps = 100;
      CHECK(same_bits(solve_with(points, kRbf, box, options, team), expected));
      options.max_steps = 600;
      CHECK(same_bits(solve_linear(points.dense(), box, options, team), expected_linear));
    }
  }
}

CASE("kernel rows that other threads compute beside steps change no bit, whatever the cache holds and after a stop") {
  constexpr index_t kMany = 4'500;
  const Points<float> points(kMany, 4, 241);
  const Box box = svm_box(kMany, 1.0, 242);
  SmoOptions options;
  options.max_steps = 1'500;
  Team one(1);
  // Rows are computed ahead where kernel values of several rows cost less at once, as those of sparse rows do.
  const auto kernel = make_kernel(points.sparse(), kRbf, Team(3));
  CHECK(kernel->gains_by_several_rows());
  KernelCache<float> whole(*kernel, kMany * kMany * 4);
  const Solved expected = solve_cached(whole, box, options, one);
  CHECK(expected.result.n_steps > 1'000);
  int polls_left = -1;
  const auto poll = [&] {
    if (polls_left < 0) return;
    if (--polls_left < 0) throw std::runtime_error("interrupted");
  };
  for (const index_t n_kept : {2, 40, 150, 4'500}) {
    for (const int n_threads : {2, 3}) {
      Team team(n_threads, poll);
      KernelCache<float> cache(*kernel, 2 * n_kept * kMany * 4);
      for (const int n_fine : {20, 60, 150}) {
        polls_left = n_fine;
        CHECK_THROWS(std::runtime_error, solve_cached(cache, box, options, team), "interrupted");
      }
      polls_left = -1;
      CHECK(same_bits(solve_cached(cache, box, options, team), expected));
    }
  }
}

CASE("gradients are right where a kernel row takes so much memory that few are kept") {
  constexpr index_t kMany = 600'000;
  const Points<float> points(kMany, 4, 235, 1.0, false);
  const Box box = svm_box(kMany, 1.0, 236);
  SmoOptions options;
  options.max_steps = 12;
  Team team(2);
  for (const index_t n_kept : {2, 33}) {
    const Solved solved = solve_with(points, kRbf, box, options, team, 2 * n_kept * kMany * 4);
    CHECK(solved.result.n_steps == 12);
    check_feasible(box, solved.b);
    std::vector<index_t> moved;
    for (index_t i = 0; i < kMany; ++i) {
      if (solved.b[at(i)] != 0) moved.push_back(i);
    }
    bool is_right = true;
    for (index_t i = 0; i < kMany; i += 2999) {
      double gradient = box.linear[at(i)];
      for (const index_t j : moved) {
        gradient += solved.b[at(j)] * static_cast<double>(exact_kernel(kRbf, points.row(i), points.row(j), points.d));
      }
      is_right = is_right && std::abs(gradient - solved.result.gradient[at(i)]) <= 2e-6 * (1 + absolute_sum(solved.b));
    }
    CHECK(is_right);
  }
}

CASE("a start that is optimal is left as it is") {
  const Points<double> points(300, 4, 241);
  Team team(2);
  for (const bool has_two_groups : {false, true}) {
    for (const bool is_linear : {false, true}) {
      Box box = random_box(300, has_two_groups, 242);
      const auto solve = [&](double tol) {
        return is_linear ? solve_linear(points.dense(), box, with_tol(tol), team)
                         : solve_with(points, kRbf, box, with_tol(tol), team);
      };
      const Solved cold = solve(1e-6);
      CHECK(cold.result.n_steps > 0);
      box.start = cold.b;
      const Solved warm = solve(1.01e-6);
      CHECK(warm.result.status == SmoStatus::tol);
      CHECK(warm.result.n_steps == 0);
      CHECK(warm.result.rounds.empty());
      CHECK(same_bits(warm.b, cold.b));
    }
  }
}

CASE("an optimal start whose product is known needs no kernel row") {
  const Points<double> points(300, 4, 245);
  Team team(1);
  Box box = random_box(300, true, 246);
  const Solved cold = solve_with(points, kRbf, box, with_tol(1e-6), team);
  std::vector<double> product(cold.result.gradient);
  for (std::size_t i = 0; i < product.size(); ++i) product[i] -= box.linear[i];
  class Refusing final : public fastpu::Kernel<double> {
   public:
    explicit Refusing(const fastpu::Kernel<double>& kernel) : kernel_(kernel) {}
    index_t n_rows() const override { return kernel_.n_rows(); }
    bool gains_by_several_rows() const override { return kernel_.gains_by_several_rows(); }
    double diagonal(index_t row) const override { return kernel_.diagonal(row); }
    std::unique_ptr<fastpu::KernelColumns<double>> pack(const index_t* rows, index_t n, Team& with) const override {
      return kernel_.pack(rows, n, with);
    }
    void fill(const index_t* /*rows*/, index_t /*n*/, const fastpu::KernelColumns<double>& /*columns*/,
              index_t /*first*/, index_t /*last*/, double* const* /*out*/) const override {
      throw std::runtime_error("a kernel row was asked for");
    }

   private:
    const fastpu::Kernel<double>& kernel_;
  };
  const auto kernel = make_kernel(points.dense(), kRbf, Team(1));
  const Refusing refusing(*kernel);
  KernelCache<double> cache(refusing, kManyBytes);
  const fastpu::SmoStart start{product.data()};
  SmoProblem problem = box.view();
  problem.start = &start;
  std::vector<double> b(cold.b);
  const SmoResult warm = smo(cache, problem, with_tol(1.01e-6), {}, team, b.data());
  CHECK(warm.status == SmoStatus::tol);
  CHECK(warm.n_steps == 0);
  CHECK(b == cold.b);
  problem.start = nullptr;
  CHECK_THROWS(std::runtime_error, smo(cache, problem, with_tol(1.01e-6), {}, team, b.data()), "a kernel row");
}

CASE("a start near the optimum takes fewer steps") {
  const Points<double> points(600, 4, 243);
  Team team(1);
  Box box = svm_box(600, 1.0, 244);
  const Solved cold = solve_with(points, kRbf, box, with_tol(1e-4), team);
  box.start = solve_with(points, kRbf, box, with_tol(1e-2), team).b;
  const Solved warm = solve_with(points, kRbf, box, with_tol(1e-4), team);
  CHECK(warm.result.n_steps < cold.result.n_steps);
  CHECK(warm.result.status == SmoStatus::tol);
}

CASE("the callback sees what the result tells, and stops the fit") {
  const Points<double> points(700, 4, 251);
  const Box box = svm_box(700, 5.0, 252);
  Team team(2);
  for (const bool is_linear : {false, true}) {
    for (const std::size_t n_wanted : {std::size_t{1}, std::size_t{3}, std::size_t{1'000'000}}) {
      std::vector<SmoRound> seen;
      const auto callback = [&](const SmoRound& round) {
        seen.push_back(round);
        return seen.size() == n_wanted;
      };
      const Solved solved = is_linear ? solve_linear(points.dense(), box, with_tol(1e-5), team, callback)
                                      : solve_with(points, kRbf, box, with_tol(1e-5), team, kManyBytes, callback);
      REQUIRE(solved.result.rounds.size() == seen.size());
      for (std::size_t r = 0; r < seen.size(); ++r) {
        CHECK(seen[r].n_steps == solved.result.rounds[r].n_steps);
        CHECK(seen[r].objective == solved.result.rounds[r].objective);
      }
      CHECK(solved.result.status == (n_wanted < 100 ? SmoStatus::callback : SmoStatus::tol));
      CHECK(n_wanted > 100 || seen.size() == n_wanted);
      check_feasible(box, solved.b);
      const std::vector<double> k = kernel_matrix(is_linear ? kLinear : kRbf, points);
      const std::vector<double> g = gradient_of(k, points.n, box, solved.b);
      for (std::size_t i = 0; i < g.size(); ++i) CHECK(std::abs(g[i] - solved.result.gradient[i]) <= 1e-9);
    }
  }
}

CASE("a callback that throws ends the fit, and the cache is as good as before") {
  const Points<double> points(500, 4, 253);
  const Box box = svm_box(500, 5.0, 254);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(2));
  KernelCache<double> cache(*kernel, kManyBytes);
  Team team(2);
  const SmoCallback refuse = [](const SmoRound&) -> bool { throw std::runtime_error("enough"); };
  CHECK_THROWS(std::runtime_error, solve_cached(cache, box, {}, team, refuse), "enough");
  CHECK_THROWS(std::runtime_error, solve_linear(points.dense(), box, {}, team, refuse), "enough");
  check_optimal(solve_cached(cache, box, {}, team), kernel_matrix(kRbf, points), points.n, box, 1e-3, 1e-11);
}

CASE("no more than max_steps are made, and the result says so") {
  const Points<double> points(300, 4, 261);
  const Box box = svm_box(300, 5.0, 262);
  Team team(1);
  for (const index_t most : {0, 1, 7, 150, 301}) {
    SmoOptions options = with_tol(1e-8);
    options.max_steps = most;
    for (const bool is_linear : {false, true}) {
      const Solved solved =
          is_linear ? solve_linear(points.dense(), box, options, team) : solve_with(points, kRbf, box, options, team);
      CHECK(solved.result.n_steps == most);
      CHECK(solved.result.status == SmoStatus::max_steps);
      CHECK(solved.result.violation > options.tol);
      check_feasible(box, solved.b);
    }
  }
}

CASE("Poll that throws at any time ends the fit, and the cache then gives the right solution") {
  const Points<double> points(500, 4, 271);
  const Box box = svm_box(500, 1.0, 272);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  int polls_left = -1;
  const auto poll = [&] {
    if (polls_left < 0) return;
    if (--polls_left < 0) throw std::runtime_error("interrupted");
  };
  Team team(1, poll);
  const auto kernel = make_kernel(points.dense(), kRbf, Team(1));
  int n_interrupted = 0;
  for (int n_fine = 0; n_fine < 3000; n_fine = n_fine < 20 ? n_fine + 1 : n_fine * 5 / 4) {
    KernelCache<double> cache(*kernel, kManyBytes);
    polls_left = n_fine;
    try {
      solve_cached(cache, box, with_tol(1e-3), team);
    } catch (const std::runtime_error&) {
      ++n_interrupted;
    }
    polls_left = -1;
    check_optimal(solve_cached(cache, box, with_tol(1e-3), team), k, points.n, box, 1e-3, 1e-11);
    polls_left = std::min(n_fine, 5);
    CHECK_THROWS(std::runtime_error, solve_linear(points.dense(), box, with_tol(1e-3), team), "interrupted");
    polls_left = -1;
  }
  CHECK(n_interrupted > 20);
}

CASE("where nothing can move, nothing is done") {
  const Points<double> points(20, 3, 281);
  Team team(1);
  Box fixed = random_box(20, true, 282);
  fixed.upper = fixed.lower;
  fixed.start = fixed.lower;
  Box alone = random_box(1, false, 283);
  alone.lower = {-1};
  alone.upper = {1};
  alone.start = {0.25};
  Box one_each = random_box(2, true, 284);  // no pair within a group
  one_each.lower = {-1, -1};
  one_each.upper = {1, 1};
  one_each.start = {0.5, -0.5};
  one_each.groups = {1, 0};
  for (const Box& box : {fixed, alone, one_each}) {
    for (const Solved& solved :
         {solve_with(points, kRbf, box, {}, team), solve_with(points, kPoly, box, {}, team, 0),
          solve_linear(points.dense(), box, {}, team), solve_linear(points.sparse(), box, {}, team)}) {
      CHECK(solved.result.status == SmoStatus::tol);
      CHECK(solved.result.n_steps == 0);
      CHECK(solved.result.violation == 0);
      CHECK(solved.b == box.start);
      CHECK(solved.result.gradient.size() == box.start.size());
    }
  }
}

CASE("a group may be empty") {
  const Points<double> points(60, 3, 285);
  const std::vector<double> k = kernel_matrix(kRbf, points);
  const std::vector<double> k_linear = kernel_matrix(kLinear, points);
  Team team(1);
  for (const std::uint8_t only : {std::uint8_t{0}, std::uint8_t{1}}) {
    Box box = random_box(60, false, 286);
    const Solved expected = solve_with(points, kRbf, box, with_tol(1e-6), team);
    box.groups.assign(60, only);
    const Solved solved = solve_with(points, kRbf, box, with_tol(1e-6), team);
    check_optimal(solved, k, points.n, box, 1e-6, 1e-12);
    CHECK(same_bits(solved.b, expected.b));
    check_optimal(solve_linear(points.dense(), box, with_tol(1e-6), team), k_linear, points.n, box, 1e-6, 1e-12);
  }
}

CASE("kernels without curvature end") {
  // Equal rows, and rows that are all zero: only q and the bounds decide.
  Points<double> points(40, 3, 291);
  Team team(1);
  for (const double value : {0.0, 1.5}) {
    for (double& x : points.x) x = value;
    for (const bool has_two_groups : {false, true}) {
      const Box box = random_box(40, has_two_groups, 292);
      for (const KernelParams& params : {kRbf, kLinear}) {
        check_optimal(solve_with(points, params, box, {}, team), kernel_matrix(params, points), points.n, box, 1e-3,
                      1e-12);
      }
      check_optimal(solve_linear(points.dense(), box, {}, team), kernel_matrix(kLinear, points), points.n, box, 1e-3,
                    1e-12);
    }
  }
}

CASE("kernels that are not positive definite end within the steps, feasible and with a falling objective") {
  const Points<double> points(300, 3, 293);
  const KernelParams sigmoid{KernelKind::sigmoid, 2.0, 3, -1.0};
  const std::vector<double> k = kernel_matrix(sigmoid, points);
  Team team(1);
  for (const double cost : {0.5, 100.0}) {
    const Box box = svm_box(300, cost, 294);
    SmoOptions options;
    options.max_steps = 100'000;
    const Solved solved = solve_with(points, sigmoid, box, options, team);
    CHECK(solved.result.n_steps <= options.max_steps);
    check_feasible(box, solved.b);
    check_rounds(solved, box, k, points.n, 1e-9);
    if (solved.result.status == SmoStatus::tol) check_optimal(solved, k, points.n, box, 1e-3, 1e-10);
  }
}

CASE("more precision than there is ends as precision, not as endless steps") {
  const Points<double> points(200, 3, 295);
  const Box box = svm_box(200, 1.0, 296);
  Team team(1);
  for (const bool is_linear : {false, true}) {
    SmoOptions options = with_tol(0);
    options.max_steps = 3'000'000;
    const Solved solved =
        is_linear ? solve_linear(points.dense(), box, options, team) : solve_with(points, kRbf, box, options, team);
    CHECK(solved.result.status == SmoStatus::precision || solved.result.violation == 0);
    CHECK(solved.result.violation <= 1e-12);
    check_feasible(box, solved.b);
  }
}

CASE("working sets of any size end optimal") {
  const Points<double> points(80, 3, 297);
  const std::vector<double> k = kernel_matrix(kLinear, points);
  Team team(1);
  for (const bool has_two_groups : {false, true}) {
    const Box box = random_box(80, has_two_groups, 298);
    for (const index_t size : {1, 2, 3, 4, 5, 17, 79, 80, 1000}) {
      SmoOptions options = with_tol(1e-5);
      options.working_set = size;
      check_optimal(solve_linear(points.dense(), box, options, team), k, points.n, box, 1e-5, 1e-11);
      check_optimal(solve_linear(points.sparse(), box, options, team), k, points.n, box, 1e-5, 1e-11);
    }
  }
}

CASE("values that are too large to be computed with are refused with the row") {
  Points<float> points(10, 2, 299);
  points.x[6] = 1e19F;
  const Box box = svm_box(10, 1.0, 300);
  Team team(1);
  CHECK_THROWS(std::invalid_argument, solve_with(points, kLinear, box, {}, team), "the kernel of row 3 with itself is");
}
