#include "path/path_start.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/to_text.hpp"
#include "fastpu/svm/smo.hpp"
#include "linalg/elbow_factor.hpp"
#include "path/path_rows.hpp"

namespace fastpu::detail {

namespace {

constexpr double kSmoTol = 1e-7;         // SMO stops here, as a share of the largest gradient; Newton steps follow
constexpr double kBoundShare = 1e-9;     // a value this close to a bound, as a share of its box, is put at the bound
constexpr std::size_t kLightAtOnce = 2;  // kernel rows; every cache holds at least two
constexpr double kEqualSums = 1e-12;     // sums of costs whose relative difference is less count as equal
constexpr double kLostSum = 1e-6;        // a larger relative error of a sum means that rounding has spoilt the values
constexpr double kLostWeight = 1e-11;    // a weight below this share of the sum of its terms' sizes is rounding
constexpr double kSumRounding = 1e-13;   // relative rounding error of a sum of values

bool are_rounding(const std::vector<double>& weights, const std::vector<double>& sizes) {
  for (std::size_t f = 0; f < weights.size(); ++f) {
    if (!(std::abs(weights[f]) <= kLostWeight * sizes[f])) return false;
  }
  return true;
}

// Minimises by Newton steps among the free rows, from a point that is nearly optimal.
class NewtonSteps {
 public:
  // `light_sizes` are the sums of the absolute terms that the lighter class adds to the weights.
  NewtonSteps(PathRows& rows, const std::vector<double>& costs, double total, double shift, std::vector<double>& value,
              std::vector<double>& gradient, std::vector<double>& weights, std::vector<double> light_sizes)
      : rows_(rows),
        costs_(costs),
        total_(total),
        factor_(shift, rows.isa(), rows.n_features()),
        value_(value),
        gradient_(gradient),
        weights_(weights),
        step_weights_(weights.size()),
        light_sizes_(std::move(light_sizes)),
        is_free_(value.size(), false) {}

  void run() {
    const auto n = static_cast<index_t>(value_.size());
    for (index_t i = 0; i < n; ++i) {
      if (value_[at(i)] > 0 && value_[at(i)] < costs_[at(i)]) enter(i);
    }
    for (index_t steps = 20 * n + 1000; steps > 0; --steps) {
      if (!newton_step()) continue;                       // a row met a bound
      if (rows_.is_linear() && !newton_step()) continue;  // removes the rounding errors of the first step
      if (is_rounding()) return;                          // the minimum is 0
      if (!release_worst()) return;
    }
  }

 private:
  // The free row that met a bound, by its position among them; n if there is none.
  struct Stop {
    std::size_t k;
    bool is_at_cost;
  };

  // Makes a row free. If it depends on the rows that are free already, values move along the dependence, which hardly
  // changes the gradient, until one of them is at a bound: that row leaves the free ones, or the new row itself stays
  // out.
  void enter(index_t i) {
    while (ElbowFactor::is_dependent(rows_.add_to_factor(factor_, free_, i, 0))) {
      if (free_.empty()) return;
      step_.resize(free_.size());
      factor_.express_last(step_.data());
      const double sign = value_[at(i)] >= costs_[at(i)] ? -1 : 1;
      for (double& each : step_) each *= -sign;
      double length = sign > 0 ? costs_[at(i)] - value_[at(i)] : value_[at(i)];
      const Stop stop = move_free_rows(length);
      const double own = sign * length;
      value_[at(i)] += own;
      add(free_, step_.data());
      add({i}, &own);
      if (stop.k == free_.size()) {
        value_[at(i)] = sign > 0 ? costs_[at(i)] : 0;
        return;
      }
      leave(stop);
    }
    free_.push_back(i);
    is_free_[at(i)] = true;
  }

  void add(const std::vector<index_t>& positions, const double* factors) {
    if (rows_.is_linear()) rows_.add_to_weights(positions, factors, weights_.data());
    rows_.add(positions, factors, gradient_.data());
  }

  double room_along(index_t i, double step) const {
    if (step == 0) return kInfinity;
    return std::max(0.0, step > 0 ? (costs_[at(i)] - value_[at(i)]) / step : value_[at(i)] / -step);
  }

  // Moves the free rows by `length` times the step, or less far if one of them meets a bound before; `length` and the
  // step then hold what was done.
  Stop move_free_rows(double& length) {
    Stop stop{free_.size(), false};
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const double room = room_along(free_[k], step_[k]);
      if (room < length) {
        length = room;
        stop = {k, step_[k] > 0};
      }
    }
    for (std::size_t k = 0; k < free_.size(); ++k) {
      step_[k] *= length;
      value_[at(free_[k])] += step_[k];
    }
    return stop;
  }

