// The large-margin engine and what it is made of: the parts that C++ alone can ask for.
#include "fastpu/svm/large_margin.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::index_t;
using fastpu::Isa;
using fastpu::LargeMarginEngine;
using fastpu::MarginMethod;
using fastpu::MarginOptions;
using fastpu::MarginProblem;
using fastpu::MarginResult;
using fastpu::MarginSolver;
using fastpu::MarginStart;
using fastpu::MarginStatus;
using fastpu::RowsView;
using fastpu::Team;

// Two overlapping classes, in every form of X.
template <class T>
struct Classes {
  index_t n;
  index_t p;
  std::vector<T> dense;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start{0};
  std::vector<std::int8_t> labels;
  std::vector<double> costs;
  std::vector<std::uint8_t> slopes;

  Classes(index_t rows, index_t features, unsigned seed, double cost = 1.0, double density = 0.7)
      : n(rows), p(features) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (index_t i = 0; i < n; ++i) {
      double side = normal(random);
      for (index_t f = 0; f < p; ++f) {
        const double value = uniform(random) < density ? normal(random) : 0.0;
        dense.push_back(static_cast<T>(value));
        if (f < 3) side += value;
        if (value == 0) continue;
        values.push_back(static_cast<T>(value));
        columns.push_back(static_cast<std::int32_t>(f));
      }
      row_start.push_back(static_cast<index_t>(values.size()));
      labels.push_back(i == 0 || (i != 1 && side > 0.2) ? std::int8_t{1} : std::int8_t{-1});
      costs.push_back(cost * (0.5 + uniform(random)));
      slopes.push_back(uniform(random) < 0.1 ? 1 : 0);
    }
  }
  fastpu::DenseView<T> dense_view() const { return {dense.data(), n, p}; }
  fastpu::CsrView<T> csr_view() const { return {values.data(), columns.data(), row_start.data(), n, p}; }
  MarginProblem problem(bool with_slopes = false) const {
    return {labels.data(), costs.data(), with_slopes ? slopes.data() : nullptr};
  }
};

MarginResult solve(const RowsView& x, const MarginProblem& problem, const MarginOptions& options, Isa isa = Isa{},
                   int n_threads = 1) {
  Team team(n_threads, {}, isa);
  const LargeMarginEngine engine(x, team);
  return engine.solve(problem, options, nullptr, {}, team);
}

// P and D by their definitions.
template <class T>
struct Values {
  double primal = 0;
  double dual = 0;
  double balance = 0;
  double outside = 0;  // how far a beta is out of its box
  Values(const Classes<T>& classes, const MarginProblem& problem, const MarginResult& result) {
    std::vector<double> w(static_cast<std::size_t>(classes.p));
    for (const double coef : result.coef) primal += 0.5 * coef * coef;
    for (index_t i = 0; i < classes.n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double label = problem.labels[i];
      const double cost = problem.costs[i];
      const double slope = problem.slopes == nullptr ? 0.0 : problem.slopes[i];
      double f = result.intercept;
      for (index_t k = 0; k < classes.p; ++k) {
        const auto value = static_cast<double>(classes.dense[static_cast<std::size_t>(i * classes.p + k)]);
        f += value * result.coef[static_cast<std::size_t>(k)];
        w[static_cast<std::size_t>(k)] += label * result.beta[at] * value;
      }
      primal += cost * (std::max(1 - label * f, 0.0) + slope * label * f);
      dual += result.beta[at] + cost * slope;
      balance += label * result.beta[at];
      outside = std::max({outside, -cost * slope - result.beta[at], result.beta[at] - cost * (1 - slope)});
    }
    for (const double value : w) dual -= 0.5 * value * value;
  }
};

template <class T>
void check_certificate(const Classes<T>& classes, const MarginProblem& problem, const MarginResult& result,
                       double tol) {
  const Values<T> values(classes, problem, result);
  CHECK(result.status == MarginStatus::gap);
  CHECK(values.outside <= 0);
  CHECK(std::abs(values.balance) <= 1e-10 * values.primal);
  CHECK(check::close(values.primal, result.objective, 1e-9));
  CHECK(std::abs(values.primal - values.dual - result.gap) <= 1e-9 * values.primal);
  CHECK(result.gap >= 0);
  CHECK(result.gap <= tol * result.objective);
}

