// The large-margin engine: every solver certifies the same objective.
#include <algorithm>

#include "fastpu/svm/large_margin.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::LargeMarginEngine;
using fastpu::MarginOptions;
using fastpu::MarginProblem;
using fastpu::MarginResult;
using fastpu::MarginSolver;
using fastpu::MarginStatus;
using fastpu::Team;

void check_result(const MarginProblem& problem, const MarginOptions& options, const MarginResult& result, index_t n) {
  FUZZ_CHECK(all_finite(result.coef) && std::isfinite(result.intercept) && all_finite(result.decision));
  FUZZ_CHECK(result.gap >= 0 && std::isfinite(result.objective) && std::isfinite(result.gap));
  FUZZ_CHECK(result.intercept_low <= result.intercept && result.intercept <= result.intercept_high);
  double sum = 0;
  double total = 0;
  for (index_t i = 0; i < n; ++i) {
    const double beta = result.beta[at(i)];
    const double slope = problem.slopes == nullptr ? 0 : problem.slopes[i];
    FUZZ_CHECK(beta >= -problem.costs[i] * slope && beta <= problem.costs[i] * (1 - slope));
    sum += beta * problem.labels[i];
    total += problem.costs[i];
  }
  FUZZ_CHECK(std::fabs(sum) <= 1e-9 * total + 1e-300);
  if (result.status == MarginStatus::gap) FUZZ_CHECK(result.gap <= options.tol * result.objective);
}

MarginOptions options_of(Input& input) {
  MarginOptions options;
  options.solver = input.rarely(3) ? MarginSolver::iadmm : MarginSolver::exact;
  options.tol = input.wrong(input.one_of<double, 4>({1e-9, 1e-6, 1e-3, 1e-12}));
  options.max_iter = input.one_of<index_t, 4>({1, 20, 200, 1000});
  if (options.solver == MarginSolver::exact && input.flag()) options.max_iter = 0;
  if (options.solver == MarginSolver::iadmm && options.max_iter == 0) options.max_iter = 500;
  return options;
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(0);
  const Matrix<T> x(input, n, input.rarely(8) ? input.between(0, 20) : input.between(0, 4));
  const fastpu::Isa isa = input.isa();
  Team team(input.n_threads(), {}, isa);
  const bool is_dense = input.flag();
  accepted([&] {
    const LargeMarginEngine engine(is_dense ? fastpu::RowsView(x.dense_view()) : fastpu::RowsView(x.csr_view()), team);
    const auto labels = labels_of(input, n, {1, -1});
    std::vector<double> costs(at(n));
    const double cost = input.positive();
    for (double& c : costs) c = input.wrong(input.rarely(4) ? input.positive() : input.rarely(8) ? 0 : cost);
    std::vector<std::uint8_t> slopes;
    if (input.flag()) {
      for (index_t i = 0; i < n; ++i)
        slopes.push_back(static_cast<std::uint8_t>(input.rarely(250) ? 2 : input.below(2)));
    }
    const MarginProblem problem{labels.data(), costs.data(), slopes.empty() ? nullptr : slopes.data()};
    const MarginOptions options = options_of(input);
    const MarginResult result = engine.solve(problem, options, nullptr, {}, team);
    check_result(problem, options, result, n);

    // From any start, and by another way.
    std::vector<double> beta(at(n));
    for (double& b : beta) b = input.flag() ? 0 : input.real();
    const fastpu::MarginStart start{beta.data()};
    const MarginOptions others = options_of(input);
    const MarginResult again = engine.solve(problem, others, input.flag() ? &start : nullptr, {}, team);
    check_result(problem, others, again, n);
    // Between each objective and its dual lies the least one, unless rounding of wild numbers is larger than either.
    if (!input.is_plain()) return;
    const double rounding = 1e-9 * std::max(result.objective, again.objective);
    FUZZ_CHECK(result.objective - result.gap <= again.objective + rounding);
    FUZZ_CHECK(again.objective - again.gap <= result.objective + rounding);
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
