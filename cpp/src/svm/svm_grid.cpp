#include "fastpu/svm/svm_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/svm/smo.hpp"
#include "kernels/stored_rows.hpp"
#include "kernels/svm_kernels.hpp"

namespace fastpu {

namespace {

// An rbf kernel on squared distances that are stored.
template <class T>
class RbfOfDistances final : public Kernel<T> {
 public:
  RbfOfDistances(const detail::StoredRows<T>& distances, double gamma, const Team& team)
      : distances_(distances), gamma_(gamma), loops_(detail::svm_kernels(team.isa()).of<T>()) {}
  index_t n_rows() const override { return distances_.n_rows(); }
  double diagonal(index_t /*row*/) const override { return 1.0; }
  std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const override {
    return distances_.pack(rows, n, team);
  }
  void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
            T* const* out) const override {
    distances_.fill(rows, n, columns, first, last, out);
    for (index_t k = 0; k < n; ++k) loops_.exp_of(out[k], round_up(last - first, kKernelPanel), gamma_);
  }
  bool gains_by_several_rows() const override { return distances_.gains_by_several_rows(); }

 private:
  const detail::StoredRows<T>& distances_;
  double gamma_;
  const detail::TypedKernels<T>& loops_;
};

// The distance of two points: that of the logarithms of their parameters.
double distance(const SvmChain& chain, const GridPoint& a, const GridPoint& b) {
  if (chain.kind != SvmKind::c_svm) return std::abs(std::log(a.nu / b.nu));
  return std::abs(std::log(a.factor_pos / b.factor_pos)) + std::abs(std::log(a.factor_neg / b.factor_neg));
}

// Chains of one width, and the rows over which all of their problems are posed, so that they share kernel rows. In each
// problem the rows to which it is not fitted have no cost.
struct Family {
  std::vector<index_t> rows;  // ascending
  std::vector<std::size_t> chains;
};

// Solves the problems of a chain one after the other.
template <class T>
class ChainSolver {
 public:
  ChainSolver(const SvmChain& chain, const std::vector<index_t>& rows, KernelCache<T>& cache, const SmoOptions& options,
              Team& team)
      : chain_(chain), rows_(rows), cache_(cache), options_(options), team_(team) {
    options_.keeps_rows = true;
    const auto n = static_cast<index_t>(rows.size());
    base_ = make_vector<double>(n, "costs");
    costs_ = make_vector<double>(n, "costs");
    start_ = make_vector<double>(n, "alpha");
    labels_.assign(at(n), 1);
    place_ = places_of(chain.rows, chain.n);
    for (index_t i = 0; i < chain.n; ++i) {
      base_[place_[at(i)]] = chain.base[i];
      if (chain.labels != nullptr) labels_[place_[at(i)]] = chain.labels[i];
    }
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
    result_.held_out_scores =
        make_vector<double>(chain_.n_held_out * static_cast<index_t>(n_points), "scores of held-out rows");
    for (std::size_t k = 0; k < n_points; ++k) {
      const std::size_t* nearest = nullptr;
      for (std::size_t s = 0; s < k; ++s) {
        if (nearest == nullptr || is_nearer(order[s], *nearest, order[k])) nearest = &order[s];
      }
      solve(order[k], nearest);
    }
    return std::move(result_);
  }

 private:
  std::vector<std::size_t> places_of(const index_t* numbers, index_t n) const {
    std::vector<std::size_t> places;
    places.reserve(at(n));
    for (index_t k = 0; k < n; ++k) {
      places.push_back(at(std::ranges::lower_bound(rows_, numbers[k]) - rows_.begin()));
    }
    return places;
  }
  // Of equally distant points the later one is taken.
  bool is_nearer(std::size_t a, std::size_t b, std::size_t to) const {
    const std::vector<GridPoint>& points = chain_.points;
    return distance(chain_, points[a], points[to]) <= distance(chain_, points[b], points[to]);
  }
  double cost(std::size_t point, std::size_t place) const {
    const GridPoint& at_point = chain_.points[point];
    return base_[place] * (labels_[place] > 0 ? at_point.factor_pos : at_point.factor_neg);
  }

