#include "fastpu/svm/svm.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "kernels/stored_rows.hpp"
#include "svm/optimal_intercept.hpp"
#include "svm/rounded_kernel.hpp"
#include "svm/window.hpp"

namespace fastpu {

namespace {

// Subtracts the surplus of a sum from the alphas of some rows: in proportion from those below their bounds, which are
// likely to move anyway, and if these are not enough from the largest of the others.
void take_surplus(const SvmProblem& problem, const std::vector<index_t>& rows, double surplus, double* alpha) {
  double free_sum = 0;
  std::vector<std::pair<double, index_t>> bound;
  for (const index_t i : rows) {
    if (alpha[i] < problem.costs[i]) {
      free_sum += alpha[i];
    } else {
      bound.emplace_back(alpha[i], i);
    }
  }
  const double kept = surplus < free_sum ? 1 - surplus / free_sum : 0;
  for (const index_t i : rows) {
    if (alpha[i] < problem.costs[i]) alpha[i] *= kept;
  }
  surplus -= (1 - kept) * free_sum;
  if (kept > 0) return;
  std::ranges::sort(bound, std::greater<>{});
  for (const auto& [value, i] : bound) {
    if (surplus <= 0) return;
    const double taken = std::min(value, surplus);
    alpha[i] = value - taken;
    surplus -= taken;
  }
}

// Sets alpha of the rows of one side (0: both) such that it sums to `total`: scales and clips the start, if there is
// one, and adds what is missing from the total to the first rows that are below their costs.
void fill_up(const SvmProblem& problem, int side, double total, double* alpha) {
  const auto is_mine = [&](index_t i) { return side == 0 || problem.labels[i] == side; };
  double sum = 0;
  for (index_t i = 0; i < problem.n; ++i) {
    if (is_mine(i)) sum += alpha[i];
  }
  const double scale = sum > 0 && std::isfinite(total / sum) ? total / sum : 0;
  double missing = total;
  for (index_t i = 0; i < problem.n; ++i) {
    if (!is_mine(i)) continue;
    // A value that was at its bound may be just below it after the division and multiplication, and would then seem
    // to violate the conditions: it is put back at the bound.
    const double scaled = alpha[i] * scale >= problem.costs[i] * (1 - 1e-9) ? problem.costs[i] : alpha[i] * scale;
    alpha[i] = std::min(scaled, missing);
    missing -= alpha[i];
  }
  for (index_t i = 0; i < problem.n && missing > 0; ++i) {
    if (!is_mine(i)) continue;
    const double more = std::min(problem.costs[i] - alpha[i], missing);
    alpha[i] = more == problem.costs[i] - alpha[i] ? problem.costs[i] : alpha[i] + more;
    missing -= more;
  }
}

struct Totals {
  double all = 0;
  double pos = 0;
  double neg = 0;
};

Totals total_costs(const SvmProblem& problem) {
  Totals totals;
  for (index_t i = 0; i < problem.n; ++i) {
    totals.all += problem.costs[i];
    if (problem.labels == nullptr) continue;
    (problem.labels[i] > 0 ? totals.pos : totals.neg) += problem.costs[i];
  }
  return totals;
}

// b, rho and the primal objective without |w|^2 / 2, computed from h = Kb of the rows.
struct Primal {
  double intercept = 0;
  double margin = 1;
  double loss = 0;
};

Primal best_intercept(const SvmProblem& problem, const Totals& totals, const std::vector<double>& h) {
  Primal primal;
  std::vector<detail::Breakpoint> points;
  points.reserve(h.size());
  const auto middle = [&](int side, double target, auto&& position) {
    points.clear();
    for (index_t i = 0; i < problem.n; ++i) {
      const bool is_mine = side == 0 || problem.labels[i] == side;
      if (is_mine && problem.costs[i] > 0) points.push_back({position(i), problem.costs[i]});
    }
    return detail::best_intercepts(points, target).middle;
  };
  switch (problem.kind) {
    case SvmKind::c_svm:
      primal.intercept = middle(0, totals.pos, [&](index_t i) { return problem.labels[i] - h[at(i)]; });
      break;
    case SvmKind::nu_svm: {  // the problem separates into one for rho - b and one for rho + b
      const double half = 0.5 * problem.nu * totals.all;
      const double minus = middle(1, half, [&](index_t i) { return h[at(i)]; });
      const double plus = middle(-1, half, [&](index_t i) { return -h[at(i)]; });
      primal.intercept = 0.5 * (plus - minus);
      primal.margin = 0.5 * (plus + minus);
      break;
    }
    case SvmKind::one_class:
      primal.margin = middle(0, problem.nu * totals.all, [&](index_t i) { return h[at(i)]; });
      primal.intercept = -primal.margin;
      break;
  }
  if (problem.kind != SvmKind::c_svm) primal.loss = -problem.nu * totals.all * primal.margin;
  for (index_t i = 0; i < problem.n; ++i) {
    const double score =
        problem.kind == SvmKind::one_class ? h[at(i)] : problem.labels[i] * (h[at(i)] + primal.intercept);
    primal.loss += problem.costs[i] * std::max(0.0, primal.margin - score);
  }
  return primal;
}

// Continues to solve a problem whose solution so far has the result `first`; solve(problem, options, callback) starts
// from that solution. The rounds and steps of `first` are counted with those that follow.
template <class Solve>
SmoResult continue_from(SmoResult first, const SmoProblem& problem, SmoOptions options, const SmoCallback& callback,
                        Solve&& solve) {
  std::vector<double> product(std::move(first.gradient));
  for (index_t i = 0; i < problem.n; ++i) product[at(i)] -= problem.linear[i];
  const SmoStart start{product.data()};
  SmoProblem rest = problem;
  rest.start = &start;
  options.max_steps -= first.n_steps;
  const auto counted = [&](SmoRound round) {
    round.n_steps += first.n_steps;
    return round;
  };
  SmoCallback on_round;
  if (callback) on_round = [&](const SmoRound& round) { return callback(counted(round)); };
  SmoResult last = solve(rest, options, on_round);
  for (const SmoRound& round : last.rounds) first.rounds.push_back(counted(round));
  last.rounds = std::move(first.rounds);
  last.n_steps += first.n_steps;
  return last;
}

}  // namespace

std::vector<double> feasible_start(const SvmProblem& problem) {
  const Totals totals = total_costs(problem);
  auto alpha = make_vector<double>(problem.n, "alpha");
  if (problem.start != nullptr) {
    const bool is_scaled = problem.kind != SvmKind::c_svm;  // the start is scaled to the right sum before it is clipped
    for (index_t i = 0; i < problem.n; ++i) {
      alpha[at(i)] = std::max(0.0, is_scaled ? problem.start[i] : std::min(problem.start[i], problem.costs[i]));
    }
  }
  if (problem.kind == SvmKind::one_class) {
    if (!(problem.nu <= 1)) throw std::invalid_argument("nu must be at most 1, got " + detail::to_text(problem.nu));
    fill_up(problem, 0, problem.nu * totals.all, alpha.data());
  } else if (problem.kind == SvmKind::nu_svm) {
    const double half = 0.5 * problem.nu * totals.all;
    // An absent class is refused even where nu W is 0 by rounding.
    if (half > std::min(totals.pos, totals.neg) * (1 + 1e-12) || std::min(totals.pos, totals.neg) == 0) {
      throw std::invalid_argument("nu must be at most " +
                                  detail::to_text(2 * std::min(totals.pos, totals.neg) / totals.all) +
                                  " for these classes, got " + detail::to_text(problem.nu));
    }
    fill_up(problem, 1, half, alpha.data());
    fill_up(problem, -1, half, alpha.data());
  } else if (problem.start != nullptr) {
    double balance = 0;
    for (index_t i = 0; i < problem.n; ++i) balance += alpha[at(i)] * problem.labels[i];
    std::vector<index_t> heavier;
    for (index_t i = 0; i < problem.n; ++i) {
      if (alpha[at(i)] > 0 && problem.labels[i] == (balance > 0 ? 1 : -1)) heavier.push_back(i);
    }
    take_surplus(problem, heavier, std::abs(balance), alpha.data());
  }
  return alpha;
}

SvmResult solve_svm(const SvmProblem& problem, const DualSolver& solve_dual) {
  const auto n = problem.n;
  if (n < 1) throw std::invalid_argument("a support vector machine needs rows, got none");
  const Totals totals = total_costs(problem);
  SvmResult result;
  result.alpha = feasible_start(problem);
  const auto label = [&](index_t i) { return problem.labels == nullptr ? 1 : problem.labels[i]; };

  auto solution = make_vector<double>(n, "variables");
  auto linear = make_vector<double>(n, "variables");
  auto lower = make_vector<double>(n, "bounds of variables");
  auto upper = make_vector<double>(n, "bounds of variables");
  std::vector<std::uint8_t> groups;
  if (problem.kind == SvmKind::nu_svm) groups = make_vector<std::uint8_t>(n, "groups of variables");
  for (index_t i = 0; i < n; ++i) {
    solution[at(i)] = label(i) * result.alpha[at(i)];
    linear[at(i)] = problem.kind == SvmKind::c_svm ? -label(i) : 0;
    lower[at(i)] = label(i) > 0 ? 0 : -problem.costs[i];
    upper[at(i)] = label(i) > 0 ? problem.costs[i] : 0;
    if (!groups.empty()) groups[at(i)] = label(i) > 0 ? 1 : 0;
  }
  SmoProblem dual{problem.rows, n, linear.data(), lower.data(), upper.data(), groups.empty() ? nullptr : groups.data()};
  SmoStart start{problem.start_product, nullptr, problem.start_moved};
  std::vector<double> end;
  if (problem.start_end != nullptr) {
    end = make_vector<double>(n, "variables");
    for (index_t i = 0; i < n; ++i) end[at(i)] = label(i) * problem.start_end[i];
    start.end = end.data();
  }
  if (problem.start_product != nullptr) dual.start = &start;
  SmoResult smo = solve_dual(dual, solution.data());
  static_cast<SmoEnd&>(result) = smo;
  result.moved = smo.moved;
  result.rounds = std::move(smo.rounds);

  double sum = 0;
  double squared_norm = 0;
  result.decision = make_vector<double>(n, "decision values");
  for (index_t i = 0; i < n; ++i) {
    result.alpha[at(i)] = label(i) * solution[at(i)];
    result.decision[at(i)] = smo.gradient[at(i)] - linear[at(i)];
    sum += result.alpha[at(i)];
    squared_norm += solution[at(i)] * result.decision[at(i)];
  }
  if (!std::isfinite(squared_norm) ||
      !std::ranges::all_of(result.decision, [](double h) { return std::isfinite(h); })) {
    throw std::invalid_argument("kernel values are too large to compute with: scale X, or lower C and sample_weight");
  }
  const Primal primal = best_intercept(problem, totals, result.decision);
  result.intercept = primal.intercept;
  result.margin = primal.margin;
  if (problem.labels != nullptr) {
    // The variables sum to 0, so scores give the same as h, and do not cancel where all of h is large.
    squared_norm = 0;
    for (index_t i = 0; i < n; ++i) squared_norm += solution[at(i)] * (result.decision[at(i)] + primal.intercept);
  }
  const double gain = problem.kind == SvmKind::c_svm ? sum : 0;
  result.objective = 0.5 * squared_norm - gain;
  result.gap = std::max(0.0, squared_norm + primal.loss - gain);
  // A margin so small that dividing by it overflows counts as none.
  const bool has_margin = primal.margin > 0 && std::isfinite(totals.all / primal.margin);
  const double scale = problem.kind == SvmKind::nu_svm && has_margin ? primal.margin : 1;
  for (index_t i = 0; i < n; ++i) {
    result.alpha[at(i)] /= scale;
    result.decision[at(i)] = (result.decision[at(i)] + primal.intercept) / scale;
  }
  result.intercept /= scale;
  for (index_t i = 0; i < n && problem.kind == SvmKind::one_class; ++i) {
    const bool is_inside = result.alpha[at(i)] < problem.costs[i];
    if (is_inside) result.lowest_inside = std::min(result.lowest_inside, result.decision[at(i)]);
  }
  return result;
}

double c_svm_violation(const SvmProblem& problem, const double* alpha, const double* decision) {
  detail::Window window;
  for (index_t i = 0; i < problem.n; ++i) {
    const bool is_positive = problem.labels[i] > 0;
    const bool is_below_cost = alpha[i] < problem.costs[i];
    const bool is_above_zero = alpha[i] > 0;
    // The variable of the dual is y alpha, and its gradient f - y but for the intercept.
    window.see(decision[i] - problem.labels[i], is_positive ? is_below_cost : is_above_zero,
               is_positive ? is_above_zero : is_below_cost);
  }
  return window.violation();
}

template <class T>
SvmEngine<T>::SvmEngine(const Data& data, const KernelParams& params, index_t cache_bytes, const Team& team)
    : kernel_(std::visit([&](const auto& view) { return make_kernel(view, params, team); }, data)),
      data_(data),
      params_(params),
      cache_bytes_(cache_bytes) {
  has_short_rows_ = std::visit([](const auto& view) { return detail::has_short_rows(view); }, data);
}

template <class T>
SvmEngine<T>::SvmEngine(std::unique_ptr<Kernel<T>> kernel, index_t cache_bytes)
    : kernel_(std::move(kernel)), cache_bytes_(cache_bytes) {}

template <class T>
SvmResult SvmEngine<T>::solve(const SvmProblem& problem, const SmoOptions& options, const SmoCallback& callback,
                              Team& team) {
  return solve_svm(problem, [&](const SmoProblem& dual, double* solution) {
    if (data_ && params_.kind == KernelKind::linear) {
      return std::visit([&](const auto& view) { return smo_linear(view, dual, options, callback, team, solution); },
                        *data_);
    }
    const auto solve_exactly = [&](const SmoProblem& exact, const SmoOptions& limits, const SmoCallback& on_round) {
      rounded_.reset();  // before the other cache takes as much memory
      if (!cache_) cache_.emplace(*kernel_, cache_bytes_);
      return smo(*cache_, exact, limits, on_round, team, solution);
    };
    if constexpr (std::is_same_v<T, double>) {
      constexpr double kLeastTol = 1e-4;  // rounding would hide smaller violations
      const auto* const dense = data_ ? std::get_if<DenseView<T>>(&*data_) : nullptr;
      if (dense != nullptr && params_.kind == KernelKind::rbf && options.tol >= kLeastTol && !cache_) {
        if (!rounded_) rounded_ = detail::round_kernel(*dense, params_.gamma, cache_bytes_, team);
        if (rounded_) {
          SmoResult first = smo_rounded(*rounded_->cache, *kernel_, dual, options, callback, team, solution);
          if (first.status != SmoStatus::precision) return first;
          return continue_from(std::move(first), dual, options, callback, solve_exactly);
        }
      }
    }
    return solve_exactly(dual, options, callback);
  });
}

template class SvmEngine<float>;
template class SvmEngine<double>;

}  // namespace fastpu