// The largest violation of the optimality conditions by a pair of rows: v = beta y, whose gradient is f - y, of one row
// could grow and that of the other one shrink.
double violation_of(const MarginProblem& problem, const MarginResult& result) {
  double least_up = std::numeric_limits<double>::infinity();
  double most_down = -least_up;
  for (std::size_t i = 0; i < result.beta.size(); ++i) {
    const bool is_down = problem.slopes != nullptr && problem.slopes[i] != 0;
    const double bound = (is_down ? -1 : 1) * problem.labels[i] * problem.costs[i];
    const double v = problem.labels[i] * result.beta[i];
    const double gradient = result.decision[i] - problem.labels[i];
    if (v < std::max(bound, 0.0)) least_up = std::min(least_up, gradient);
    if (v > std::min(bound, 0.0)) most_down = std::max(most_down, gradient);
  }
  return most_down - least_up;
}

bool same_bits(const MarginResult& a, const MarginResult& b) {
  return a.coef == b.coef && a.beta == b.beta && a.decision == b.decision && a.intercept == b.intercept &&
         a.gap == b.gap && a.objective == b.objective && a.n_iter == b.n_iter && a.method == b.method;
}

template <class T>
void check_ends_by_violation(const Classes<T>& classes, bool with_slopes) {
  const MarginProblem problem = classes.problem(with_slopes);
  const MarginResult exact = solve(classes.csr_view(), problem, {});
  for (const double violation : {1e-1, 1e-3}) {
    MarginOptions options;
    options.violation = violation;
    const MarginResult found = solve(classes.csr_view(), problem, options);
    CHECK(found.method == MarginMethod::coordinate_descent);
    CHECK(violation_of(problem, found) <= violation);
    CHECK(found.gap > 1e-9 * found.objective);
    CHECK(found.n_iter < exact.n_iter);
    check_certificate(classes, problem, found, violation);
    CHECK(check::close(found.objective - found.gap, exact.objective, violation * violation));
    CHECK(same_bits(found, solve(classes.csr_view(), problem, options, Isa{}, 3)));
  }
}

std::vector<Isa> levels() {
  std::vector<Isa> found;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= fastpu::best_isa()) found.push_back(isa);
  }
  return found;
}

}  // namespace

CASE("every form of x is solved to the gap") {
  const Classes<double> wide(300, 12, 3);
  const Classes<float> narrow(300, 12, 3);
  for (const bool with_slopes : {false, true}) {
    const MarginOptions options;
    check_certificate(wide, wide.problem(with_slopes), solve(wide.dense_view(), wide.problem(with_slopes), options),
                      1e-9);
    check_certificate(wide, wide.problem(with_slopes), solve(wide.csr_view(), wide.problem(with_slopes), options),
                      1e-9);
    check_certificate(narrow, narrow.problem(with_slopes),
                      solve(narrow.dense_view(), narrow.problem(with_slopes), options), 1e-9);
    check_certificate(narrow, narrow.problem(with_slopes),
                      solve(narrow.csr_view(), narrow.problem(with_slopes), options), 1e-9);
  }
}

CASE("all methods find the same optimum") {
  const Classes<double> classes(200, 9, 5, 0.3);
  const MarginProblem problem = classes.problem(true);
  const double best = solve(classes.dense_view(), problem, {}).objective;
  MarginOptions options;
  options.solver = MarginSolver::iadmm;
  options.tol = 1e-7;
  const MarginResult of_iadmm = solve(classes.csr_view(), problem, options);
  CHECK(of_iadmm.method == MarginMethod::iadmm);
  check_certificate(classes, problem, of_iadmm, 1e-7);
  CHECK(check::close(of_iadmm.objective, best, 1e-6));
  // Too many features for the interior point and for the exact step of IADMM.
  const Classes<double> wide(120, 2100, 5, 0.01, 0.05);
  const MarginResult of_wide = solve(wide.dense_view(), wide.problem(), {});
  CHECK(of_wide.method != MarginMethod::interior_point);
  check_certificate(wide, wide.problem(), of_wide, 1e-9);
  check_certificate(wide, wide.problem(), solve(wide.csr_view(), wide.problem(), options), 1e-7);
}