  void leave(const Stop& stop) {
    const index_t i = free_[stop.k];
    value_[at(i)] = stop.is_at_cost ? costs_[at(i)] : 0;
    is_free_[at(i)] = false;
    factor_.remove(static_cast<index_t>(stop.k));
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(stop.k));
  }

  // Returns whether the objective is 0 up to rounding.
  bool is_rounding() const {
    if (!rows_.is_linear()) return false;
    std::vector<double> sizes(light_sizes_);
    rows_.add_sizes(value_.data(), sizes.data());
    return are_rounding(weights_, sizes);
  }

  // Returns whether the whole step was possible without meeting a bound.
  bool newton_step() {
    if (free_.empty()) return true;
    double sum = 0;
    for (const double each : value_) sum += each;
    right_.resize(free_.size());
    step_.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) right_[k] = -gradient_[at(free_[k])];
    const bool is_linear = rows_.is_linear();
    // If the sum is right up to rounding, it is not corrected: the correction would disturb weights that are far
    // smaller.
    const double lack = is_linear && std::abs(total_ - sum) <= kSumRounding * total_ ? 0 : total_ - sum;
    factor_.solve(right_.data(), lack, step_.data(), mu_, is_linear ? step_weights_.data() : nullptr);
    double length = 1;
    const Stop stop = move_free_rows(length);
    if (is_linear) {
      for (std::size_t f = 0; f < weights_.size(); ++f) weights_[f] += step_weights_[f] *= length;
      std::ranges::fill(gradient_, 0.0);
      rows_.add_weighted(weights_.data(), gradient_.data());
    } else {
      rows_.add(free_, step_.data(), gradient_.data());
    }
    if (stop.k == free_.size()) return true;
    leave(stop);
    return false;
  }

  // Frees the row at a bound that violates the conditions most; returns false if there is none.
  bool release_worst() {
    const auto n = static_cast<index_t>(value_.size());
    double size = 0;
    for (const double each : gradient_) size = std::max(size, std::abs(each));
    const double slack = kRounding * size;
    index_t up = -1;    // the row with the least gradient of those that may grow
    index_t down = -1;  // the row with the largest gradient of those that may shrink
    for (index_t i = 0; i < n; ++i) {
      const double g = gradient_[at(i)];
      if (value_[at(i)] < costs_[at(i)] && (up < 0 || g < gradient_[at(up)])) up = i;
      if (value_[at(i)] > 0 && (down < 0 || g > gradient_[at(down)])) down = i;
    }
    if (up < 0 || down < 0 || gradient_[at(down)] - gradient_[at(up)] <= slack) return false;
    const std::size_t before = free_.size();
    // Frees the row whose gradient is farther from that of the free rows, or both if there are no free rows.
    if (free_.empty()) {
      enter(up);
      enter(down);
      return free_.size() > before;
    }
    const double level = -mu_;
    const bool is_up =
        !is_free_[at(up)] && (is_free_[at(down)] || level - gradient_[at(up)] >= gradient_[at(down)] - level);
    const index_t chosen = is_up ? up : down;
    if (is_free_[at(chosen)]) return false;  // only rounding errors say that it violates
    enter(chosen);
    return true;
  }

  PathRows& rows_;
  const std::vector<double>& costs_;
  double total_;
  ElbowFactor factor_;
  std::vector<double>& value_;
  std::vector<double>& gradient_;
  std::vector<double>& weights_;  // if K is linear: X'value minus the same sum of the other class
  std::vector<double> step_weights_;
  std::vector<double> light_sizes_;
  std::vector<bool> is_free_;
  std::vector<index_t> free_;
  std::vector<double> right_;  // of the Newton system
  std::vector<double> step_;
  double mu_ = 0;
};

// Returns a feasible point: values in proportion to the costs, or equal values of the rows with infinite cost.
std::vector<double> feasible(const std::vector<double>& costs, double total) {
  double sum = 0;
  index_t n_infinite = 0;
  for (const double cost : costs) {
    if (std::isfinite(cost)) {
      sum += cost;
    } else {
      ++n_infinite;
    }
  }
  std::vector<double> value(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (n_infinite > 0) {
      value[i] = std::isfinite(costs[i]) ? 0 : total / static_cast<double>(n_infinite);
    } else {
      value[i] = std::min(costs[i], costs[i] * (total / sum));
    }
  }
  return value;
}

// Returns whether values are within their bounds and have the given sum, up to a little rounding.
bool is_feasible(const std::vector<double>& value, const std::vector<double>& costs, double total) {
  const double slack = kLostSum * total;
  double sum = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool is_within = value[i] >= -slack && value[i] <= costs[i] + slack;  // false for NaN
    if (!is_within) return false;
    sum += value[i];
  }
  return std::abs(sum - total) <= slack;
}

