#include "fastpu/svm/bagging_svm.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"
#include "kernels/stored_rows.hpp"

namespace fastpu {

namespace {

// The SVM problem of one bag.
struct Bag {
  std::vector<index_t> rows;
  std::vector<std::int8_t> labels;
  std::vector<double> costs;
};

Bag make_bag(const BaggingProblem& problem, index_t number) {
  Bag bag;
  bag.rows.assign(problem.positives, problem.positives + problem.n_pos);
  bag.labels.assign(at(problem.n_pos), std::int8_t{1});
  bag.costs.assign(problem.costs_pos, problem.costs_pos + problem.n_pos);
  std::vector<index_t> drawn(problem.bags + number * problem.bag_size, problem.bags + (number + 1) * problem.bag_size);
  std::ranges::sort(drawn);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    if (k > 0 && drawn[k] == drawn[k - 1]) {
      bag.costs.back() += problem.cost_unl;
      continue;
    }
    bag.rows.push_back(drawn[k]);
    bag.labels.push_back(-1);
    bag.costs.push_back(problem.cost_unl);
  }
  return bag;
}

SvmProblem problem_of(const Bag& bag) {
  SvmProblem problem;
  problem.rows = bag.rows.data();
  problem.n = static_cast<index_t>(bag.rows.size());
  problem.labels = bag.labels.data();
  problem.costs = bag.costs.data();
  return problem;
}

// The alpha from which the solvers of the bags start, with h at that start.
struct Starts {
  std::vector<std::vector<double>> alpha;  // of each bag, for its rows
  std::vector<double> products;            // h of every row of the data in each bag
};

// Computes each kernel value once for the starts of all bags.
template <class T>
Starts make_starts(const Kernel<T>& kernel, const std::vector<Bag>& bags, const double* shares, Team& team) {
  const index_t n = kernel.n_rows();
  const auto n_bags = static_cast<index_t>(bags.size());
  auto place = make_vector<index_t>(n, "places of support vectors");
  std::vector<index_t> support;
  for (index_t i = 0; i < n; ++i) {
    place[at(i)] = static_cast<index_t>(support.size());
    if (shares[i] > 0) support.push_back(i);
  }
  const auto n_support = static_cast<index_t>(support.size());
  auto coefs = make_vector<double>(n_support * n_bags, "the coefficients of all bags");
  Starts starts;
  for (index_t b = 0; b < n_bags; ++b) {
    const Bag& bag = bags[at(b)];
    std::vector<double> alpha(bag.rows.size());
    for (std::size_t k = 0; k < alpha.size(); ++k) alpha[k] = shares[bag.rows[k]] * bag.costs[k];
    SvmProblem problem = problem_of(bag);
    problem.start = alpha.data();
    starts.alpha.push_back(feasible_start(problem));
    for (std::size_t k = 0; k < bag.rows.size(); ++k) {
      const double value = starts.alpha.back()[k];
      if (value > 0) coefs[at(place[at(bag.rows[k])] * n_bags + b)] = bag.labels[k] * value;
    }
  }
  auto all = make_vector<index_t>(n, "numbers of rows");
  std::iota(all.begin(), all.end(), index_t{0});
  const std::vector<double> zeros(bags.size());
  starts.products = make_vector<double>(n * n_bags, "scores of all bags");
  kernel_scores(kernel, {support.data(), n_support, coefs.data(), zeros.data(), n_bags}, all.data(), n, team,
                starts.products.data());
  return starts;
}

// Returns the positives and all rows of any bag, in ascending order.
std::vector<index_t> rows_of_bags(const BaggingProblem& problem) {
  std::vector<index_t> rows(problem.positives, problem.positives + problem.n_pos);
  rows.insert(rows.end(), problem.bags, problem.bags + problem.n_bags * problem.bag_size);
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  return rows;
}

// Computes kernel rows for all columns once for all bags, if that is less work than computing them for each bag and
// half of the cache has room for them: those of all rows in bags, or of the positives alone, which every bag has.
// Values of short rows are computed faster than they are looked up. Returns null if it stores none.
template <class T>
std::unique_ptr<detail::StoredRows<T>> store_rows(const SvmEngine<T>& engine, const BaggingProblem& problem, Team& team,
                                                  index_t& bytes_left) {
  if (engine.has_short_rows()) return nullptr;
  const Kernel<T>& kernel = engine.kernel();
  const index_t bytes_of_row = (kernel.n_rows() + kKernelPanel) * static_cast<index_t>(sizeof(T));
  const index_t most = bytes_left / 2 / bytes_of_row;
  const auto store = [&](const index_t* rows, index_t n) {
    bytes_left -= n * bytes_of_row;
    return std::make_unique<detail::StoredRows<T>>(kernel, rows, n, team);
  };
  const std::vector<index_t> drawn = rows_of_bags(problem);
  const auto n_drawn = static_cast<index_t>(drawn.size());
  if (n_drawn <= most && problem.n_bags * problem.bag_size > 2 * kernel.n_rows()) return store(drawn.data(), n_drawn);
  if (problem.n_pos > most || problem.n_bags * (problem.n_pos + problem.bag_size) <= kernel.n_rows()) return nullptr;
  return store(problem.positives, problem.n_pos);
}

using Coefs = std::vector<std::pair<index_t, double>>;  // row and alpha y of each support vector

// Sets support and coefs of the result to those of the bags.
void gather_coefs(const std::vector<Coefs>& of_bags, BaggingResult& result) {
  for (const Coefs& coefs : of_bags) {
    for (const auto& [row, coef] : coefs) result.support.push_back(row);
  }
  std::ranges::sort(result.support);
  const auto repeated = std::ranges::unique(result.support);
  result.support.erase(repeated.begin(), repeated.end());
  const auto n_bags = static_cast<index_t>(of_bags.size());
  result.coefs =
      make_vector<double>(static_cast<index_t>(result.support.size()) * n_bags, "the coefficients of all bags");
  for (index_t b = 0; b < n_bags; ++b) {
    for (const auto& [row, coef] : of_bags[at(b)]) {
      const auto place = std::ranges::lower_bound(result.support, row) - result.support.begin();
      result.coefs[at(place * n_bags + b)] = coef;
    }
  }
}

}  // namespace

