#include "fastpu/svm/large_margin.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/check_option.hpp"
#include "fastpu/svm/smo.hpp"
#include "svm/active_set.hpp"
#include "svm/coordinate_descent.hpp"
#include "svm/iadmm.hpp"
#include "svm/interior_point.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"
#include "svm/near_rows.hpp"

namespace fastpu {

namespace {

using detail::Certificate;
using detail::check_option;
using detail::MarginData;
using detail::MarginTask;
using detail::RowPass;
using detail::to_text;

constexpr int kMostActiveSets = 8;  // rounds of active_set(), where the guess comes from a start or from descent

void check(const MarginOptions& options) {
  check_option(options.tol > 0 && options.tol < 1, "tol", "between 0 and 1", options.tol);
  check_option(options.max_iter >= 0, "max_iter", "0 or above", static_cast<double>(options.max_iter));
  check_option(options.violation >= 0, "violation", "0 or above", options.violation);
}

// The solution of one problem, which tries one method after the other.
class MethodSequence {
 public:
  MethodSequence(const MarginData& data, const MarginProblem& problem, const MarginOptions& options,
                 const MarginCallback& callback, Team& team)
      : data_(data),
        options_(options),
        callback_(callback),
        team_(team),
        task_(problem, data.n_rows(), data.size()),
        pass_(data.x(), task_.rows(), task_.n(), data.centre(), team),
        best_v_(AlignedBuffer<double>::zeros(task_.n(), "dual variables")) {}

  MarginResult run(const MarginStart* start);

 private:
  void run_exact(const MarginStart* start);
  void run_iadmm(const MarginStart* start);
  void take_start(const MarginStart& start);
  bool has_many_beyond_margin(const double* scores) const;
  bool is_solved_at_bounds();
  bool is_solved_by_active_set(const double* v, const double* f, int max_rounds);
  // There is no best solution if every one so far was infinite or NaN.
  bool is_solved_by_active_set(int max_rounds) {
    return !best_.f.empty() && is_solved_by_active_set(best_v_.data(), best_.f.data(), max_rounds);
  }
  bool is_solved_by_descents();
  bool is_solved_by_descent(index_t most_rounds, bool are_cheap);
  bool is_solved_by_near_rows(const double* scores);
  bool is_solved_near_best();
  void run_interior_point();
  void run_smo_if_stuck();
  void run_smo(index_t most);
  // Keeps a solution if it is the best so far; returns true if the best is within tol.
  bool keep(const AlignedBuffer<double>& v, Certificate certificate);
  bool is_stopped(index_t n_iter, double objective, double gap);
  MarginResult finish();

