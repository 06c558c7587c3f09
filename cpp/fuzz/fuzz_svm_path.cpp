// Paths of the support vector machine over any kernel.
#include <algorithm>
#include <numeric>

#include "fastpu/path/svm_path.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::KernelKind;
using fastpu::PathStatus;
using fastpu::SvmPathProblem;
using fastpu::SvmPathResult;
using fastpu::Team;

void check_result(const SvmPathProblem& problem, const SvmPathResult& result, bool is_plain, bool is_positive) {
  const auto n_knots = result.knots.size();
  FUZZ_CHECK(result.offsets.size() == n_knots && result.objective.size() == n_knots && result.norm.size() == n_knots);
  FUZZ_CHECK(all_finite(result.knots) && all_finite(result.start_alpha) && all_finite(result.change_alpha));
  std::vector<double> a = result.start_alpha;
  FUZZ_CHECK(a.size() == at(problem.n));
  for (std::size_t k = 0; k < n_knots; ++k) {
    FUZZ_CHECK(result.knots[k] >= 0 && (k == 0 || result.knots[k] < result.knots[k - 1]));
    for (index_t c = result.change_start[k]; c < result.change_start[k + 1]; ++c) {
      const auto row = at(result.change_row[at(c)]);
      FUZZ_CHECK(row < a.size());
      a[row] = result.change_alpha[at(c)];
      FUZZ_CHECK(a[row] >= 0 && a[row] <= problem.costs[row]);
    }
  }
  FUZZ_CHECK(std::ranges::is_sorted(result.event_knot));
  FUZZ_CHECK(!std::isnan(result.violation));
  const bool is_whole = result.status == PathStatus::zero || result.status == PathStatus::lam_min ||
                        result.status == PathStatus::max_events;
  // A first breakpoint of the size of rounding is that of a path that is trivial; next to the largest number, with
  // costs of that size, products overflow.
  const bool has_path = n_knots > 0 && result.knots.front() > 1e-9 && result.knots.front() < 1e150;
  if (is_plain && is_whole && is_positive && has_path) FUZZ_CHECK(result.violation <= 1e-5);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  const index_t n = input.n_rows(1, 40);  // a path through 140 takes seconds here
  const Matrix<double> x(input, n, input.between(0, 4));
  fastpu::KernelParams params;
  params.kind = input.one_of<KernelKind, 5>(
      {KernelKind::linear, KernelKind::rbf, KernelKind::rbf, KernelKind::poly, KernelKind::sigmoid});
  params.gamma = input.flag() ? 0.5 : input.positive();
  params.degree = static_cast<int>(input.between(1, 3));
  params.coef0 = input.flag() ? 1 : input.real();
  const auto labels = labels_of(input, n, {1, -1});
  std::vector<double> costs(at(n));
  const double cost = input.rarely(4) ? std::numeric_limits<double>::infinity() : 1;
  for (index_t i = 0; i < n; ++i) {
    const double drawn = input.rarely(8) ? input.wrong(input.positive()) : 1;
    costs[at(i)] = labels[at(i)] == 1 && std::isinf(cost) ? cost : drawn;
  }
  std::vector<index_t> rows(at(n));
  std::iota(rows.begin(), rows.end(), index_t{0});
  const SvmPathProblem problem{rows.data(), input.rarely(16) ? input.between(0, n) : n, labels.data(), costs.data()};
  const int n_threads = input.n_threads();
  const bool is_dense = input.flag();
  Team team(n_threads, {}, input.isa());
  const auto dense = x.dense_view();
  fastpu::SvmPathOptions options;
  const bool is_by_rows = params.kind == KernelKind::linear && input.flag();
  options.lam_min = input.flag() ? 0 : input.positive();
  options.max_events = input.one_of<index_t, 3>({3000, 1, 100});
  accepted([&] {
    options.cache_bytes = input.rarely(8) ? input.one_of<index_t, 2>({0, 2000}) : 1 << 20;
    const auto kernel = is_dense ? make_kernel(dense, params, team) : make_kernel(x.csr_view(), params, team);
    const fastpu::LinearRows given = is_dense ? fastpu::LinearRows(dense) : fastpu::LinearRows(x.csr_view());
    const SvmPathResult result =
        is_by_rows ? linear_svm_path(given, problem, options, {}, team) : svm_path(*kernel, problem, options, {}, team);
    const bool is_positive = params.kind == KernelKind::linear || params.kind == KernelKind::rbf;
    check_result(problem, result, input.is_plain(), is_positive);
  });
  return 0;
}