CASE("descents over sparse rows end where no pair of rows violates more than is asked") {
  const Classes<double> wide(1000, 400, 11, 0.1, 0.03);
  const Classes<float> narrow(1000, 400, 12, 0.2, 0.03);
  for (const bool with_slopes : {false, true}) {
    check_ends_by_violation(wide, with_slopes);
    check_ends_by_violation(narrow, with_slopes);
  }
  const Classes<double> few(300, 12, 3);  // columns, for which descents are not tried
  MarginOptions options;
  options.violation = 0.1;
  CHECK(same_bits(solve(few.dense_view(), few.problem(), options), solve(few.dense_view(), few.problem(), {})));
}

CASE("threads and instruction sets do not change a bit") {
  const Classes<double> many(5000, 17, 7);
  for (const bool is_exact : {true, false}) {
    MarginOptions options;
    options.solver = is_exact ? MarginSolver::exact : MarginSolver::iadmm;
    if (!is_exact) options.max_iter = 25;
    const MarginResult expected = solve(many.dense_view(), many.problem(), options);
    const MarginResult of_csr = solve(many.csr_view(), many.problem(), options);
    for (const Isa isa : levels()) {
      for (const int n_threads : {1, 2, 5}) {
        CHECK(same_bits(solve(many.dense_view(), many.problem(), options, isa, n_threads), expected));
        CHECK(same_bits(solve(many.csr_view(), many.problem(), options, isa, n_threads), of_csr));
      }
    }
  }
}

CASE("numbers of rows and features around the sizes of blocks") {
  for (const index_t n : {2, 7, 8, 9, 63, 64, 65, 129}) {
    for (const index_t p : {1, 6, 7, 8, 9, 15, 16, 17}) {
      const Classes<double> classes(n, p, static_cast<unsigned>(100 * n + p));
      check_certificate(classes, classes.problem(), solve(classes.dense_view(), classes.problem(), {}), 1e-9);
    }
  }
}

CASE("x without columns leaves the intercept") {
  const Classes<double> classes(10, 0, 1);
  const MarginResult result = solve(classes.dense_view(), classes.problem(), {});
  CHECK(result.coef.empty());
  CHECK(result.status == MarginStatus::gap);
  CHECK(std::abs(result.intercept) <= 1);
}

CASE("rows of cost 0 have a score and no part in the solution") {
  Classes<double> classes(100, 4, 9);
  for (index_t i = 2; i < 100; i += 3) classes.costs[static_cast<std::size_t>(i)] = 0;
  const MarginResult result = solve(classes.dense_view(), classes.problem(), {});
  check_certificate(classes, classes.problem(), result, 1e-9);
  for (index_t i = 0; i < 100; ++i) {
    double f = result.intercept;
    for (index_t k = 0; k < 4; ++k) {
      f += classes.dense[static_cast<std::size_t>(4 * i + k)] * result.coef[static_cast<std::size_t>(k)];
    }
    CHECK(check::close(f, result.decision[static_cast<std::size_t>(i)], 1e-12));
    if (i % 3 == 2) CHECK(result.beta[static_cast<std::size_t>(i)] == 0);
  }
}

CASE("a start is taken from, whatever it is") {
  const Classes<double> classes(150, 5, 11);
  Team team(1);
  const LargeMarginEngine engine(RowsView{classes.dense_view()}, team);
  const MarginProblem problem = classes.problem();
  const MarginResult best = engine.solve(problem, {}, nullptr, {}, team);
  std::vector<double> beta(150, 1e9);
  for (const MarginStart& start : {MarginStart{best.beta.data()}, MarginStart{beta.data()}}) {
    check_certificate(classes, problem, engine.solve(problem, {}, &start, {}, team), 1e-9);
  }
  beta[7] = std::numeric_limits<double>::infinity();
  const MarginStart bad{beta.data()};
  CHECK_THROWS(std::invalid_argument, engine.solve(problem, {}, &bad, {}, team), "beta of start of row 7");
}