  // Sets where a problem starts, which is the solution of the point `solved`, and where its first step leads: variables
  // at their bounds go towards the new bounds, and the free ones of the other class make up for it as far as they can.
  void start_from(std::size_t solved) {
    const GridFit& fit = result_.fits[solved];
    std::ranges::fill(start_, 0.0);
    for (std::size_t s = 0; s < fit.support.size(); ++s) start_[place_[at(fit.support[s])]] = fit.alpha[s];
    end_ = start_;
    if (chain_.kind != SvmKind::c_svm) return;
    double growth[2] = {};
    double room[2] = {};
    for (const index_t row : fit.support) {
      const std::size_t i = place_[at(row)];
      (is_bound(i, solved) ? growth : room)[side_of(i)] += costs_[i] - start_[i];
    }
    const int larger = growth[1] > growth[0] ? 1 : 0;
    const double made_up = std::min(growth[larger] - growth[1 - larger], room[1 - larger]);
    const double share = growth[larger] > 0 ? (growth[1 - larger] + made_up) / growth[larger] : 0;
    for (const index_t row : fit.support) {
      const std::size_t i = place_[at(row)];
      const double more = costs_[i] - start_[i];
      if (!is_bound(i, solved)) {
        if (side_of(i) != larger && made_up > 0) end_[i] += more * (made_up / room[1 - larger]);
      } else if (side_of(i) != larger || share == 1) {
        end_[i] = costs_[i];
      } else {
        end_[i] += share * more;
      }
    }
  }
  int side_of(std::size_t place) const { return labels_[place] > 0 ? 1 : 0; }
  bool is_bound(std::size_t place, std::size_t point) const { return start_[place] >= cost(point, place); }

  void solve(std::size_t point, const std::size_t* nearest) {
    for (std::size_t i = 0; i < rows_.size(); ++i) costs_[i] = cost(point, i);
    SvmProblem problem;
    problem.kind = chain_.kind;
    problem.rows = rows_.data();
    problem.n = static_cast<index_t>(rows_.size());
    problem.labels = chain_.labels == nullptr ? nullptr : labels_.data();
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
    moved_[point] = solved.moved;
    GridFit& fit = result_.fits[point];
    static_cast<SvmReport&>(fit) = solved;
    fit.lowest_score = kInfinity;
    fit.highest_score = -kInfinity;
    for (index_t i = 0; i < chain_.n; ++i) {
      const double f = solved.decision[place_[at(i)]];
      fit.n_positive += f > 0 ? 1 : 0;
      fit.lowest_score = std::min(fit.lowest_score, f);
      fit.highest_score = std::max(fit.highest_score, f);
      if (solved.alpha[place_[at(i)]] <= 0) continue;
      fit.support.push_back(i);
      fit.alpha.push_back(solved.alpha[place_[at(i)]]);
    }
    const std::vector<std::size_t> held_out = places_of(chain_.held_out, chain_.n_held_out);
    for (std::size_t k = 0; k < held_out.size(); ++k) {
      result_.held_out_scores[k * chain_.points.size() + point] = solved.decision[held_out[k]];
    }
  }

  const SvmChain& chain_;
  const std::vector<index_t>& rows_;
  KernelCache<T>& cache_;
  SmoOptions options_;
  Team& team_;
  ChainResult result_;
  std::vector<std::size_t> place_;   // of each row of the chain among all rows
  std::vector<std::int8_t> labels_;  // this and what follows is of all rows
  std::vector<double> base_;
  std::vector<double> costs_;
  std::vector<double> start_;  // alpha to start from, and the end of the first step
  std::vector<double> end_;
  std::vector<std::vector<double>> products_;  // of each solved point: f less the intercept
  std::vector<double> moved_;                  // of each solved point: see SmoResult
};

// Puts chains of equal widths into one family, unless their rows differ so much that sharing them would cost more than
// it saves.
std::vector<Family> families_of(const std::vector<SvmChain>& chains) {
  std::map<double, std::vector<std::size_t>> by_gamma;
  for (std::size_t c = 0; c < chains.size(); ++c) by_gamma[chains[c].gamma].push_back(c);
  const auto rows_of = [&](const std::vector<std::size_t>& members) {
    std::vector<index_t> rows;
    for (const std::size_t c : members) {
      const SvmChain& chain = chains[c];
      rows.insert(rows.end(), chain.rows, chain.rows + chain.n);
      rows.insert(rows.end(), chain.held_out, chain.held_out + chain.n_held_out);
    }
    std::ranges::sort(rows);
    const auto repeated = std::ranges::unique(rows);
    rows.erase(repeated.begin(), repeated.end());
    return rows;
  };
  std::vector<Family> families;
  for (const auto& [gamma, members] : by_gamma) {
    std::vector<index_t> rows = rows_of(members);
    double used = 0;
    for (const std::size_t c : members) used += static_cast<double>(chains[c].n + chains[c].n_held_out);
    // Every problem is posed over all rows of the family, so rows of other chains cost time.
    if (2 * used >= static_cast<double>(rows.size() * members.size())) {
      families.push_back({std::move(rows), members});
      continue;
    }
    for (const std::size_t c : members) families.push_back({rows_of({c}), {c}});
  }
  return families;
}

// The squared distances of all rows from each other; null if half of the cache has no room for them.
template <class T>
std::unique_ptr<detail::StoredRows<T>> store_distances(const Kernel<T>& distances, index_t cache_bytes, Team& team) {
  const index_t n = distances.n_rows();
  const index_t bytes = n * round_up(n, kKernelPanel) * static_cast<index_t>(sizeof(T));
  if (bytes > cache_bytes / 2) return nullptr;
  auto rows = make_vector<index_t>(n, "numbers of rows");
  std::iota(rows.begin(), rows.end(), index_t{0});
  return std::make_unique<detail::StoredRows<T>>(distances, rows.data(), n, team);
}

}  // namespace

