#include "fastpu/pual/pual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/check_option.hpp"
#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "pual/box_gram.hpp"
#include "pual/box_interior_point.hpp"

namespace fastpu {
namespace {

using detail::BoxGram;
using detail::BoxPoint;
using detail::BoxValue;
using Vector = std::vector<double>;

constexpr index_t kFirstDescents =
    10;                               // rounds of coordinate descent before the first equations, and after useless ones
constexpr index_t kMoreDescents = 2;  // rounds of coordinate descent between two systems of equations
constexpr index_t kActiveRounds = 6;  // rounds of the active set; if more are needed, Q is too singular for it
constexpr index_t kMostFree = 4096;   // most alphas between their bounds for which equations are solved
constexpr int kMostHalvings = 5;      // of the way to the solution of the equations
constexpr index_t kSmall = 1024;      // most rows of a problem whose parts are too small to be dealt out to threads

// 1/2 alpha'Q alpha - 2 1'alpha
double dual_objective(const Vector& alpha, const Vector& q_alpha) {
  double sum = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) sum += alpha[i] * (0.5 * q_alpha[i] - 2);
  return sum;
}

// The search for the minimum: the current alpha and Q alpha, and the record of the steps.
class Search {
 public:
  Search(const BoxGram& gram, const std::vector<double>& costs, index_t number, const PualDualOptions& options,
         const PualCallback& callback, Team& team)
      : gram_(gram),
        number_(number),
        cost_(costs[at(number)]),
        options_(options),
        callback_(callback),
        team_(team),
        alpha_(size()),
        q_alpha_(size()) {}

  PualResult run() {
    if (!at_bounds()) search();
    clamp();
    const BoxValue last = value();
    result_.objective = last.objective;
    result_.gap = last.gap;
    if (result_.status != PualStatus::callback) {
      const bool is_out = result_.n_iter >= options_.max_iter;
      result_.status = is_solved(last) ? PualStatus::gap : is_out ? PualStatus::max_iter : PualStatus::precision;
    }
    result_.alpha = std::move(alpha_);
    return std::move(result_);
  }

 private:
  std::size_t size() const { return at(gram_.n()); }

  BoxValue value() const { return detail::box_value(cost_, alpha_, q_alpha_); }
  bool is_solved(const BoxValue& value) const { return value.gap <= options_.tol * value.objective; }

  // Removes what rounding leaves of alpha outside of the box.
  void clamp() {
    for (double& value : alpha_) value = std::clamp(value, 0.0, cost_);
    gram_.apply(alpha_.data(), q_alpha_.data());
  }

  // Records a point and calls the callback; returns true if the search is to end here.
  bool record(const BoxValue& value) {
    result_.iterations.push_back(result_.n_iter);
    result_.objectives.push_back(value.objective);
    result_.gaps.push_back(value.gap);
    if (callback_ && callback_({number_, result_.n_iter, value.objective, value.gap})) {
      result_.status = PualStatus::callback;
      return true;
    }
    return false;
  }

  // Tries alpha = C: it is the solution if all its scores are <= 1, since the hinge loss is linear there.
  bool at_bounds() {
    std::fill(alpha_.begin(), alpha_.end(), cost_);
    gram_.apply(alpha_.data(), q_alpha_.data());
    if (*std::max_element(q_alpha_.begin(), q_alpha_.end()) > 2) return false;
    record(value());
    return true;
  }

  // Called with alpha = C.
  void search() {
    if (gram_.is_dense()) {
      move_to_best_multiple();
      if (active_set()) return;
      if (result_.status == PualStatus::callback || result_.n_iter >= options_.max_iter) return;
    }
    const double least_gap = value().gap;
    const index_t before = result_.n_iter;
    BoxPoint point = detail::box_interior_point(
        gram_, cost_, options_.tol, options_.max_iter - before,
        [&](index_t n_steps, const BoxValue& value) {
          result_.n_iter = before + n_steps;
          return record(value);
        },
        team_);
    if (point.value.gap < least_gap) alpha_ = std::move(point.alpha);
  }

  // ---- active set

  // Moves from alpha = C to the multiple of the vector of ones that has the least objective.
  void move_to_best_multiple() {
    double curvature = 0;
    for (const double value : q_alpha_) curvature += value / cost_;
    const double best = std::min(2 * static_cast<double>(size()) / std::max(curvature, 0.0), cost_);
    for (std::size_t i = 0; i < size(); ++i) {
      alpha_[i] = best;
      q_alpha_[i] *= best / cost_;
    }
  }

  void descend(index_t n_rounds) {
    for (index_t k = 0; k < n_rounds; ++k) {
      team_.poll();
      gram_.descend(cost_, alpha_.data(), q_alpha_.data());
    }
  }

  // Returns whether the problem is solved; alpha is the last point that was recorded.
  bool active_set() {
    bool is_better = false;
    for (index_t round = 0; round < std::min(kActiveRounds, options_.max_iter); ++round) {
      descend(is_better ? kMoreDescents : kFirstDescents);
      is_better = solve_free();
      gram_.apply(alpha_.data(), q_alpha_.data());  // computed anew, to remove the rounding of all the updates
      ++result_.n_iter;
      const BoxValue reached = value();
      if (record(reached)) return false;
      if (is_solved(reached)) return true;
    }
    return false;
  }

