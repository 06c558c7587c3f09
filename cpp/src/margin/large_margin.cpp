#include "fastpu/margin/large_margin.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "fastpu/svm/smo.hpp"
#include "margin/active_set.hpp"
#include "margin/coordinate_descent.hpp"
#include "margin/iadmm.hpp"
#include "margin/interior_point.hpp"
#include "margin/margin_data.hpp"
#include "margin/margin_task.hpp"
#include "margin/near_rows.hpp"

namespace fastpu {

namespace {

using detail::Certificate;
using detail::MarginData;
using detail::MarginTask;
using detail::RowPass;

void check(const MarginOptions& options) {
  const auto refuse = [](const char* name, const char* wanted, double value) {
    throw std::invalid_argument(std::string(name) + " must be " + wanted + ", got " + detail::to_text(value));
  };
  const bool has_tol = options.tol > 0 && options.tol < 1;
  if (!has_tol) refuse("tol", "between 0 and 1", options.tol);
  if (options.max_iter < 0) refuse("max_iter", "0 or above", static_cast<double>(options.max_iter));
}

// The solution of one problem, which tries one method after the other.
class Solve {
 public:
  Solve(const MarginData& data, const MarginProblem& problem, const MarginOptions& options,
        const MarginCallback& callback, Team& team)
      : data_(data),
        options_(options),
        callback_(callback),
        team_(team),
        task_(problem, data.n_rows(), data.size()),
        pass_(data.x(), task_.rows(), task_.n(), data.centre(), data.isa(), team),
        v_(AlignedBuffer<double>::zeros(task_.n(), "dual variables")) {}

  MarginResult run(const MarginStart* start);

 private:
  bool is_solved_at_bounds();
  // Returns whether these scores put so many rows of X beyond their margin that the solution does not have all v at
  // bounds.
  bool has_room(const double* scores) const;
  // Tries the active set that v, with scores f, suggests.
  bool is_solved_near(const double* from, const double* f, int max_rounds);
  bool is_solved_near(int max_rounds) { return is_solved_near(v_.data(), found_.f.data(), max_rounds); }
  void take_start(const MarginStart& start);
  void run_iadmm(const MarginStart* start);
  bool is_solved_by_near_rows(const double* scores);
  void run_interior_point();
  void run_pairs_if_stuck();
  bool is_solved_by_descent(index_t most_rounds);
  void run_smo(index_t most);
  // Keeps a solution if it is the best so far; returns true if it is within tol.
  bool keep(const AlignedBuffer<double>& v, Certificate certificate);
  bool is_stopped(index_t n_iter, double objective, double gap);
  MarginResult finish();

