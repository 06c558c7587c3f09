// The three support vector machines over every kind of kernel, their bags, grids and scores.
#include <algorithm>
#include <numeric>

#include "fastpu/svm/bagging_svm.hpp"
#include "fastpu/svm/svm.hpp"
#include "fastpu/svm/svm_grid.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::SmoOptions;
using fastpu::SvmEngine;
using fastpu::SvmKind;
using fastpu::SvmProblem;
using fastpu::SvmResult;
using fastpu::Team;

KernelParams params_of(Input& input) {
  KernelParams params;
  params.kind =
      input.one_of<KernelKind, 4>({KernelKind::linear, KernelKind::rbf, KernelKind::poly, KernelKind::sigmoid});
  params.gamma = input.positive();
  if (!std::isfinite(params.gamma)) params.gamma = 1;
  params.degree = static_cast<int>(input.below(5));
  params.coef0 = input.flag() ? 0 : input.real();
  if (!std::isfinite(params.coef0)) params.coef0 = 1;
  return params;
}

void check_result(const SvmProblem& problem, const SmoOptions& options, const SvmResult& result, bool is_plain) {
  FUZZ_CHECK(result.alpha.size() == at(problem.n) && result.decision.size() == at(problem.n));
  double sum = 0;
  double total = 0;
  double total_cost = 0;
  for (index_t i = 0; i < problem.n; ++i) total_cost += problem.costs[i];
  for (index_t i = 0; i < problem.n; ++i) {
    // That of nu-SVM is divided by the margin.
    const bool is_divided =
        problem.kind == SvmKind::nu_svm && result.margin > 0 && std::isfinite(total_cost / result.margin);
    const double alpha = result.alpha[at(i)] * (is_divided ? result.margin : 1);
    // The smallest numbers do not survive a division and a product.
    const double lost = is_divided ? result.margin * std::numeric_limits<double>::denorm_min() : 0;
    FUZZ_CHECK(alpha >= 0 && alpha <= problem.costs[i] * (1 + 1e-12) + lost);
    sum += problem.labels != nullptr ? problem.labels[i] * alpha : alpha;
    total += problem.costs[i];
  }
  if (problem.kind != SvmKind::one_class) FUZZ_CHECK(std::fabs(sum) <= 1e-9 * total + 1e-300);
  if (problem.kind == SvmKind::one_class) FUZZ_CHECK(std::fabs(sum - problem.nu * total) <= 1e-9 * total + 1e-300);
  FUZZ_CHECK(!std::isnan(result.violation));
  if (result.status == fastpu::SmoStatus::tol) FUZZ_CHECK(result.violation <= options.tol);
  if (is_plain) {
    FUZZ_CHECK(std::isfinite(result.intercept) && std::isfinite(result.objective) && all_finite(result.decision));
    FUZZ_CHECK(std::isfinite(result.gap));
  }
}

template <class T>
void solve_bags_of(Input& input, const SvmEngine<T>& engine, Team& team) {
  const index_t n = engine.n_rows();
  const index_t n_pos = input.between(1, std::max<index_t>(n / 2, 1));
  std::vector<index_t> positives(at(n_pos));
  std::iota(positives.begin(), positives.end(), index_t{0});
  std::vector<double> costs(at(n_pos), 1.5);
  fastpu::BaggingProblem problem;
  problem.n_bags = input.below(4);
  problem.bag_size = n == n_pos ? 0 : input.below(6);
  std::vector<index_t> bags(at(problem.n_bags * problem.bag_size));
  for (index_t& row : bags) row = n_pos + input.below(n - n_pos);
  problem.positives = positives.data();
  problem.n_pos = n_pos;
  problem.costs_pos = costs.data();
  problem.bags = bags.data();
  problem.cost_unl = input.positive();
  if (!std::isfinite(problem.cost_unl)) return;
  std::vector<double> start;
  for (index_t i = 0; i < n; ++i) start.push_back(input.share());
  if (input.flag()) problem.start = start.data();
  fastpu::BaggingResult result;
  if (!accepted([&] { result = solve_bags(engine, problem, {1e-3, 500}, team); })) return;
  FUZZ_CHECK(result.bags.size() == at(problem.n_bags));
  FUZZ_CHECK(result.coefs.size() == result.support.size() * result.bags.size());
  FUZZ_CHECK(std::ranges::is_sorted(result.support));
}

// A cost that fit_svm takes: it refuses sums that overflow.
double cost_of(Input& input) {
  const double cost = input.positive();
  return std::isfinite(cost) && cost <= 1e300 ? cost : 1;
}