// Adds sum_k factors[k] x_rows[k] to weights, and the sizes of its terms to sizes.
void add_rows(const DenseView<double>& x, const std::vector<index_t>& rows, const double* factors, double sign,
              std::vector<double>& weights, std::vector<double>& sizes) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (index_t f = 0; f < x.n_cols; ++f) {
      const double part = factors[k] * x.row(rows[k])[f];
      weights[at(f)] += sign * part;
      sizes[at(f)] += std::abs(part);
    }
  }
}

// Returns -sum_j light_costs[j] K(light[j], x) for each column x of the cache.
std::vector<double> linear_terms(KernelCache<double>& cache, const std::vector<index_t>& light,
                                 const std::vector<double>& light_costs, Team& team) {
  const auto n = static_cast<index_t>(cache.columns().size());
  auto linear = make_vector<double>(n, "the start of the path");
  std::vector<const double*> values;
  for (std::size_t first = 0; first < light.size(); first += kLightAtOnce) {
    const std::size_t n_now =
        std::min({kLightAtOnce, light.size() - first, static_cast<std::size_t>(cache.capacity())});
    values.resize(n_now);
    cache.get(light.data() + first, static_cast<index_t>(n_now), values.data(), team);
    for (std::size_t k = 0; k < n_now; ++k) {
      vector_kernels(team.isa()).add(linear.data(), -light_costs[first + k], values[k], n);
    }
  }
  return linear;
}

// Brings `value` near to the minimum by sequential minimal optimisation; returns the gradient there.
std::vector<double> run_smo(KernelCache<double>& cache, const std::vector<index_t>& rows,
                            const std::vector<double>& linear, const std::vector<double>& upper, Team& team,
                            std::vector<double>& value) {
  const auto n = static_cast<index_t>(rows.size());
  const std::vector<double> lower(at(n), 0.0);
  double size = 0;
  for (const double term : linear) size = std::max(size, std::abs(term));
  SmoProblem problem;
  problem.rows = rows.data();
  problem.n = n;
  problem.linear = linear.data();
  problem.lower = lower.data();
  problem.upper = upper.data();
  SmoOptions options;
  options.tol = std::max(kSmoTol * size, std::numeric_limits<double>::min());
  // A thousand steps for each row, for small problems: if these do not suffice, rounding may keep pairs moving for
  // ever.
  options.max_steps = std::clamp<index_t>(1000 * n, 10'000, std::max<index_t>(1'000'000, 100 * n));
  return smo(cache, problem, options, {}, team, value.data()).gradient;
}

// Returns a of the rows of the heavier class, and adds their share and that of the lighter class to the weights.
std::vector<double> start_of_heavy(KernelCache<double>& cache, const std::vector<index_t>& heavy,
                                   const std::vector<double>& costs, const std::vector<index_t>& light,
                                   const std::vector<double>& light_costs, const DenseView<double>* feature_rows,
                                   std::vector<double>& weights, Team& team) {
  const auto n = static_cast<index_t>(heavy.size());
  double total = 0;
  for (const double cost : light_costs) total += cost;
  cache.set_columns(heavy.data(), n, team);
  // The cache is new, so its columns are in the order of the rows.
  const std::vector<double> linear = linear_terms(cache, light, light_costs, team);
  std::vector<double> upper(costs);
  for (double& bound : upper) bound = std::min(bound, 2 * total);
  std::vector<double> value = feasible(costs, total);
  const std::vector<double> gradient = run_smo(cache, heavy, linear, upper, team, value);

  // SMO may have changed the order of the cache's columns.
  cache.set_columns(heavy.data(), n, team);
  std::vector<index_t> place(at(cache.kernel().n_rows()));
  for (index_t i = 0; i < n; ++i) place[at(heavy[at(i)])] = i;
  std::vector<double> sorted_value(at(n));
  std::vector<double> sorted_gradient(at(n));
  std::vector<double> sorted_costs(at(n));
  PathRows rows(cache, feature_rows, team);
  double diagonal = 0;
  for (index_t c = 0; c < n; ++c) {
    const std::size_t i = at(place[at(cache.columns()[at(c)])]);
    sorted_costs[at(c)] = costs[i];
    sorted_gradient[at(c)] = gradient[i];
    const double near = kBoundShare * upper[i];
    sorted_value[at(c)] = value[i] <= near ? 0 : value[i] >= costs[i] - near ? costs[i] : value[i];
    diagonal += rows.diagonal(c);
  }
  // The rows whose values change when they are put at their bounds.
  std::vector<index_t> moved;
  std::vector<double> by;
  for (index_t c = 0; c < n; ++c) {
    const std::size_t i = at(place[at(cache.columns()[at(c)])]);
    if (sorted_value[at(c)] == value[i]) continue;
    moved.push_back(c);
    by.push_back(sorted_value[at(c)] - value[i]);
  }
  std::vector<double> light_sizes(weights.size());
  std::vector<index_t> all(at(n));
  std::iota(all.begin(), all.end(), index_t{0});
  if (rows.is_linear()) {
    add_rows(*feature_rows, light, light_costs.data(), -1, weights, light_sizes);
    rows.add_to_weights(all, sorted_value.data(), weights.data());
    std::ranges::fill(sorted_gradient, 0.0);
    rows.add_weighted(weights.data(), sorted_gradient.data());
  } else {
    rows.add(moved, by.data(), sorted_gradient.data());
  }
  const double shift = diagonal > 0 ? diagonal / static_cast<double>(n) : 1;
  NewtonSteps(rows, sorted_costs, total, shift, sorted_value, sorted_gradient, weights, std::move(light_sizes)).run();
  // Where kernel values differ extremely in size, rounding may spoil the Newton steps. The result of SMO is feasible.
  if (!is_feasible(sorted_value, sorted_costs, total)) {
    weights.clear();
    return value;
  }
  for (index_t c = 0; c < n; ++c) {
    value[at(place[at(cache.columns()[at(c)])])] = std::clamp(sorted_value[at(c)], 0.0, sorted_costs[at(c)]);
  }
  return value;
}

}  // namespace