template <class T>
BaggingResult solve_bags(const SvmEngine<T>& engine, const BaggingProblem& problem, const SmoOptions& options,
                         Team& team) {
  const Kernel<T>& kernel = engine.kernel();
  const auto n_workers = kernel.is_serial() ? 1 : static_cast<int>(std::min<index_t>(team.n_threads(), problem.n_bags));
  index_t bytes_left = engine.cache_bytes();
  const auto stored = store_rows(engine, problem, team, bytes_left);
  const Kernel<T>& shared = stored ? static_cast<const Kernel<T>&>(*stored) : kernel;

  std::vector<Bag> bags;
  bags.reserve(at(problem.n_bags));
  for (index_t number = 0; number < problem.n_bags; ++number) bags.push_back(make_bag(problem, number));
  Starts starts;
  if (problem.start != nullptr) starts = make_starts(shared, bags, problem.start, team);

  BaggingResult result;
  result.bags.resize(at(problem.n_bags));
  std::vector<Coefs> coefs(at(problem.n_bags));
  std::vector<std::optional<KernelCache<T>>> caches(at(n_workers));
  team.for_each(problem.n_bags, n_workers, [&](index_t number, int worker) {
    const Bag& bag = bags[at(number)];
    SvmProblem svm = problem_of(bag);
    std::vector<double> products;
    if (!starts.alpha.empty()) {
      svm.start = starts.alpha[at(number)].data();
      for (const index_t row : bag.rows) products.push_back(starts.products[at(row * problem.n_bags + number)]);
      svm.start_product = products.data();
    }
    Team alone = team.alone();
    const SvmResult solved = solve_svm(svm, [&](const SmoProblem& dual, double* solution) {
      std::optional<KernelCache<T>>& cache = caches[at(worker)];
      if (cache) {
        cache->serve(shared);
      } else {
        cache.emplace(shared, bytes_left / n_workers);
      }
      return smo(*cache, dual, options, {}, alone, solution);
    });
    for (std::size_t k = 0; k < bag.rows.size(); ++k) {
      if (solved.alpha[k] > 0) coefs[at(number)].emplace_back(bag.rows[k], solved.alpha[k] * bag.labels[k]);
    }
    result.bags[at(number)] = solved;
  });
  gather_coefs(coefs, result);
  return result;
}

template BaggingResult solve_bags(const SvmEngine<float>&, const BaggingProblem&, const SmoOptions&, Team&);
template BaggingResult solve_bags(const SvmEngine<double>&, const BaggingProblem&, const SmoOptions&, Team&);

}  // namespace fastpu