  const MarginData& data_;
  const MarginOptions& options_;
  const MarginCallback& callback_;
  Team& team_;
  MarginTask task_;
  RowPass pass_;
  AlignedBuffer<double> best_v_;  // the best feasible v so far
  Certificate best_;              // of best_v_
  MarginResult result_;
};

bool MethodSequence::keep(const AlignedBuffer<double>& v, Certificate certificate) {
  if (certificate.gap < best_.gap) {
    if (v.data() != best_v_.data()) std::copy_n(v.data(), task_.n(), best_v_.data());
    best_ = std::move(certificate);
  }
  return best_.holds(options_.tol);
}

bool MethodSequence::is_stopped(index_t n_iter, double objective, double gap) {
  if (!callback_ || !callback_({n_iter, objective, gap})) return false;
  result_.status = MarginStatus::callback;
  return true;
}

// If all rows are on one side, v = 0 is the only feasible point. If both sides cost the same, v with every row at its
// bound is feasible, and optimal for small costs.
bool MethodSequence::is_solved_at_bounds() {
  const double pos = task_.cost_of_side(1);
  const double neg = task_.cost_of_side(-1);
  constexpr double kEqualSums = 1e-10;
  const bool is_one_sided = pos == 0 || neg == 0;
  if (!is_one_sided && std::abs(pos - neg) > kEqualSums * pos) return false;
  if (!is_one_sided) {
    for (index_t i = 0; i < task_.n(); ++i) best_v_[i] = task_.side()[i] * task_.cost()[i];
    make_feasible(task_, best_v_.data());
  }
  result_.method = MarginMethod::bounds;
  return keep(best_v_, certify(pass_, task_, best_v_.data())) || is_one_sided;
}

// Returns whether these scores put so many rows beyond their margin that the solution does not have all v at their
// costs.
bool MethodSequence::has_many_beyond_margin(const double* scores) const {
  if (task_.cost_of_side(1) == 0 || task_.cost_of_side(-1) == 0) return false;
  constexpr index_t kMany = 20;  // more than one row in so many
  index_t n_beyond = 0;
  for (index_t i = 0; i < task_.n(); ++i) n_beyond += task_.lack(i, scores[task_.row(i)]) < 0 ? 1 : 0;
  return n_beyond > task_.n() / kMany;
}

void MethodSequence::take_start(const MarginStart& start) {
  for (index_t i = 0; i < data_.n_rows(); ++i) {
    if (std::isfinite(start.beta[i])) continue;
    throw std::invalid_argument("beta of start of row " + std::to_string(i) + " must be finite, got " +
                                to_text(start.beta[i]));
  }
  AlignedBuffer<double> v(task_.n(), "dual variables");
  for (index_t i = 0; i < task_.n(); ++i) v[i] = task_.label()[i] * start.beta[task_.row(i)];
  make_feasible(task_, v.data());
  keep(v, certify(pass_, task_, v.data()));
}

// Tries the active set that a feasible v with scores f suggests.
bool MethodSequence::is_solved_by_active_set(const double* v, const double* f, int max_rounds) {
  AlignedBuffer<double> solution(task_.n(), "dual variables");
  std::copy_n(v, task_.n(), solution.data());
  detail::ActiveSetResult tried = active_set(data_, task_, pass_, options_.tol, max_rounds, solution.data(), f);
  result_.n_iter += tried.n_rounds;
  if (!tried.is_solved) return false;
  result_.method = MarginMethod::active_set;
  return keep(solution, std::move(tried.certificate));
}

// Takes the near rows from the scores of a start, given for every row of X, or without a start from a sample.
bool MethodSequence::is_solved_by_near_rows(const double* scores) {
  AlignedBuffer<double> v(task_.n(), "dual variables");
  AlignedBuffer<double> w(pass_.width(), "coefficients");
  const auto tried = solve_near_rows(
      data_, task_, pass_, options_.tol, scores,
      [&](index_t steps, double objective, double gap) { return is_stopped(steps, objective, gap); }, v.data(),
      w.data());
  result_.n_iter += tried.n_steps;
  if (tried.is_stopped) return true;
  if (!tried.is_solved) return false;
  result_.method = MarginMethod::interior_point;
  make_feasible(task_, v.data());
  return keep(v, certify(pass_, task_, v.data(), w.data()));
}

// Takes the near rows from the scores of the best solution so far, unless rows are too wide for an interior point.
bool MethodSequence::is_solved_near_best() {
  if (!pass_.has_gram() || options_.max_iter > 0) return false;
  auto scores = make_vector<double>(data_.n_rows(), "scores");
  for (index_t i = 0; i < task_.n(); ++i) scores[at(task_.row(i))] = best_.f[i];
  return is_solved_by_near_rows(scores.data());
}

void MethodSequence::run_interior_point() {
  result_.method = MarginMethod::interior_point;
  constexpr index_t kUsualSteps = 200;
  const index_t most = options_.max_iter > 0 ? options_.max_iter : kUsualSteps;
  detail::InteriorPoint point(pass_, task_, data_.size());
  AlignedBuffer<double> v(task_.n(), "dual variables");
  AlignedBuffer<double> w(pass_.width(), "coefficients");
  AlignedBuffer<double> f(task_.n(), "scores");
  const auto keep_point = [&] {
    point.copy_v(v.data());
    make_feasible(task_, v.data());
    point.copy_w(w.data());
    return keep(v, certify(pass_, task_, v.data(), w.data()));
  };
  // A point with this relative gap mostly shows which rows are at a bound of the solution; from then on the active set
  // is faster, and exact.
  constexpr double kNear = 1e-6;
  constexpr int kRounds = 2;
  double near = options_.tol < kNear ? kNear : 0.0;  // 0: the active set is not tried, or not again
  bool is_solved = false;
  for (;;) {
    result_.n_iter = point.n_steps();
    if (near > 0 && point.gap() <= near * point.objective()) {
      near = 0;
      point.copy_v(v.data());
      point.copy_f(f.data());
      if (is_solved_by_active_set(v.data(), f.data(), kRounds)) return;
    }
    // keep_point() puts rows at their bounds, which makes the gap smaller by up to this factor.
    constexpr double kBetter = 50;
    if (point.gap() <= kBetter * options_.tol * point.objective()) is_solved = keep_point();
    if (is_solved || point.is_stuck() || point.n_steps() >= most) break;
    if (is_stopped(point.n_steps(), point.objective(), point.gap())) {
      keep_point();
      return;
    }
    point.step();
  }
  if (!is_solved) is_solved = keep_point();
  // The active set may make the solution exact.
  if ((is_solved || point.is_stuck()) && options_.tol < kNear && is_solved_by_active_set(kRounds)) return;
  if (!is_solved) result_.status = point.is_stuck() ? MarginStatus::precision : MarginStatus::max_iter;
}

// If a few distant rows determine the solution, the interior point may get stuck. Such problems have few rows between
// their bounds, which SMO finds.
void MethodSequence::run_smo_if_stuck() {
  constexpr index_t kFewPairs = 100;  // for each row; more would take far longer than the interior point has taken
  if (result_.status != MarginStatus::precision || options_.max_iter > 0) return;
  run_smo(result_.n_iter + kFewPairs * task_.n() + kFewPairs * kFewPairs);
  if (result_.status == MarginStatus::max_iter) result_.status = MarginStatus::precision;
}

// Goes over the rows at most `most_rounds` times. Gives up as soon as the progress shows that this will not suffice,
// unless all these rounds together take little time: moves of many rows at once make progress irregular.
bool MethodSequence::is_solved_by_descent(index_t most_rounds, bool are_cheap) {
  result_.method = MarginMethod::coordinate_descent;
  const index_t n = task_.n();
  detail::CoordinateDescent descent(data_, task_, best_v_.data(), team_);
  AlignedBuffer<double> v(n, "dual variables");
  const auto keep_descent = [&] {
    std::copy_n(descent.v(), n, v.data());
    make_feasible(task_, v.data());
    return keep(v, certify(pass_, task_, v.data())) || best_.violation < options_.violation;
  };
  double tol = options_.tol;
  double violation = options_.violation;
  const index_t stretch = std::max<index_t>(20, most_rounds / 150);
  double gap_before = kInfinity;
  for (index_t round = 1;; ++round) {
    ++result_.n_iter;
    const bool was_all = descent.is_all();
    descent.round();
    const double objective = descent.dual() + descent.gap();
    if (is_stopped(result_.n_iter, objective, descent.gap())) {
      keep_descent();
      return true;
    }
    if (descent.gap() <= tol * objective || descent.violation() < violation) {
      if (!was_all) {
        descent.use_all();
        gap_before = kInfinity;  // the gap of more rows is larger
        continue;
      }
      if (keep_descent()) return true;
      tol *= 0.5;
      violation *= 0.5;
    }
    if (round >= most_rounds) return keep_descent();
    descent.move_free();
    if (round % stretch == 0) {
      // The gap decreases by about the same factor in every stretch.
      const double stretches = std::log(tol * objective / descent.gap()) / std::log(descent.gap() / gap_before);
      const bool is_soon =
          stretches >= 0 && stretches * static_cast<double>(stretch) <= static_cast<double>(most_rounds - round);
      if (gap_before < kInfinity && !is_soon && !are_cheap) return keep_descent();
      gap_before = descent.gap();
    }
  }
}

void MethodSequence::run_smo(index_t most) {
  result_.method = MarginMethod::smo;
  const index_t n = task_.n();
  auto rows = make_vector<index_t>(n, "rows");
  AlignedBuffer<double> linear(n, "dual variables");
  AlignedBuffer<double> lower(n, "bounds of dual variables");
  AlignedBuffer<double> upper(n, "bounds of dual variables");
  for (index_t i = 0; i < n; ++i) {
    rows[at(i)] = task_.row(i);
    linear[i] = -task_.label()[i];
    lower[i] = task_.side()[i] > 0 ? 0.0 : -task_.cost()[i];
    upper[i] = task_.side()[i] > 0 ? task_.cost()[i] : 0.0;
  }
  const SmoProblem dual{rows.data(), n, linear.data(), lower.data(), upper.data(), nullptr};
  AlignedBuffer<double> v(n, "dual variables");
  std::copy_n(best_v_.data(), n, v.data());

  SmoOptions smo_options;
  smo_options.tol = std::clamp(options_.tol, 1e-6, 1e-2);
  for (;;) {
    smo_options.max_steps = most - result_.n_iter;
    bool is_stopped_now = false;
    const SmoCallback on_round = [&](const SmoRound& round) {
      is_stopped_now = is_stopped(result_.n_iter + round.n_steps, task_.constant() - round.objective, best_.gap);
      return is_stopped_now;
    };
    const SmoResult smo = std::visit(
        [&](const auto& view) {
          return smo_linear(view, dual, smo_options, callback_ ? on_round : SmoCallback{}, team_, v.data());
        },
        data_.x());
    result_.n_iter += smo.n_steps;
    make_feasible(task_, v.data());
    if (keep(v, certify(pass_, task_, v.data()))) {
      result_.status = MarginStatus::gap;
      return;
    }
    if (is_stopped_now) return;
    // If no pair violates the conditions at all, a smaller tolerance changes nothing.
    const bool is_exact = smo.status == SmoStatus::tol && !(smo.violation > 0);
    const bool is_at_rounding = is_exact || smo.status == SmoStatus::precision;
    if (is_at_rounding || result_.n_iter >= most) {
      constexpr int kRounds = 4;
      result_.status = is_solved_by_active_set(kRounds) ? MarginStatus::gap
                       : is_at_rounding                 ? MarginStatus::precision
                                                        : MarginStatus::max_iter;
      return;
    }
    // The gap decreases about as fast as the violation.
    const double ratio = 0.5 * options_.tol * best_.objective / best_.gap;
    smo_options.tol = std::min(smo.violation, smo_options.tol) * std::clamp(ratio, 0.01, 0.5);
  }
}

void MethodSequence::run_iadmm(const MarginStart* start) {
  if (start != nullptr) take_start(*start);
  result_.method = MarginMethod::iadmm;
  AlignedBuffer<double> v(task_.n(), "dual variables");
  std::copy_n(best_v_.data(), task_.n(), v.data());
  detail::IadmmResult solved =
      iadmm(data_, task_, pass_, options_, callback_, v.data(), start == nullptr ? nullptr : best_.w.data());
  best_ = {};  // discards the start: the result is to be that of IADMM
  keep(v, std::move(solved.certificate));
  result_.status = solved.status;
  result_.n_iter = solved.n_iter;
}

MarginResult MethodSequence::finish() {
  const index_t n_rows = data_.n_rows();
  const index_t p = data_.n_features();
  if (best_.w.empty()) {  // every iterate was infinite or NaN
    best_v_.clear();
    keep(best_v_, certify(pass_, task_, best_v_.data()));
  }
  double shift = 0;
  for (index_t f = 0; f < p; ++f) shift += data_.centre()[f] * best_.w[f];
  result_.coef.assign(best_.w.data(), best_.w.data() + p);
  result_.intercept = best_.w[p] - shift;
  result_.intercept_low = best_.intercept_low - shift;
  result_.intercept_high = best_.intercept_high - shift;
  result_.objective = best_.objective;
  result_.gap = best_.gap;
  result_.beta = make_vector<double>(n_rows, "beta");
  result_.decision = make_vector<double>(n_rows, "scores");
  for (index_t i = 0; i < task_.n(); ++i) {
    const auto row = at(task_.row(i));
    result_.beta[row] = task_.label()[i] * best_v_[i];
    result_.decision[row] = best_.f[i];
  }
  if (task_.n() < n_rows) {
    RowPass all(data_.x(), nullptr, n_rows, data_.centre(), team_);
    score_rows(all, best_.w.data(), result_.decision.data());
  }
  return std::move(result_);
}

// A round of descent takes n p operations, the interior point some 7 n p^2: p rounds take less time, and mostly suffice
// where few rows end between their bounds, as for small costs or more features than rows. Where no interior point
// follows, the active set is tried early.
bool MethodSequence::is_solved_by_descents() {
  constexpr index_t kUntilNear = 20;
  constexpr index_t kMostOfSparse = 1000;
  constexpr index_t kMostOfWide = 30'000;  // rounds of descent tried before SMO, which takes far longer
  constexpr index_t kFewFeatures = 200;
  const index_t p = data_.n_features();
  const bool is_dense = !detail::is_sparse(data_.x());
  const index_t of_dense = !is_dense || p <= kFewFeatures ? 0 : pass_.has_gram() ? p : kUntilNear;
  const index_t of_others = !pass_.has_gram() ? kMostOfWide : is_dense ? 0 : kMostOfSparse;
  const auto is_solved_within = [&](index_t most, bool are_cheap) {
    if (options_.max_iter > 0) most = std::min(most, options_.max_iter);
    return is_solved_by_descent(most, are_cheap) || is_solved_by_active_set(kMostActiveSets);
  };
  return (of_dense > 0 && is_solved_within(of_dense, true)) || (of_others > 0 && is_solved_within(of_others, false));
}

void MethodSequence::run_exact(const MarginStart* start) {
  const bool has_many_rows =
      pass_.has_gram() && options_.max_iter == 0 && detail::has_many_rows(task_, data_.n_features(), start != nullptr);
  const double* scores = has_many_rows && start != nullptr ? start->decision : nullptr;
  if ((scores == nullptr || !has_many_beyond_margin(scores)) && is_solved_at_bounds()) return;
  // With more features than rows the rows can be separated, and few stay at their costs: v = 0 is the better start
  // then.
  if (start == nullptr && !detail::is_sparse(data_.x()) && data_.n_features() > task_.n()) {
    best_v_.clear();
    best_ = {};
  }
  if (start != nullptr && scores == nullptr) {
    take_start(*start);
    // A start with a larger relative gap does not show which rows are at bounds; mostly it is of other labels.
    constexpr double kHopeless = 0.1;
    const bool is_near = pass_.has_gram() && best_.gap < kHopeless * best_.objective;
    result_.method = MarginMethod::active_set;
    if (best_.holds(options_.tol) || (is_near && is_solved_by_active_set(kMostActiveSets))) return;
  }
  if (is_solved_by_descents()) return;
  // Where descent has not sufficed, its scores show which rows are near; else those of the start or of a sample do.
  const bool has_descended = result_.method == MarginMethod::coordinate_descent && !best_.f.empty();
  if (has_descended ? is_solved_near_best() : has_many_rows && is_solved_by_near_rows(scores)) return;
  if (pass_.has_gram()) {
    run_interior_point();
    run_smo_if_stuck();
  } else {
    constexpr index_t kManyPairs = 10'000'000;
    run_smo(options_.max_iter > 0 ? options_.max_iter : std::max(kManyPairs, 100 * task_.n()));
  }
}

MarginResult MethodSequence::run(const MarginStart* start) {
  if (options_.solver == MarginSolver::iadmm) {
    run_iadmm(start);
  } else {
    run_exact(start);
  }
  return finish();
}

}  // namespace

LargeMarginEngine::LargeMarginEngine(const RowsView& x, Team& team) : data_(std::make_unique<MarginData>(x, team)) {}

LargeMarginEngine::~LargeMarginEngine() = default;

index_t LargeMarginEngine::n_rows() const { return data_->n_rows(); }

MarginResult LargeMarginEngine::solve(const MarginProblem& problem, const MarginOptions& options,
                                      const MarginStart* start, const MarginCallback& callback, Team& team) const {
  check(options);
  return MethodSequence(*data_, problem, options, callback, team).run(start);
}

}  // namespace fastpu
