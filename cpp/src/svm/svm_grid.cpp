#include "fastpu/svm/svm_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"
#include "kernels/stored_rows.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu {

namespace {

// An rbf kernel on squared distances that are stored.
template <class T>
class RbfOfDistances final : public Kernel<T> {
 public:
  RbfOfDistances(const detail::StoredRows<T>& distances, double gamma, Isa isa)
      : distances_(distances), gamma_(gamma), loops_(detail::svm_kernels(isa).of<T>()) {}
  index_t n_rows() const override { return distances_.n_rows(); }
  double diagonal(index_t /*row*/) const override { return 1.0; }
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override {
    return distances_.pack(rows, n, team);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last, T* const* out,
            int worker) const override {
    distances_.fill(rows, n, columns, first, last, out, worker);
    for (index_t k = 0; k < n; ++k) loops_.exp_of(out[k], round_up(last - first, kKernelPanel), gamma_);
  }

 private:
  const detail::StoredRows<T>& distances_;
  double gamma_;
  const detail::TypedKernels<T>& loops_;
};

// How far two points are from each other: by the logarithms of their parameters.
double distance(const SvmChain& chain, const GridPoint& a, const GridPoint& b) {
  if (chain.kind != SvmKind::c_svm) return std::abs(std::log(a.nu / b.nu));
  return std::abs(std::log(a.factor_pos / b.factor_pos)) + std::abs(std::log(a.factor_neg / b.factor_neg));
}

// Solves the problems of a chain one after the other.
template <class T>
class ChainSolver {
 public:
  ChainSolver(const SvmChain& chain, const Kernel<T>& kernel, index_t cache_bytes, const SvmOptions& options, Isa isa,
              Team& team)
      : chain_(chain), kernel_(kernel), cache_(kernel, cache_bytes), team_(team) {
    options_.tol = options.tol;
    options_.max_steps = options.max_steps;
    options_.isa = isa;
  }

  ChainResult run() {
    const std::size_t n_points = chain_.points.size();
    std::vector<std::size_t> order(n_points);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t p) {
      const GridPoint& point = chain_.points[p];
      return std::tuple(point.factor_neg, point.factor_pos, point.nu);
    });
    result_.fits.resize(n_points);
    for (std::size_t k = 0; k < n_points; ++k) {
      const std::size_t* nearest = nullptr;
      for (std::size_t s = 0; s < k; ++s) {
        if (nearest == nullptr || is_nearer(order[s], *nearest, order[k])) nearest = &order[s];
      }
      solve(order[k], nearest);
    }
    score();
    return std::move(result_);
  }

 private:
  // Of equally distant points the later one is taken.
  bool is_nearer(std::size_t a, std::size_t b, std::size_t to) const {
    const std::vector<GridPoint>& points = chain_.points;
    return distance(chain_, points[a], points[to]) <= distance(chain_, points[b], points[to]);
  }
  double factor(std::size_t point, index_t row) const {
    const GridPoint& at_point = chain_.points[point];
    return chain_.labels == nullptr || chain_.labels[row] > 0 ? at_point.factor_pos : at_point.factor_neg;
  }

  // The dual variables of the solved point, those of C-SVM grown with the costs; what was at its bound is there again.
  std::vector<double> start_from(std::size_t solved, std::size_t point) const {
    auto start = make_vector<double>(chain_.n, "alpha");
    const GridFit& fit = result_.fits[solved];
    for (std::size_t s = 0; s < fit.support.size(); ++s) {
      const index_t i = fit.support[s];
      const bool is_bound = chain_.kind == SvmKind::c_svm && fit.alpha[s] >= chain_.base[i] * factor(solved, i);
      start[at(i)] = is_bound ? kInfinity : fit.alpha[s] * (factor(point, i) / factor(solved, i));
    }
    return start;
  }

  void solve(std::size_t point, const std::size_t* nearest) {
    auto costs = make_vector<double>(chain_.n, "costs");
    for (index_t i = 0; i < chain_.n; ++i) costs[at(i)] = chain_.base[i] * factor(point, i);
    std::vector<double> start;
    if (nearest != nullptr) start = start_from(*nearest, point);
    SvmProblem problem;
    problem.kind = chain_.kind;
    problem.rows = chain_.rows;
    problem.n = chain_.n;
    problem.labels = chain_.labels;
    problem.costs = costs.data();
    problem.nu = chain_.points[point].nu;
    problem.start = start.empty() ? nullptr : start.data();
    const SvmResult solved = solve_svm(problem, [&](const SmoProblem& dual, double* solution) {
      return smo(cache_, dual, options_, {}, team_, solution);
    });
    GridFit& fit = result_.fits[point];
    for (index_t i = 0; i < chain_.n; ++i) {
      if (solved.alpha[at(i)] <= 0) continue;
      fit.support.push_back(i);
      fit.alpha.push_back(solved.alpha[at(i)]);
    }
    fit.intercept = solved.intercept;
    fit.margin = solved.margin;
    fit.objective = solved.objective;
    fit.gap = solved.gap;
    fit.violation = solved.smo.violation;
    fit.n_steps = solved.smo.n_steps;
    fit.status = solved.smo.status;
    fit.n_positive = std::ranges::count_if(solved.decision, [](double f) { return f > 0; });
    const auto [least, most] = std::ranges::minmax(solved.decision);
    fit.least = least;
    fit.most = most;
  }

  // Scores the held-out rows by all fits: the kernel values of a row and a support vector are computed once.
  void score() {
    const auto n_models = static_cast<index_t>(result_.fits.size());
    auto place = make_vector<index_t>(chain_.n, "places of support vectors");
    for (const GridFit& fit : result_.fits) {
      for (const index_t i : fit.support) place[at(i)] = 1;
    }
    std::vector<index_t> support;
    for (index_t i = 0; i < chain_.n; ++i) {
      if (place[at(i)] == 0) continue;
      place[at(i)] = static_cast<index_t>(support.size());
      support.push_back(chain_.rows[i]);
    }
    const auto n_support = static_cast<index_t>(support.size());
    auto coefs = make_vector<double>(n_support * n_models, "coefficients of a grid");
    std::vector<double> intercepts;
    for (index_t m = 0; m < n_models; ++m) {
      const GridFit& fit = result_.fits[at(m)];
      intercepts.push_back(fit.intercept);
      for (std::size_t s = 0; s < fit.support.size(); ++s) {
        const index_t i = fit.support[s];
        const double sign = chain_.labels == nullptr ? 1.0 : chain_.labels[i];
        coefs[at(place[at(i)] * n_models + m)] = sign * fit.alpha[s];
      }
    }
    result_.held = make_vector<double>(chain_.n_held * n_models, "scores of held-out rows");
    kernel_scores(kernel_, {support.data(), n_support, coefs.data(), intercepts.data(), n_models}, chain_.held,
                  chain_.n_held, options_.isa, team_, result_.held.data());
  }

  const SvmChain& chain_;
  const Kernel<T>& kernel_;
  KernelCache<T> cache_;
  SmoOptions options_;
  Team& team_;
  ChainResult result_;
};