  // One round of the active set. Alphas that a step of coordinate descent would leave strictly between their bounds are
  // free; the others are put at the bound that the step reaches. The free ones are computed from their linear
  // equations. Returns whether alpha has moved; it has not where these equations have no single solution.
  bool solve_free() {
    std::vector<index_t> free;
    Vector target(size());
    for (index_t i = 0; i < gram_.n(); ++i) {
      const double diagonal = gram_.diagonal(i);
      const double minimum = diagonal > 0 ? alpha_[at(i)] - (q_alpha_[at(i)] - 2) / diagonal : cost_;
      if (minimum > 0 && minimum < cost_) {
        free.push_back(i);
      } else {
        target[at(i)] = minimum <= 0 ? 0.0 : cost_;
      }
    }
    if (static_cast<index_t>(free.size()) > kMostFree) return false;
    Vector q_target(size());
    if (!free.empty()) {
      gram_.apply(target.data(), q_target.data());
      Vector right(free.size());
      for (std::size_t k = 0; k < free.size(); ++k) right[k] = 2 - q_target[at(free[k])];
      if (!solve(free, right)) return false;
      for (std::size_t k = 0; k < free.size(); ++k) {
        target[at(free[k])] = std::isfinite(right[k]) ? std::clamp(right[k], 0.0, cost_) : 0.0;
      }
    }
    gram_.apply(target.data(), q_target.data());
    return move_towards(target, q_target);
  }

  // Moves to the target, or only a part of the way as long as the dual objective decreases; returns false if it does
  // not decrease at all.
  bool move_towards(const Vector& target, const Vector& q_target) {
    const double objective = dual_objective(alpha_, q_alpha_);
    const double gap = value().gap;
    double length = 1;
    for (int halvings = 0; halvings <= kMostHalvings; ++halvings, length *= 0.5) {
      Vector alpha(target);
      Vector q_alpha(q_target);
      for (std::size_t i = 0; i < size() && length < 1; ++i) {
        alpha[i] = alpha_[i] + length * (target[i] - alpha_[i]);
        q_alpha[i] = q_alpha_[i] + length * (q_target[i] - q_alpha_[i]);
      }
      const bool is_lower = dual_objective(alpha, q_alpha) < objective;
      // Near the solution the objective no longer changes within rounding, while the gap still does.
      if (is_lower || detail::box_value(cost_, alpha, q_alpha).gap < gap) {
        alpha_ = std::move(alpha);
        q_alpha_ = std::move(q_alpha);
        return true;
      }
    }
    return false;
  }

  // Replaces right by the solution x of Q_FF x = right; returns false if Q_FF is singular.
  bool solve(const std::vector<index_t>& free, Vector& right) {
    const auto n = static_cast<index_t>(free.size());
    auto matrix = make_vector<double>(n * n, "the equations of the free alphas");
    gram_.take(free, matrix.data());
    const BlasMatrix<double> factor(matrix.data(), n, n);
    if (TiledBlas(gram_.blas(), team_).cholesky(factor) != 0) return false;
    const BlasMatrix<double> row(right.data(), 1, n);
    gram_.blas().trsm(Op::transpose, factor, row);
    gram_.blas().trsm(Op::none, factor, row);
    return true;
  }

  const BoxGram& gram_;
  index_t number_;  // of the cost
  double cost_;
  const PualDualOptions& options_;
  const PualCallback& callback_;
  Team& team_;
  Vector alpha_;
  Vector q_alpha_;
  PualResult result_;
};

}  // namespace

PualDual::PualDual(BlasMatrix<const double> factor, const Blas& blas, Team& team)
    : gram_(std::make_unique<BoxGram>(factor, blas, team)) {}

PualDual::~PualDual() = default;

std::vector<PualResult> PualDual::solve(const std::vector<double>& costs, const PualDualOptions& options,
                                        const PualCallback& callback, Team& team) const {
  for (const double cost : costs) {
    detail::check_option(cost > 0 && std::isfinite(cost), "cost", "> 0 and finite", cost);
    if (!std::isfinite(cost * (gram_->trace() * cost + 4) * static_cast<double>(gram_->n()))) {
      throw std::invalid_argument(
          "cost must be so small that the objective does not overflow (the squares of the factor sum to " +
          detail::to_text(gram_->trace()) + "), got " + detail::to_text(cost));
    }
  }
  detail::check_option(options.tol > 0, "tol", "> 0", options.tol);
  detail::check_option(options.max_iter >= 1, "max_iter", ">= 1", static_cast<double>(options.max_iter));
  const auto n_costs = static_cast<index_t>(costs.size());
  std::vector<PualResult> results;
  if (!callback && gram_->n() <= kSmall) {
    results.resize(costs.size());
    // A large cost takes the longest: those begin first, so that no thread is left with one at the end.
    std::vector<index_t> order(costs.size());
    std::iota(order.begin(), order.end(), index_t{0});
    std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) { return costs[at(i)] > costs[at(j)]; });
    team.for_each(n_costs, [&](index_t rank, int) {
      const index_t k = order[at(rank)];
      Team alone = team.alone();
      results[at(k)] = Search(*gram_, costs, k, options, callback, alone).run();
    });
    return results;
  }
  for (index_t k = 0; k < n_costs; ++k) {
    results.push_back(Search(*gram_, costs, k, options, callback, team).run());
    if (results.back().status == PualStatus::callback) break;
  }
  return results;
}

}  // namespace fastpu