template <class T>
std::vector<ChainResult> solve_chains(const typename SvmEngine<T>::Data& data, const KernelParams& params,
                                      bool precomputed, const std::vector<SvmChain>& chains, const SmoOptions& options,
                                      index_t cache_bytes, Team& team) {
  const auto kernel_with = [&](KernelKind kind, double gamma) {
    if (precomputed) return make_precomputed_kernel(std::get<DenseView<T>>(data));
    const KernelParams chosen{kind, gamma, params.degree, params.coef0};
    return std::visit([&](const auto& view) { return make_kernel(view, chosen, team); }, data);
  };
  std::unique_ptr<Kernel<T>> distances;
  std::unique_ptr<detail::StoredRows<T>> stored;
  const bool has_short_rows = std::visit([](const auto& view) { return detail::has_short_rows(view); }, data);
  if (!precomputed && params.kind == KernelKind::rbf && chains.size() > 1 && !has_short_rows) {
    double largest = 0;
    for (const SvmChain& chain : chains) largest = std::max(largest, chain.gamma);
    distances = kernel_with(KernelKind::squared_distance, largest);
    stored = store_distances(*distances, cache_bytes, team);
  }
  // Where there are fewer families than threads, parts of a family are units of work.
  struct Unit {
    const Family* family;
    std::size_t first;
    std::size_t last;
  };
  const std::vector<Family> families = families_of(chains);
  std::vector<Unit> units;
  for (const Family& family : families) {
    const std::size_t n_parts = (at(team.n_threads()) + families.size() - 1) / families.size();
    const std::size_t size = (family.chains.size() + n_parts - 1) / n_parts;
    for (std::size_t first = 0; first < family.chains.size(); first += size) {
      units.push_back({&family, first, std::min(first + size, family.chains.size())});
    }
  }
  const auto n_units = static_cast<index_t>(units.size());
  const auto n_workers = static_cast<int>(std::clamp<index_t>(n_units, 1, team.n_threads()));
  const index_t bytes_each = (stored ? cache_bytes / 2 : cache_bytes) / n_workers;
  std::vector<ChainResult> results(chains.size());
  std::vector<std::optional<KernelCache<T>>> caches(at(n_workers));
  team.for_each(n_units, n_workers, [&](index_t u, int worker) {
    const Unit& unit = units[at(u)];
    const std::vector<index_t>& rows = unit.family->rows;
    const double gamma = chains[unit.family->chains[unit.first]].gamma;
    Team alone = team.alone();
    std::unique_ptr<Kernel<T>> kernel;
    if (stored) {
      kernel = std::make_unique<RbfOfDistances<T>>(*stored, gamma, alone);
    } else {
      kernel = kernel_with(params.kind, gamma);
    }
    std::optional<KernelCache<T>>& cache = caches[at(worker)];
    if (cache) {
      cache->serve(*kernel);
    } else {
      cache.emplace(*kernel, bytes_each);
    }
    cache->set_columns(rows.data(), static_cast<index_t>(rows.size()), alone);
    for (std::size_t c = unit.first; c < unit.last; ++c) {
      const std::size_t chain = unit.family->chains[c];
      results[chain] = ChainSolver<T>(chains[chain], rows, *cache, options, alone).run();
    }
  });
  return results;
}

template std::vector<ChainResult> solve_chains<float>(const SvmEngine<float>::Data&, const KernelParams&, bool,
                                                      const std::vector<SvmChain>&, const SmoOptions&, index_t, Team&);
template std::vector<ChainResult> solve_chains<double>(const SvmEngine<double>::Data&, const KernelParams&, bool,
                                                       const std::vector<SvmChain>&, const SmoOptions&, index_t, Team&);

}  // namespace fastpu