// The squared distances of all rows from each other; null if they are not worth their memory.
template <class T>
std::unique_ptr<detail::StoredRows<T>> share_distances(const Kernel<T>& distances, const std::vector<SvmChain>& chains,
                                                       index_t entries_per_row, index_t cache_bytes, Team& team) {
  constexpr index_t kWide = 32;  // rows with fewer entries are as fast to compute with as distances to look up
  const index_t n = distances.n_rows();
  const index_t bytes = n * round_up(n, kKernelPanel) * static_cast<index_t>(sizeof(T));
  if (chains.size() < 2 || entries_per_row < kWide || bytes > cache_bytes / 2) return nullptr;
  auto rows = make_vector<index_t>(n, "numbers of rows");
  std::iota(rows.begin(), rows.end(), index_t{0});
  return std::make_unique<detail::StoredRows<T>>(distances, rows.data(), n, team);
}

template <class T>
index_t entries_per_row(const DenseView<T>& view) {
  return view.n_cols;
}
template <class T>
index_t entries_per_row(const CsrView<T>& view) {
  return view.row_start[view.n_rows] / std::max<index_t>(1, view.n_rows);
}

}  // namespace

template <class T>
std::vector<ChainResult> solve_chains(const typename SvmEngine<T>::Data& data, const KernelParams& params,
                                      bool precomputed, const std::vector<SvmChain>& chains, const SvmOptions& options,
                                      index_t cache_bytes, Isa isa, Team& team) {
  const auto kernel_with = [&](KernelKind kind, double gamma, int n_workers) {
    if (precomputed) return make_precomputed_kernel(std::get<DenseView<T>>(data));
    const KernelParams with{kind, gamma, params.degree, params.coef0};
    return std::visit([&](const auto& view) { return make_kernel(view, with, isa, n_workers); }, data);
  };
  std::unique_ptr<Kernel<T>> distances;
  std::unique_ptr<detail::StoredRows<T>> stored;
  if (!precomputed && params.kind == KernelKind::rbf) {
    double largest = 0;
    for (const SvmChain& chain : chains) largest = std::max(largest, chain.gamma);
    distances = kernel_with(KernelKind::squared_distance, largest, team.n_threads());
    const index_t width = std::visit([](const auto& view) { return entries_per_row(view); }, data);
    stored = share_distances(*distances, chains, width, cache_bytes, team);
  }
  const auto n_chains = static_cast<index_t>(chains.size());
  const auto n_workers = static_cast<int>(std::min<index_t>(team.n_threads(), n_chains));
  const index_t bytes_each = (stored ? cache_bytes / 2 : cache_bytes) / std::max(1, n_workers);
  std::vector<ChainResult> results(chains.size());
  team.for_each(n_chains, n_workers, [&](index_t c, int /*worker*/) {
    const SvmChain& chain = chains[at(c)];
    Team alone(1, [&team] { team.poll(); });
    const std::unique_ptr<Kernel<T>> kernel = stored ? std::make_unique<RbfOfDistances<T>>(*stored, chain.gamma, isa)
                                                     : kernel_with(params.kind, chain.gamma, 1);
    results[at(c)] = ChainSolver<T>(chain, *kernel, bytes_each, options, isa, alone).run();
  });
  return results;
}

template std::vector<ChainResult> solve_chains<float>(const SvmEngine<float>::Data&, const KernelParams&, bool,
                                                      const std::vector<SvmChain>&, const SvmOptions&, index_t, Isa,
                                                      Team&);
template std::vector<ChainResult> solve_chains<double>(const SvmEngine<double>::Data&, const KernelParams&, bool,
                                                       const std::vector<SvmChain>&, const SvmOptions&, index_t, Isa,
                                                       Team&);

}  // namespace fastpu
