#include "fastpu/graph/pual.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/linalg/tiled_blas.hpp"
#include "graph/box_gram.hpp"
#include "graph/box_interior_point.hpp"
#include "linalg/cholesky.hpp"

namespace fastpu {
namespace {

using detail::BoxGram;
using detail::BoxPoint;
using detail::BoxValue;
using Vector = std::vector<double>;

constexpr index_t kMostSteps = 200;
constexpr index_t kFirstDescents = 10;  // rounds of coordinate descent before the first system of equations is solved
constexpr index_t kMoreDescents = 2;    // rounds of coordinate descent between two systems
constexpr index_t kActiveRounds = 15;   // rounds of the active set; if more are needed, Q is too singular for it
constexpr index_t kMostFree = 4096;     // most alphas between their bounds for which equations are solved
constexpr index_t kSmall = 1024;        // most rows of a problem whose parts are too small to be dealt out to threads

// The search for the minimum: the current alpha and Q alpha, and the record of the steps.
class Search {
 public:
  Search(const BoxGram& gram, const std::vector<double>& costs, index_t number, const PualOptions& options,
         const PualCallback& callback, Team& team)
      : gram_(gram),
        number_(number),
        cost_(costs[at(number)]),
        options_(options),
        callback_(callback),
        team_(team),
        alpha_(size()),
        q_alpha_(size()),
        most_(options.max_iter > 0 ? options.max_iter : kMostSteps) {}

  PualResult run() {
    if (!at_bounds()) search();
    for (double& value : alpha_) value = std::clamp(value, 0.0, cost_);
    gram_.apply(alpha_.data(), q_alpha_.data());
    const BoxValue value = detail::box_value(gram_.n(), cost_, alpha_.data(), q_alpha_.data());
    result_.objective = value.objective;
    result_.gap = value.gap;
    if (result_.status != PualStatus::callback) {
      const bool is_solved = value.gap <= options_.tol * value.objective;
      const bool is_out = result_.n_iter >= most_;
      result_.status = is_solved ? PualStatus::gap : is_out ? PualStatus::max_iter : PualStatus::precision;
    }
    result_.alpha = std::move(alpha_);
    return std::move(result_);
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(gram_.n()); }

  BoxValue value() const { return detail::box_value(gram_.n(), cost_, alpha_.data(), q_alpha_.data()); }
  bool is_solved(const BoxValue& at) const { return at.gap <= options_.tol * at.objective; }

