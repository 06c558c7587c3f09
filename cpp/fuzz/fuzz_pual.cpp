// The box problem of PUAL under two sets of options.
#include <algorithm>

#include "fastpu/pual/pual.hpp"
#include "fuzz_input.hpp"
#include "reference_blas.hpp"

namespace {

using namespace fuzz;
using fastpu::PualDual;
using fastpu::PualDualOptions;
using fastpu::PualResult;
using fastpu::PualStatus;
using fastpu::Team;

PualDualOptions options_of(Input& input) {
  PualDualOptions options;
  options.tol = input.wrong(input.one_of<double, 3>({1e-9, 1e-4, 1e-12}));
  options.max_iter = input.one_of<index_t, 4>({1, 30, 200, 300});
  return options;
}

void check_result(const PualResult& result, const PualDualOptions& options, double cost) {
  for (const double alpha : result.alpha) FUZZ_CHECK(alpha >= 0 && alpha <= cost);
  FUZZ_CHECK(std::isfinite(result.objective) && std::isfinite(result.gap));
  if (result.status == PualStatus::gap) FUZZ_CHECK(result.gap <= options.tol * result.objective);
  FUZZ_CHECK(result.objectives.size() == result.gaps.size() && result.iterations.size() == result.gaps.size());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  const Matrix<double> h(input, input.n_rows(0), input.between(0, 6));
  const fastpu::Blas blas(reference_blas());
  const fastpu::Isa isa = input.isa();
  Team team(input.n_threads(), {}, isa);
  accepted([&] {
    const PualDual dual({h.dense.data(), h.n, h.d}, blas, team);
    const double cost = input.wrong(input.positive());
    const PualDualOptions options = options_of(input);
    const PualResult result = dual.solve({cost}, options, {}, team)[0];
    check_result(result, options, cost);
    const PualDualOptions others = options_of(input);
    const PualResult again = dual.solve({input.positive(), cost}, others, {}, team)[1];
    check_result(again, others, cost);
    // Between each objective and its dual lies the least one, unless rounding of wild numbers is larger than either.
    if (!input.is_plain()) return;
    const double rounding = 1e-9 * std::max(result.objective, again.objective);
    FUZZ_CHECK(result.objective - result.gap <= again.objective + rounding);
    FUZZ_CHECK(again.objective - again.gap <= result.objective + rounding);
  });
  return 0;
}