int heavier_class(const SvmPathProblem& problem) {
  if (problem.n < 2) throw std::invalid_argument("a path needs rows of both classes");
  double sums[2] = {};
  bool infinite[2] = {};
  for (index_t i = 0; i < problem.n; ++i) {
    const std::int8_t label = problem.labels[i];
    const double cost = problem.costs[i];
    if (label != 1 && label != -1) throw std::invalid_argument("labels must be +1 or -1, got " + std::to_string(label));
    const bool is_cost = cost == kInfinity || (cost >= kLeastPathCost && cost <= kMostPathCost);
    if (!is_cost) {
      throw std::invalid_argument("costs must be infinite or between " + to_text(kLeastPathCost) + " and " +
                                  to_text(kMostPathCost) + ", got " + to_text(cost));
    }
    const int side = label > 0 ? 0 : 1;
    sums[side] += cost;
    infinite[side] = infinite[side] || std::isinf(cost);
  }
  if (sums[0] == 0 || sums[1] == 0) throw std::invalid_argument("a path needs rows of both classes");
  if (infinite[0] && infinite[1]) throw std::invalid_argument("costs must be finite in one class");
  if (!infinite[0] && !infinite[1] && std::abs(sums[0] - sums[1]) <= kEqualSums * std::max(sums[0], sums[1])) {
    return 0;
  }
  return sums[0] > sums[1] ? 1 : -1;
}

PathStart start_of_path(KernelCache<double>& cache, const DenseView<double>* linear, const SvmPathProblem& problem,
                        int heavier, Team& team) {
  PathStart start{{problem.costs, problem.costs + problem.n}, {}};
  const std::size_t n_weights = linear == nullptr ? 0 : at(linear->n_cols);
  if (heavier != 0) {
    std::vector<index_t> heavy;
    std::vector<index_t> light;
    std::vector<index_t> place;
    std::vector<double> costs;
    std::vector<double> light_costs;
    for (index_t i = 0; i < problem.n; ++i) {
      const bool is_heavy = problem.labels[i] == heavier;
      (is_heavy ? heavy : light).push_back(problem.rows[i]);
      (is_heavy ? costs : light_costs).push_back(problem.costs[i]);
      if (is_heavy) place.push_back(i);
    }
    start.weights.resize(n_weights);
    const auto value = start_of_heavy(cache, heavy, costs, light, light_costs, linear, start.weights, team);
    for (std::size_t k = 0; k < place.size(); ++k) start.alpha[at(place[k])] = value[k];
    for (double& each : start.weights) each *= heavier;
  }
  if (linear == nullptr) return start;
  std::vector<double> sums(n_weights);
  std::vector<double> sizes(n_weights);
  std::vector<double> factors(at(problem.n));
  for (index_t i = 0; i < problem.n; ++i) factors[at(i)] = start.alpha[at(i)] * problem.labels[i];
  add_rows(*linear, {problem.rows, problem.rows + problem.n}, factors.data(), 1, sums, sizes);
  if (start.weights.empty()) start.weights = std::move(sums);
  if (are_rounding(start.weights, sizes)) std::ranges::fill(start.weights, 0.0);
  return start;
}

}  // namespace fastpu::detail