  // Records the current point and calls the callback; returns true if the search is to end here.
  bool tell(const BoxValue& at) {
    result_.iterations.push_back(result_.n_iter);
    result_.objectives.push_back(at.objective);
    result_.gaps.push_back(at.gap);
    if (callback_ && callback_({number_, result_.n_iter, at.objective, at.gap})) {
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
    tell(value());
    return true;
  }

  void search() {
    if (gram_.is_dense() && active_set(kFirstDescents, std::min(kActiveRounds, most_))) return;
    if (result_.status == PualStatus::callback || result_.n_iter >= most_) return;
    const index_t before = result_.n_iter;
    BoxPoint found = detail::box_interior_point(
        gram_, cost_, options_.tol, most_ - before,
        [&](index_t n_steps, const BoxValue& at) {
          result_.n_iter = before + n_steps;
          return tell(at);
        },
        team_);
    alpha_ = std::move(found.alpha);
    if (found.is_stopped || is_solved(found.value) || result_.n_iter >= most_) return;
    for (double& at : alpha_) at = std::clamp(at, 0.0, cost_);
    gram_.apply(alpha_.data(), q_alpha_.data());
    active_set(0, std::min(kActiveRounds, most_ - result_.n_iter));
  }

  // ---- active set

  // Starts from the current alpha if n_descents is 0, else from the best multiple of the vector of ones. Returns
  // whether the problem is solved; alpha is the best point so far in any case.
  bool active_set(index_t n_descents, index_t most_rounds) {
    const double n = static_cast<double>(gram_.n());
    if (n_descents > 0) {
      double along = 0;
      for (const double at : q_alpha_) along += at / cost_;  // q_alpha_ still belongs to alpha = C
      const double start = std::min(2 * n / along, cost_);
      for (std::size_t i = 0; i < size(); ++i) {
        alpha_[i] = start;
        q_alpha_[i] *= start / cost_;
      }
    }
    for (index_t round = 0; round < most_rounds; ++round) {
      team_.poll();
      const index_t descents = round == 0 ? n_descents : kMoreDescents;
      for (index_t k = 0; k < descents; ++k) gram_.descend(cost_, alpha_.data(), q_alpha_.data());
      const bool is_better = solve_free();
      gram_.apply(alpha_.data(), q_alpha_.data());  // computed anew, to remove the rounding of all the updates
      ++result_.n_iter;
      const BoxValue at = value();
      if (tell(at)) return false;
      if (is_solved(at)) return true;
      if (!is_better) {
        for (index_t k = 0; k < kFirstDescents; ++k) gram_.descend(cost_, alpha_.data(), q_alpha_.data());
      }
    }
    return false;
  }

  // One round of the active set. Alphas that a step of coordinate descent would leave strictly between their bounds are
  // free; the others are put at the bound that the step reaches. The free ones are computed from their linear
  // equations. Moves to that point, or only a part of the way as long as the dual objective decreases; returns false if
  // it does not decrease at all.
  bool solve_free() {
    std::vector<index_t> free;
    Vector there(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const double diagonal = gram_.diagonal(static_cast<index_t>(i));
      const double aim = diagonal > 0 ? alpha_[i] - (q_alpha_[i] - 2) / diagonal : cost_;
      if (aim > 0 && aim < cost_) {
        free.push_back(static_cast<index_t>(i));
      } else {
        there[i] = aim <= 0 ? 0.0 : cost_;
      }
    }
    if (static_cast<index_t>(free.size()) > kMostFree) return false;
    Vector q_there(size());
    if (!free.empty()) {
      gram_.apply(there.data(), q_there.data());
      Vector right(free.size());
      for (std::size_t k = 0; k < free.size(); ++k) right[k] = 2 - q_there[static_cast<std::size_t>(free[k])];
      solve(free, right);
      for (std::size_t k = 0; k < free.size(); ++k) {
        there[static_cast<std::size_t>(free[k])] = std::isfinite(right[k]) ? std::clamp(right[k], 0.0, cost_) : 0.0;
      }
    }
    const double before = detail::box_dual(gram_.n(), alpha_.data(), q_alpha_.data());
    gram_.apply(there.data(), q_there.data());
    const BoxValue now = value();
    double length = 1;
    for (int halvings = 0; halvings < 6; ++halvings, length *= 0.5) {
      Vector alpha(size());
      Vector q_alpha(size());
      for (std::size_t i = 0; i < size(); ++i) {
        alpha[i] = length == 1 ? there[i] : alpha_[i] + length * (there[i] - alpha_[i]);
        q_alpha[i] = length == 1 ? q_there[i] : q_alpha_[i] + length * (q_there[i] - q_alpha_[i]);
      }
      const bool is_lower = detail::box_dual(gram_.n(), alpha.data(), q_alpha.data()) < before;
      // Near the solution the objective no longer changes within rounding, while the gap still does.
      if (is_lower || detail::box_value(gram_.n(), cost_, alpha.data(), q_alpha.data()).gap < now.gap) {
        alpha_ = std::move(alpha);
        q_alpha_ = std::move(q_alpha);
        return true;
      }
    }
    return false;
  }

  // Replaces right by a solution x of Q_FF x = right, for a Q_FF of any rank.
  void solve(const std::vector<index_t>& free, Vector& right) {
    const auto n = static_cast<index_t>(free.size());
    auto matrix = make_vector<double>(n * n, "the equations of the free alphas");
    gram_.take(free, matrix.data());
    const BlasMatrix<double> factor(matrix.data(), n, n);
    if (TiledBlas(gram_.blas(), team_).cholesky(factor) == 0) {
      const BlasMatrix<double> row(right.data(), 1, n);
      gram_.blas().trsm(Op::transpose, factor, row);
      gram_.blas().trsm(Op::none, factor, row);
      return;
    }
    detail::Cholesky careful(n, gram_.isa(), "the equations of the free alphas");
    gram_.take(free, matrix.data());
    for (index_t i = 0; i < n; ++i) {
      for (index_t j = 0; j <= i; ++j) {
        careful.matrix()[j * careful.stride() + i] = matrix[static_cast<std::size_t>(i * n + j)];
      }
    }
    careful.factor();
    careful.solve(right.data());
  }

  const BoxGram& gram_;
  index_t number_;  // of the cost
  double cost_;
  const PualOptions& options_;
  const PualCallback& callback_;
  Team& team_;
  Vector alpha_;
  Vector q_alpha_;
  index_t most_;
  PualResult result_;
};

}  // namespace

PualDual::PualDual(BlasMatrix<const double> factor, Isa isa, const Blas& blas, Team& team)
    : gram_(std::make_unique<BoxGram>(factor, isa, blas, team)) {}

PualDual::~PualDual() = default;

std::vector<PualResult> PualDual::solve(const std::vector<double>& costs, const PualOptions& options,
                                        const PualCallback& callback, Team& team) const {
  for (const double cost : costs) {
    if (!(cost > 0) || !std::isfinite(cost)) {
      throw std::invalid_argument("cost must be > 0 and finite, got " + std::to_string(cost));
    }
    if (!std::isfinite(cost * (gram_->trace() * cost + 4) * static_cast<double>(gram_->n()))) {
      throw std::invalid_argument(
          "cost must be so small that the objective does not overflow (the squares of the factor sum to " +
          std::to_string(gram_->trace()) + "), got " + std::to_string(cost));
    }
  }
  if (!(options.tol > 0)) throw std::invalid_argument("tol must be > 0, got " + std::to_string(options.tol));
  if (options.max_iter < 0) {
    throw std::invalid_argument("max_iter must be >= 0, got " + std::to_string(options.max_iter));
  }
  const auto n_costs = static_cast<index_t>(costs.size());
  std::vector<PualResult> results;
  if (!callback && gram_->n() <= kSmall) {
    results.resize(costs.size());
    team.for_each(n_costs, [&](index_t k, int) {
      Team alone(1, [&team] { team.poll(); });
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