  const MarginData& data_;
  const MarginOptions& options_;
  const MarginCallback& callback_;
  Team& team_;
  MarginTask task_;
  RowPass pass_;
  AlignedBuffer<double> v_;  // the best so far, with its certificate
  Certificate found_;
  MarginResult result_;
};

bool Solve::keep(const AlignedBuffer<double>& v, Certificate certificate) {
  if (certificate.gap < found_.gap) {
    if (v.data() != v_.data()) std::copy_n(v.data(), task_.n(), v_.data());
    found_ = std::move(certificate);
  }
  return found_.holds(options_.tol);
}

bool Solve::is_stopped(index_t n_iter, double objective, double gap) {
  if (!callback_ || !callback_({n_iter, objective, gap})) return false;
  result_.status = MarginStatus::callback;
  return true;
}

// If all rows are on one side, v = 0 is the only feasible point. If both sides cost the same, v with every row at its
// bound is feasible, and optimal for small costs.
bool Solve::is_solved_at_bounds() {
  const double pos = task_.cost_of_side(1);
  const double neg = task_.cost_of_side(-1);
  constexpr double kEqualSums = 1e-10;
  const bool is_one_sided = pos == 0 || neg == 0;
  if (!is_one_sided && std::abs(pos - neg) > kEqualSums * pos) return false;
  if (!is_one_sided) {
    for (index_t i = 0; i < task_.n(); ++i) v_[i] = task_.side()[i] * task_.cost()[i];
    make_feasible(task_, v_.data());
  }
  result_.method = MarginMethod::bounds;
  return keep(v_, certify(pass_, task_, v_.data())) || is_one_sided;
}

bool Solve::has_room(const double* scores) const {
  if (task_.cost_of_side(1) == 0 || task_.cost_of_side(-1) == 0) return false;
  constexpr index_t kFew = 20;  // fewer than one row in so many
  index_t n_beyond = 0;
  for (index_t i = 0; i < task_.n(); ++i) {
    n_beyond += task_.side()[i] * (task_.label()[i] - scores[task_.row(i)]) < 0 ? 1 : 0;
  }
  return n_beyond > task_.n() / kFew;
}

void Solve::take_start(const MarginStart& start) {
  for (index_t i = 0; i < data_.n_rows(); ++i) {
    if (std::isfinite(start.beta[i])) continue;
    throw std::invalid_argument("beta of start of row " + std::to_string(i) + " must be finite, got " +
                                detail::to_text(start.beta[i]));
  }
  AlignedBuffer<double> v(task_.n(), "dual variables");
  for (index_t i = 0; i < task_.n(); ++i) v[i] = task_.label()[i] * start.beta[task_.row(i)];
  make_feasible(task_, v.data());
  keep(v, certify(pass_, task_, v.data()));
}

bool Solve::is_solved_near(const double* from, const double* f, int max_rounds) {
  AlignedBuffer<double> v(task_.n(), "dual variables");
  std::copy_n(from, task_.n(), v.data());
  detail::ActiveSetOptions options;
  options.tol = options_.tol;
  options.max_rounds = max_rounds;
  Certificate certificate;
  const auto found = active_set(data_, task_, pass_, options, v.data(), f, certificate);
  result_.n_iter += found.n_rounds;
  if (!found.is_solved) return false;
  result_.method = MarginMethod::active_set;
  return keep(v, std::move(certificate));
}

// Takes the near rows from the scores of a start, given for every row of X, or without a start from a sample.
bool Solve::is_solved_by_near_rows(const double* scores) {
  const index_t n = task_.n();
  AlignedBuffer<double> v(n, "dual variables");
  AlignedBuffer<double> w(pass_.width(), "coefficients");
  AlignedBuffer<double> f(n, "scores");
  AlignedBuffer<double> from;
  if (scores != nullptr) {
    from = AlignedBuffer<double>(n, "scores");
    for (index_t i = 0; i < n; ++i) {
      if (!std::isfinite(scores[task_.row(i)])) return false;
      from[i] = scores[task_.row(i)];
    }
  }
  const auto found = solve_near_rows(
      data_, task_, pass_, options_.tol, scores == nullptr ? nullptr : from.data(),
      [&](index_t steps, double objective, double gap) { return is_stopped(steps, objective, gap); }, v.data(),
      w.data(), f.data());
  result_.n_iter += found.n_steps;
  if (found.is_stopped) return true;
  if (!found.is_found) return false;
  result_.method = MarginMethod::interior_point;
  make_feasible(task_, v.data());
  return keep(v, certify(pass_, task_, v.data(), w.data()));
}

void Solve::run_interior_point() {
  result_.method = MarginMethod::interior_point;
  constexpr index_t kUsualSteps = 200;
  const index_t most = options_.max_iter > 0 ? options_.max_iter : kUsualSteps;
  detail::InteriorPoint point(pass_, task_, data_.size());
  AlignedBuffer<double> v(task_.n(), "dual variables");
  AlignedBuffer<double> w(pass_.width(), "coefficients");
  AlignedBuffer<double> f(task_.n(), "scores");
  const auto look = [&] {
    point.copy_v(v.data());
    make_feasible(task_, v.data());
    point.copy_w(w.data());
    return keep(v, certify(pass_, task_, v.data(), w.data()));
  };
  // It shows which rows are at a bound of the solution before the point is accurate; from then on the active set is
  // faster, and exact.
  constexpr double kNear = 1e-6;
  constexpr int kRounds = 2;
  double near = options_.tol < kNear ? kNear : 0.0;
  bool is_solved = false;
  for (;;) {
    result_.n_iter = point.n_steps();
    if (near > 0 && point.gap() <= near * point.objective()) {
      near = 0;
      point.copy_v(v.data());
      point.copy_f(f.data());
      if (is_solved_near(v.data(), f.data(), kRounds)) return;
    }
    // A solution from the active set has rows exactly at their bounds, and a better gap than the point it comes
    // from.
    constexpr double kBetter = 50;
    if (point.gap() <= kBetter * options_.tol * point.objective()) is_solved = look();
    if (is_solved || point.is_stuck() || point.n_steps() >= most) break;
    if (is_stopped(point.n_steps(), point.objective(), point.gap())) {
      look();
      return;
    }
    point.step();
  }
  if (!is_solved) is_solved = look();
  // The active set may make the solution exact.
  if ((is_solved || point.is_stuck()) && options_.tol < kNear && is_solved_near(kRounds)) return;
  if (!is_solved) result_.status = point.is_stuck() ? MarginStatus::precision : MarginStatus::max_iter;
}

// If a few distant rows determine the solution, the interior point may get stuck. Such problems have few rows between
// their bounds, which SMO finds.
void Solve::run_pairs_if_stuck() {
  constexpr index_t kFewPairs = 100;  // for each row; more would take far longer than the interior point has taken
  if (result_.status != MarginStatus::precision || options_.max_iter > 0) return;
  run_smo(result_.n_iter + kFewPairs * task_.n() + kFewPairs * kFewPairs);
  if (result_.status == MarginStatus::max_iter) result_.status = MarginStatus::precision;
}

// Goes over the rows at most so often, and gives up as soon as the progress shows that this will not suffice.
bool Solve::is_solved_by_descent(index_t most_rounds) {
  result_.method = MarginMethod::coordinate_descent;
  const index_t n = task_.n();
  detail::CoordinateDescent descent(data_, task_, v_.data(), team_);
  AlignedBuffer<double> v(n, "dual variables");
  const auto look = [&] {
    std::copy_n(descent.v(), n, v.data());
    make_feasible(task_, v.data());
    return keep(v, certify(pass_, task_, v.data()));
  };
  double tol = options_.tol;
  const index_t stretch = std::max<index_t>(20, most_rounds / 150);
  double gap_before = kInfinity;
  for (index_t round = 1;; ++round) {
    ++result_.n_iter;
    const bool was_all = descent.is_all();
    descent.round();
    const double objective = descent.dual() + descent.gap();
    if (is_stopped(result_.n_iter, objective, descent.gap())) {
      look();
      return true;
    }
    if (descent.gap() <= tol * objective) {
      if (!was_all) {
        descent.use_all();
        continue;
      }
      if (look()) return true;
      tol *= 0.5;
    }
    if (round >= most_rounds) return look();
    if (round % stretch == 0) {
      // The gap decreases by about the same factor in every stretch.
      const double stretches = std::log(tol * objective / descent.gap()) / std::log(descent.gap() / gap_before);
      const bool is_soon =
          stretches >= 0 && stretches * static_cast<double>(stretch) <= static_cast<double>(most_rounds - round);
      if (gap_before < kInfinity && !is_soon) return look();
      gap_before = descent.gap();
    }
  }
}

void Solve::run_smo(index_t most) {
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
  std::copy_n(v_.data(), n, v.data());

  SmoOptions smo_options;
  smo_options.isa = data_.isa();
  smo_options.tol = std::clamp(options_.tol, 1e-6, 1e-2);
  for (;;) {
    smo_options.max_steps = most - result_.n_iter;
    bool is_stopped_now = false;
    const SmoCallback on_round = [&](const SmoRound& round) {
      is_stopped_now = is_stopped(result_.n_iter + round.n_steps, task_.constant() - round.objective, found_.gap);
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
      result_.status = is_solved_near(kRounds) ? MarginStatus::gap
                       : is_at_rounding        ? MarginStatus::precision
                                               : MarginStatus::max_iter;
      return;
    }
    // The gap decreases about as fast as the violation.
    const double ratio = 0.5 * options_.tol * found_.objective / found_.gap;
    smo_options.tol = std::min(smo.violation, smo_options.tol) * std::clamp(ratio, 0.01, 0.5);
  }
}

void Solve::run_iadmm(const MarginStart* start) {
  result_.method = MarginMethod::iadmm;
  Certificate certificate;
  AlignedBuffer<double> w0;
  if (start != nullptr) {
    w0 = AlignedBuffer<double>(pass_.width(), "coefficients");
    std::copy_n(found_.w.data(), pass_.width(), w0.data());
  }
  AlignedBuffer<double> v(task_.n(), "dual variables");
  std::copy_n(v_.data(), task_.n(), v.data());
  const detail::IadmmResult found =
      iadmm(data_, task_, pass_, options_, callback_, v.data(), start == nullptr ? nullptr : w0.data(), certificate);
  found_ = {};  // discards earlier solutions: the result is to be that of IADMM
  keep(v, std::move(certificate));
  result_.status = found.status;
  result_.n_iter = found.n_iter;
}

MarginResult Solve::finish() {
  const index_t n_rows = data_.n_rows();
  const index_t p = data_.n_features();
  if (found_.w.empty()) {  // every iterate was infinite or NaN
    v_.clear();
    keep(v_, certify(pass_, task_, v_.data()));
  }
  const Certificate& found = found_;
  double shift = 0;
  for (index_t f = 0; f < p; ++f) shift += data_.centre()[f] * found.w[f];
  result_.coef.assign(found.w.data(), found.w.data() + p);
  result_.intercept = found.w[p] - shift;
  result_.intercept_low = found.intercept_low - shift;
  result_.intercept_high = found.intercept_high - shift;
  result_.objective = found.objective;
  result_.gap = found.gap;
  result_.beta = make_vector<double>(n_rows, "beta");
  result_.decision = make_vector<double>(n_rows, "scores");
  for (index_t i = 0; i < task_.n(); ++i) {
    const auto row = at(task_.row(i));
    result_.beta[row] = task_.label()[i] * v_[i];
    result_.decision[row] = found.f[i];
  }
  if (task_.n() < n_rows) {
    RowPass all(data_.x(), nullptr, n_rows, data_.centre(), data_.isa(), team_);
    all.run(found.w.data(), 0, nullptr, [&](const detail::RowBlock& block) {
      std::copy_n(block.products, block.n, result_.decision.data() + block.first);
    });
  }
  return std::move(result_);
}

MarginResult Solve::run(const MarginStart* start) {
  if (options_.solver == MarginSolver::iadmm) {
    if (start != nullptr) take_start(*start);
    run_iadmm(start);
    return finish();
  }
  const bool has_many_rows =
      pass_.has_gram() && options_.max_iter == 0 && detail::has_many_rows(task_, data_.n_features(), start != nullptr);
  const double* scores = has_many_rows && start != nullptr ? start->decision : nullptr;
  if ((scores == nullptr || !has_room(scores)) && is_solved_at_bounds()) return finish();
  // With more features than rows the rows can be separated, and few stay at their costs: v = 0 is the better start
  // then.
  if (start == nullptr && !detail::is_sparse(data_.x()) && data_.n_features() > task_.n()) {
    v_.clear();
    found_ = {};
  }
  constexpr int kRounds = 8;
  if (start != nullptr && scores == nullptr) {
    take_start(*start);
    // relative gap above which the start is no guess: that of a solution for other labels, as a rule
    constexpr double kHopeless = 0.1;
    const bool is_near = pass_.has_gram() && found_.gap < kHopeless * found_.objective;
    result_.method = MarginMethod::active_set;
    if (found_.holds(options_.tol) || (is_near && is_solved_near(kRounds))) return finish();
  }
  // A round of descent takes n p operations, the interior point some 7 n p^2. If few rows end between their bounds,
  // as for small costs or more features than rows, descent identifies them long before it reaches the solution.
  constexpr index_t kUntilNear = 20;
  constexpr index_t kMostOfSparse = 1000;
  constexpr index_t kMostOfWide = 30'000;  // rounds of descent tried before SMO, which takes far longer
  constexpr index_t kFewFeatures = 200;
  const bool is_dense = !detail::is_sparse(data_.x());
  const index_t of_dense = is_dense && data_.n_features() > kFewFeatures ? kUntilNear : 0;
  const index_t of_others = !pass_.has_gram() ? kMostOfWide : is_dense ? 0 : kMostOfSparse;
  for (const index_t most : {of_dense, of_others}) {
    if (most == 0) continue;
    if (is_solved_by_descent(options_.max_iter > 0 ? std::min(most, options_.max_iter) : most)) return finish();
    if (is_solved_near(kRounds)) return finish();
  }
  if (has_many_rows && is_solved_by_near_rows(scores)) return finish();
  if (pass_.has_gram()) {
    run_interior_point();
    run_pairs_if_stuck();
  } else {
    constexpr index_t kManyPairs = 10'000'000;
    run_smo(options_.max_iter > 0 ? options_.max_iter : std::max(kManyPairs, 100 * task_.n()));
  }
  return finish();
}

}  // namespace

LargeMarginEngine::LargeMarginEngine(const MarginRows& x, Isa isa, Team& team)
    : data_(std::make_unique<MarginData>(x, isa, team)) {}

LargeMarginEngine::~LargeMarginEngine() = default;

index_t LargeMarginEngine::n_rows() const { return data_->n_rows(); }

MarginResult LargeMarginEngine::solve(const MarginProblem& problem, const MarginOptions& options,
                                      const MarginStart* start, const MarginCallback& callback, Team& team) const {
  check(options);
  return Solve(*data_, problem, options, callback, team).run(start);
}

}  // namespace fastpu