CASE("poll stops every method") {
  struct Stop : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  const Classes<double> classes(3000, 10, 13);
  const Classes<double> wide(200, 2100, 13, 10.0, 0.05);
  for (const int method : {0, 1, 2}) {
    const bool is_wide = method == 2;
    for (const int n_threads : {1, 3}) {
      Team setup(1);
      const LargeMarginEngine engine(is_wide ? RowsView{wide.csr_view()} : RowsView{classes.dense_view()}, setup);
      int n_calls = 0;
      Team team(n_threads, [&] {
        if (++n_calls == 10) throw Stop("stopped");
      });
      MarginOptions options;
      options.solver = method == 1 ? MarginSolver::iadmm : MarginSolver::exact;
      options.tol = 1e-12;
      CHECK_THROWS(Stop, engine.solve(is_wide ? wide.problem() : classes.problem(), options, nullptr, {}, team),
                   "stopped");
    }
  }
}

CASE("a callback sees the rounds and stops") {
  const Classes<double> classes(150, 5, 15);
  Team team(1);
  const LargeMarginEngine engine(RowsView{classes.dense_view()}, team);
  for (const MarginSolver solver : {MarginSolver::exact, MarginSolver::iadmm}) {
    MarginOptions options;
    options.solver = solver;
    const MarginResult result = engine.solve(
        classes.problem(), options, nullptr, [](const fastpu::MarginRound& round) { return round.n_iter == 3; }, team);
    CHECK(result.status == MarginStatus::callback);
    CHECK(result.n_iter == 3);
    CHECK(result.gap >= 0);
  }
}

CASE("columns of very different sizes end, and certify nothing that is wrong") {
  Classes<double> classes(7, 2, 5);
  classes.labels = {1, -1, -1, -1, -1, 1, 1};
  classes.costs.assign(7, 2.0);
  for (const double size : {1e20, 1e72, 1e94}) {
    classes.dense = {0, -1.1, 3.2, -6.5, size, 4, 0, 8.25, -1.6, 5, -2.8, size / 30, 1.4, -7.75};
    for (const MarginSolver solver : {MarginSolver::exact, MarginSolver::iadmm}) {
      MarginOptions options;
      options.solver = solver;
      if (solver == MarginSolver::iadmm) options.max_iter = 200;
      const MarginResult found = solve(classes.dense_view(), classes.problem(), options);
      CHECK(found.status != MarginStatus::gap || found.gap <= 1e-9 * found.objective);
      CHECK(found.objective - found.gap <= 2.0 * 7 * (1 + 1e-9));  // w = 0 costs that much
    }
  }
}

CASE("bad problems and options are named") {
  Classes<double> classes(20, 3, 17);
  const auto refused = [&](const MarginOptions& options, const std::string& text) {
    CHECK_THROWS(std::invalid_argument, solve(classes.dense_view(), classes.problem(true), options), text);
  };
  MarginOptions options;
  options.tol = 0;
  refused(options, "tol must be between 0 and 1, got 0");
  options = {};
  options.max_iter = -3;
  refused(options, "max_iter must be 0 or above, got -3");
  options = {};
  options.violation = -1;
  refused(options, "violation must be 0 or above, got -1");
  options = {};
  classes.labels[5] = 0;
  refused(options, "label of row 5 must be 1 or -1, got 0");
  classes.labels[5] = 1;
  classes.slopes[6] = 3;
  refused(options, "slope of row 6 must be 0 or 1, got 3");
  classes.slopes[6] = 0;
  classes.costs[7] = -0.5;
  refused(options, "cost of row 7 must be between 0 and 1e+100, got -0.5");
  std::fill(classes.costs.begin(), classes.costs.end(), 0.0);
  refused(options, "some cost must be above 0");
  classes.dense[4] = 1e200;
  CHECK_THROWS(std::invalid_argument, solve(classes.dense_view(), classes.problem(), {}), "its column 1 is more than");
  const Classes<double> none(0, 3, 1);
  CHECK_THROWS(std::invalid_argument, solve(none.dense_view(), none.problem(), {}), "X must have at least 1 row");
}
