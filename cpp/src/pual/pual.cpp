#include "fastpu/pual/pual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/check_option.hpp"
#include "common/to_text.hpp"
#include "pual/box_gram.hpp"
#include "pual/box_interior_point.hpp"

namespace fastpu {
namespace {

using detail::BoxGram;
using detail::BoxPoint;
using detail::BoxValue;
using Vector = std::vector<double>;

constexpr index_t kSmall = 1024;  // most rows of a problem whose parts are too small to be dealt out to threads

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

  void search() {
    BoxPoint point = detail::box_interior_point(
        gram_, cost_, options_.tol, options_.max_iter,
        [&](index_t n_steps, const BoxValue& value) {
          result_.n_iter = n_steps;
          return record(value);
        },
        team_);
    alpha_ = std::move(point.alpha);
  }

  const BoxGram& gram_;
  index_t number_;  // of the cost
  double cost_;
  const PualOptions& options_;
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

std::vector<PualResult> PualDual::solve(const std::vector<double>& costs, const PualOptions& options,
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