// Chains on some of the rows, which score the others.
template <class T>
void solve_grid_of(Input& input, const SvmEngine<T>& engine, const typename SvmEngine<T>::Data& data,
                   const KernelParams& params, Team& team) {
  std::vector<std::vector<index_t>> rows(3);
  std::vector<std::vector<index_t>> held(3);
  std::vector<std::vector<std::int8_t>> labels(3);
  std::vector<std::vector<double>> base(3);
  std::vector<fastpu::SvmChain> chains(at(input.between(1, 3)));
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (index_t i = 0; i < engine.n_rows(); ++i) (i > 0 && input.rarely(4) ? held : rows)[c].push_back(i);
    fastpu::SvmChain& chain = chains[c];
    chain.kind = input.one_of<SvmKind, 3>({SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class});
    chain.gamma = input.flag() ? params.gamma : 2;
    chain.n = static_cast<index_t>(rows[c].size());
    chain.n_held_out = static_cast<index_t>(held[c].size());
    const double cost = cost_of(input);
    for (index_t i = 0; i < chain.n; ++i) {
      labels[c].push_back(input.flag() ? std::int8_t{1} : std::int8_t{-1});
      base[c].push_back(input.rarely(4) ? cost_of(input) : cost);
    }
    chain.rows = rows[c].data();
    chain.held_out = held[c].data();
    chain.labels = chain.kind == SvmKind::one_class ? nullptr : labels[c].data();
    chain.base = base[c].data();
    for (index_t k = input.below(4); k > 0; --k) {
      const double factor = input.one_of<double, 4>({1, 1e-2, 3, 1e3});
      chain.points.push_back({factor, input.flag() ? factor : 0.5, std::max(input.share(), 1e-3)});
    }
  }
  const SmoOptions options{input.one_of<double, 3>({1e-3, 1e-9, 0.5}), input.one_of<index_t, 3>({1, 30, 300})};
  const auto found = solve_chains<T>(data, params, false, chains, options, engine.cache_bytes(), team);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    FUZZ_CHECK(found[c].fits.size() == chains[c].points.size());
    FUZZ_CHECK(found[c].held_out_scores.size() == held[c].size() * chains[c].points.size());
    FUZZ_CHECK(!input.is_plain() || all_finite(found[c].held_out_scores));
    for (std::size_t p = 0; p < chains[c].points.size(); ++p) {
      const fastpu::GridFit& fit = found[c].fits[p];
      FUZZ_CHECK(std::ranges::is_sorted(fit.support) && fit.support.size() == fit.alpha.size());
      FUZZ_CHECK(fit.status != fastpu::SmoStatus::tol || fit.violation <= options.tol);
      if (chains[c].kind != SvmKind::c_svm) continue;
      double sum = 0;
      double total = 0;
      for (std::size_t s = 0; s < fit.support.size(); ++s) {
        const auto i = at(fit.support[s]);
        const fastpu::GridPoint& point = chains[c].points[p];
        const double cost = base[c][i] * (labels[c][i] > 0 ? point.factor_pos : point.factor_neg);
        FUZZ_CHECK(fit.alpha[s] > 0 && fit.alpha[s] <= cost);
        sum += labels[c][i] * fit.alpha[s];
        total += fit.alpha[s];
      }
      FUZZ_CHECK(std::fabs(sum) <= 1e-9 * total + 1e-300);
    }
  }
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(1);
  const Matrix<T> x(input, n, input.between(0, 4));
  const KernelParams params = params_of(input);
  const index_t cache_bytes = input.one_of<index_t, 3>({0, 3000, 1 << 20});
  const int n_threads = input.n_threads();
  Team team(n_threads, {}, input.isa());
  using Data = typename SvmEngine<T>::Data;
  const Data data = input.flag() ? Data(x.dense_view()) : Data(x.csr_view());
  accepted([&] {
    SvmEngine<T> engine(data, params, cache_bytes, team);
    for (index_t k = input.below(2); k >= 0; --k) {
      SvmProblem problem;
      problem.kind = input.one_of<SvmKind, 3>({SvmKind::c_svm, SvmKind::nu_svm, SvmKind::one_class});
      // Distinct rows in some order.
      std::vector<index_t> rows(at(n));
      std::iota(rows.begin(), rows.end(), index_t{0});
      for (index_t i = n - 1; i > 0 && input.flag(); --i) std::swap(rows[at(i)], rows[at(input.below(i + 1))]);
      problem.n = input.flag() ? n : input.between(1, n);
      auto labels = labels_of(input, problem.n, {1, -1});
      for (auto& label : labels) label = label == 1 ? std::int8_t{1} : std::int8_t{-1};
      std::vector<double> costs(at(problem.n));
      const double cost = cost_of(input);
      for (double& c : costs) c = input.rarely(4) ? cost_of(input) : cost;
      std::vector<double> start;
      if (input.rarely(4)) {
        for (const double c : costs) start.push_back(c * input.share());
      }
      problem.rows = rows.data();
      problem.labels = problem.kind == SvmKind::one_class ? nullptr : labels.data();
      problem.costs = costs.data();
      problem.nu = input.share();
      if (problem.nu == 0) problem.nu = 1;
      problem.start = start.empty() ? nullptr : start.data();
      const SmoOptions options{input.one_of<double, 3>({1e-3, 1e-9, 0.5}), input.one_of<index_t, 3>({1, 30, 300})};
      const SvmResult result = engine.solve(problem, options, {}, team);
      check_result(problem, options, result, input.is_plain());
    }
    if (input.rarely(4)) solve_bags_of(input, engine, team);
    if (input.rarely(4)) solve_grid_of(input, engine, data, params, team);
    // Scores of all rows by all rows.
    std::vector<index_t> rows(at(n));
    std::iota(rows.begin(), rows.end(), index_t{0});
    std::vector<double> coefs(at(n));
    for (double& c : coefs) c = input.share();
    const double intercept = input.share();
    const fastpu::KernelModels models{rows.data(), n, coefs.data(), &intercept, 1};
    std::vector<double> scores(at(n));
    kernel_scores(engine.kernel(), models, rows.data(), n, team, scores.data());
    std::vector<double> of_views(at(n));
    kernel_scores(x.dense_view(), x.dense_view(), params, models, team, of_views.data());
    kernel_scores(x.csr_view(), x.csr_view(), params, models, team, of_views.data());
    if (input.is_plain() && params.degree < 4) {
      for (index_t i = 0; i < n; ++i) {
        FUZZ_CHECK(std::fabs(scores[at(i)] - of_views[at(i)]) <=
                   (std::is_same_v<T, float> ? 1e-3 : 1e-9) * (1 + std::fabs(scores[at(i)])));
      }
    }
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.tame(Range::finite);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
