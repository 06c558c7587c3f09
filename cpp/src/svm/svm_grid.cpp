#include "fastpu/svm/svm_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
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
  ChainSolver(const SvmChain& chain, KernelCache<T>& cache, const SvmOptions& options, Isa isa, Team& team)
      : chain_(chain), cache_(cache), team_(team) {
    options_.tol = options.tol;
    options_.max_steps = options.max_steps;
    options_.isa = isa;
    options_.row_cost = 1;
    costs_ = make_vector<double>(chain.n, "costs");
    start_ = make_vector<double>(chain.n, "alpha");
    products_.resize(chain.points.size());
    moved_.resize(chain.points.size());
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

  // Sets where a problem starts: at the solution of the solved one. What is at its bound there goes towards the new
  // bound, and the free variables of the other class make up for it as far as they can.
  void start_from(std::size_t solved) {
    const GridFit& fit = result_.fits[solved];
    std::ranges::fill(start_, 0.0);
    for (std::size_t s = 0; s < fit.support.size(); ++s) start_[at(fit.support[s])] = fit.alpha[s];
    end_ = start_;
    if (chain_.kind != SvmKind::c_svm) return;
    double growth[2] = {};
    double room[2] = {};
    for (std::size_t s = 0; s < fit.support.size(); ++s) {
      const index_t i = fit.support[s];
      const double more = costs_[at(i)] - fit.alpha[s];
      (is_bound(fit, s, solved) ? growth : room)[side_of(i)] += more;
    }
    const int larger = growth[1] > growth[0] ? 1 : 0;
    const double made_up = std::min(growth[larger] - growth[1 - larger], room[1 - larger]);
    const double share = growth[larger] > 0 ? (growth[1 - larger] + made_up) / growth[larger] : 0;
    for (std::size_t s = 0; s < fit.support.size(); ++s) {
      const index_t i = fit.support[s];
      const double more = costs_[at(i)] - fit.alpha[s];
      if (!is_bound(fit, s, solved)) {
        if (side_of(i) != larger && made_up > 0) end_[at(i)] += more * (made_up / room[1 - larger]);
      } else if (side_of(i) != larger || share == 1) {
        end_[at(i)] = costs_[at(i)];
      } else {
        end_[at(i)] += share * more;
      }
    }
  }
  int side_of(index_t row) const { return chain_.labels[row] > 0 ? 1 : 0; }
  bool is_bound(const GridFit& fit, std::size_t s, std::size_t point) const {
    const index_t i = fit.support[s];
    return fit.alpha[s] >= chain_.base[i] * factor(point, i);
  }

  void solve(std::size_t point, const std::size_t* nearest) {
    for (index_t i = 0; i < chain_.n; ++i) costs_[at(i)] = chain_.base[i] * factor(point, i);
    SvmProblem problem;
    problem.kind = chain_.kind;
    problem.rows = chain_.rows;
    problem.n = chain_.n;
    problem.labels = chain_.labels;
    problem.costs = costs_.data();
    problem.nu = chain_.points[point].nu;
    if (nearest != nullptr) {
      start_from(*nearest);
      problem.start = start_.data();
      const bool has_grown = std::ranges::equal(start_, costs_, std::ranges::less_equal{});
      if (chain_.kind == SvmKind::c_svm && has_grown) {
        problem.start_product = products_[*nearest].data();
        problem.start_end = end_.data();
        problem.start_moved = moved_[*nearest];
      }
    }
    const SvmResult solved = solve_svm(problem, [&](const SmoProblem& dual, double* solution) {
      return smo(cache_, dual, options_, {}, team_, solution);
    });
    products_[point] = solved.decision;
    for (double& f : products_[point]) f -= solved.intercept;
    moved_[point] = solved.smo.moved;
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
    kernel_scores(cache_.kernel(), {support.data(), n_support, coefs.data(), intercepts.data(), n_models}, chain_.held,
                  chain_.n_held, options_.isa, team_, result_.held.data());
  }

  const SvmChain& chain_;
  KernelCache<T>& cache_;
  SmoOptions options_;
  Team& team_;
  ChainResult result_;
  std::vector<double> costs_;
  std::vector<double> start_;  // alpha to start from, and to go towards at first
  std::vector<double> end_;
  std::vector<std::vector<double>> products_;  // of each solved point: f less the intercept
  std::vector<double> moved_;                  // of each solved point: see SmoResult
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
  const auto n_workers = static_cast<int>(std::clamp<index_t>(n_chains, 1, team.n_threads()));
  const index_t bytes_each = (stored ? cache_bytes / 2 : cache_bytes) / n_workers;
  std::vector<ChainResult> results(chains.size());
  std::vector<std::optional<KernelCache<T>>> caches(at(n_workers));
  team.for_each(n_chains, n_workers, [&](index_t c, int worker) {
    const SvmChain& chain = chains[at(c)];
    Team alone(1, [&team] { team.poll(); });
    std::unique_ptr<Kernel<T>> kernel;
    if (stored) {
      kernel = std::make_unique<RbfOfDistances<T>>(*stored, chain.gamma, isa);
    } else {
      kernel = kernel_with(params.kind, chain.gamma, 1);
    }
    std::optional<KernelCache<T>>& cache = caches[at(worker)];
    if (cache) {
      cache->serve(*kernel);
    } else {
      cache.emplace(*kernel, bytes_each);
    }
    results[at(c)] = ChainSolver<T>(chain, *cache, options, isa, alone).run();
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
