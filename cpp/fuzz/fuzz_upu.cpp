// Newton's method for the convex risk.

#include "fastpu/risk/upu.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::ConvexPuLoss;
using fastpu::Team;
using fastpu::UpuOptions;
using fastpu::UpuProblem;
using fastpu::UpuResult;
using fastpu::UpuStatus;

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(0);
  const Matrix<T> x(input, n, input.between(0, 5));
  const auto labels = labels_of(input, n, {1, 0});
  std::vector<double> weights;
  if (input.flag()) {
    for (index_t i = 0; i < n; ++i) weights.push_back(input.wrong(input.positive()));
  }
  UpuProblem problem;
  if (input.flag()) {
    problem.x = x.dense_view();
  } else {
    problem.x = x.csr_view();
  }
  problem.labels = labels.data();
  problem.weights = weights.empty() ? nullptr : weights.data();
  UpuOptions options;
  options.prior = input.wrong(input.share());
  const bool is_prior = options.prior > 0 && options.prior < 1;
  options.lam = input.wrong(input.flag() ? 0 : input.positive());
  options.loss = input.flag() ? ConvexPuLoss::logistic : ConvexPuLoss::squared;
  options.tol = input.wrong(input.one_of<double, 3>({1e-10, 1e-4, 1e-15}));
  options.max_iter = input.one_of<index_t, 4>({0, 1, 20, 100});
  const fastpu::Isa isa = input.isa();
  Team team(input.n_threads(), {}, isa);
  UpuResult result;
  if (!accepted([&] { result = fit_upu(problem, options, {}, team); })) return;
  FUZZ_CHECK(is_prior);
  FUZZ_CHECK(all_finite(result.coef) && std::isfinite(result.intercept));
  FUZZ_CHECK(all_finite(result.risks) && !result.risks.empty());
  FUZZ_CHECK(static_cast<index_t>(result.risks.size()) <= options.max_iter + 1);
  // Rounding of wild numbers may be larger than what a step gains.
  // So it is where the best intercept is huge, at a prior next to 0 or 1.
  const bool has_intercept = options.prior > 1e-3 && options.prior < 1 - 1e-3;
  const bool is_told = input.is_moderate() && has_intercept && options.tol < 1;
  for (std::size_t k = 1; k < result.risks.size() && is_told; ++k) {
    // The last step is taken whatever it does, for it does little.
    const double slack = (2 * options.tol + 1e-9) * std::fabs(result.risks[k - 1]) + options.tol * options.tol +
                         1e-9 * result.risks.front();
    FUZZ_CHECK(result.risks[k] <= result.risks[k - 1] + slack);
  }
  if (result.status == UpuStatus::tol) FUZZ_CHECK(std::isfinite(result.decrement));
  if (input.rarely(8)) {
    Team two(2, {}, fastpu::Isa::baseline);
    const UpuResult same = fit_upu(problem, options, {}, two);
    FUZZ_CHECK(same_bits(same.coef, result.coef) && same_bits(same.risks, result.risks));
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
