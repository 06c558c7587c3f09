#include "fastpu/svm/smo.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "svm/cached_rows.hpp"
#include "svm/first_step.hpp"
#include "svm/free_step.hpp"
#include "svm/pair_solver.hpp"
#include "svm/smo_state.hpp"

namespace fastpu {

namespace {

// Where rows gain by it, so many are computed when one is needed: a row computed with others takes about half the time
// of a single one, and of the three variables that violate most, four in five are needed later; of more, fewer.
constexpr index_t kRowsTogether = 4;
// So many kernel values are computed by other threads beside steps: enough to be worth waking these threads, and few
// enough to be of rows that are needed soon.
constexpr index_t kValuesAhead = 1 << 17;
// With more free variables a system of equations takes longer than the pair steps that it saves.
constexpr index_t kMostFree = 1500;
constexpr index_t kLeastActive = 4096;  // with fewer active variables, steps are over before other threads have woken

template <class T>
class Smo {
 public:
  // Where the kernel rows of `source` are rounded values of `exact`, which may be null, the fit ends by exact
  // gradients.
  Smo(detail::CachedRows<T>& source, const Kernel<double>* exact, const SmoProblem& problem, const SmoOptions& options,
      const SmoCallback& callback, Team& team, double* solution)
      : source_(source),
        exact_(exact),
        problem_(problem),
        options_(options),
        callback_(callback),
        team_(team),
        value_(solution),
        step_tol_(exact == nullptr ? options.tol : kSafety * options.tol),
        state_(problem, solution) {}

  SmoResult run();

 private:
  static constexpr double kSafety = 0.95;  // of the tolerance, so that exact gradients mostly meet it as well

  // Variables that were shrunk together, and the solution at that time, to which their gradients belong.
  struct Shrunk {
    std::vector<index_t> variables;
    std::vector<double> value;
  };

  void start();
  void activate(const std::vector<index_t>& variables);
  void find_windows();
  void shrink();
  void read_gradients();
  void update_all_gradients();
  void take_exact_gradients();
  void list_changes(const std::vector<double>& before);
  void unshrink();
  void activate_pairs(const std::vector<index_t>& variables, std::size_t worth_it);
  bool may_have_drifted() const;
  bool has_moved_far() const { return watch_.has_moved_far(moved_, options_.tol); }
  void compute_gradients();
  void make_pair_steps();
  void move_free();
  const std::vector<index_t>& rows_wanted_soon(index_t besides, index_t n);
  void make_steps_beside_rows(index_t most_steps, index_t n_ahead, detail::PairProgress& progress);
  void list_most_wanted();

  detail::CachedRows<T>& source_;
  const Kernel<double>* exact_;
  const SmoProblem& problem_;
  const SmoOptions& options_;
  const SmoCallback& callback_;
  Team& team_;
  double* value_;
  double step_tol_;  // violation at which steps end
  detail::SmoState state_;
  detail::PrecisionWatch watch_;

  SmoResult result_;
  std::vector<index_t> all_;
  std::vector<index_t> active_;  // the number of the variable at each position
  std::vector<Shrunk> shrunk_;
  double rounding_ = 0;  // largest error that the exact kernel has found in a gradient, the last time
  double objective_ = 0;
  index_t steps_when_computed_ = 0;
  double moved_ = 0;  // total distance of all steps since gradients were computed anew
  int n_computed_ = 0;
  std::vector<double> diagonal_;

  std::unique_ptr<detail::PairSolver<T>> solver_;
  detail::VariableChanges changes_;
  std::vector<index_t> most_wanted_;  // positions whose kernel rows may be computed ahead, the most urgent last
  std::vector<index_t> soon_;
  bool is_stuck_ = false;
  index_t next_free_step_ = 2000;
};

template <class T>
SmoResult Smo<T>::run() {
  start();
  bool is_exact = false;  // whether the gradients are those of the exact kernel
  for (index_t round = 0;; ++round) {
    team_.poll();
    find_windows();
    if (state_.violation() <= step_tol_) {
      if (active_.size() < all_.size()) unshrink();
      if (state_.violation() > options_.tol) continue;
      if (may_have_drifted()) {
        compute_gradients();
        continue;
      }
      if (exact_ == nullptr) break;
      take_exact_gradients();
      is_exact = state_.violation() <= options_.tol;
      if (is_exact) break;
      if (rounding_ > options_.tol) {
        result_.status = SmoStatus::precision;
        break;
      }
      activate_pairs(all_, 0);
      continue;
    }
    if (watch_.is_reached(state_.violation(), objective_, is_stuck_, value_, problem_.n)) {
      const double among_active = state_.violation();
      if (active_.size() < all_.size()) unshrink();
      if (state_.violation() <= options_.tol) break;
      is_stuck_ = false;
      if (watch_.may_go_on(among_active, state_.violation())) continue;
      result_.status = SmoStatus::precision;
      break;
    }
    if (result_.n_steps >= options_.max_steps) {
      result_.status = SmoStatus::max_steps;
      break;
    }
    if (round > 0) shrink();
    const double violation = state_.violation();
    make_pair_steps();
    result_.rounds.push_back({result_.n_steps, objective_, violation, static_cast<index_t>(active_.size())});
    if (callback_ && callback_(result_.rounds.back())) {
      result_.status = SmoStatus::callback;
      break;
    }
  }
  if (exact_ == nullptr) {
    update_all_gradients();
    if (has_moved_far()) compute_gradients();
    state_.find_windows(all_, result_.gradient);
  } else if (!is_exact) {
    take_exact_gradients();
  }
  result_.violation = state_.violation();
  result_.moved = moved_;
  if (result_.status == SmoStatus::tol && !(result_.violation <= options_.tol)) result_.status = SmoStatus::precision;
  return std::move(result_);
}

template <class T>
void Smo<T>::start() {
  const index_t n = problem_.n;
  all_.resize(at(n));
  std::iota(all_.begin(), all_.end(), index_t{0});
  result_.gradient.assign(problem_.linear, problem_.linear + n);
  if (problem_.start != nullptr) {
    for (index_t i = 0; i < n; ++i) result_.gradient[at(i)] += problem_.start->product[i];
    moved_ = problem_.start->moved;
  }
  solver_ = std::make_unique<detail::PairSolver<T>>(n, state_.n_groups(), team_);
  diagonal_.resize(at(n));
  for (index_t i = 0; i < n; ++i) {
    const double diagonal = diagonal_[at(i)] = source_.diagonal(i);
    detail::check_diagonal<T>(diagonal, problem_.rows[i]);
    watch_.see_row(diagonal, problem_.linear[i]);
  }
  if (problem_.start != nullptr && problem_.start->end != nullptr) {
    moved_ +=
        detail::take_first_step(source_, source_.activate(all_), problem_, state_, watch_, value_, result_.gradient);
  }
  activate(all_);
  changes_.clear();
  // From nothing, pair steps first find out which variables are free: some two steps for each.
  if (problem_.start == nullptr) next_free_step_ = std::max(next_free_step_, 2 * n);
  for (index_t i = 0; i < n && problem_.start == nullptr; ++i) {
    if (value_[i] != 0) changes_.add(i, value_[i]);
  }
  source_.update(changes_, solver_->gradient());
  for (index_t p = 0; p < n; ++p) {
    const index_t i = active_[at(p)];
    objective_ += 0.5 * value_[i] * (solver_->gradient()[p] + problem_.linear[i]);
  }
}

template <class T>
void Smo<T>::activate(const std::vector<index_t>& variables) {
  active_ = source_.activate(variables);
  most_wanted_.clear();
  solver_->clear();
  for (const index_t i : active_) {
    solver_->add(state_.group(i), result_.gradient[at(i)], value_[i], problem_.lower[i], problem_.upper[i],
                 diagonal_[at(i)]);
  }
  solver_->close();
}

template <class T>
void Smo<T>::find_windows() {
  for (int g = 0; g < state_.n_groups(); ++g) {
    const detail::SmoFirst first = solver_->window(g);
    state_.window(g) = {first.up_min, first.low_max};
  }
}

template <class T>
void Smo<T>::shrink() {
  if (active_.size() <= 256) return;
  read_gradients();
  activate_pairs(active_, (active_.size() + 2) / 3);
}

// Brings the gradients of the active variables up to date in the result.
template <class T>
void Smo<T>::read_gradients() {
  for (std::size_t p = 0; p < active_.size(); ++p) result_.gradient[at(active_[p])] = solver_->gradient()[p];
}

// Brings the gradients of all variables, those that were shrunk too, up to date in the result.
template <class T>
void Smo<T>::update_all_gradients() {
  read_gradients();
  for (const Shrunk& shrunk : shrunk_) {
    list_changes(shrunk.value);
    source_.update_others(changes_, shrunk.variables, result_.gradient.data());
  }
  shrunk_.clear();
}

// Takes gradients by the exact kernel for all variables that the solution's value, violation or intercept depends on:
// those that are not 0, and those that might be in a violating pair. Others keep theirs, unless steps are to go on by
// exact values.
template <class T>
void Smo<T>::take_exact_gradients() {
  constexpr double kRounding = 4e-6;  // more than rounding changes a kernel value
  update_all_gradients();
  state_.find_windows(all_, result_.gradient);
  list_changes(std::vector<double>(at(problem_.n)));
  double slack = options_.tol;
  for (const double value : changes_.differences) slack += kRounding * std::abs(value);
  std::vector<index_t> near;
  for (index_t i = 0; i < problem_.n; ++i) {
    const bool is_near =
        result_.status == SmoStatus::precision || !state_.is_likely_to_stay(i, result_.gradient[at(i)], slack);
    if (value_[i] == 0 && is_near) near.push_back(i);
  }
  std::vector<double> exact(problem_.linear, problem_.linear + problem_.n);
  source_.update_others(*exact_, changes_, near, exact.data());
  source_.update_own(*exact_, changes_, exact.data());
  near.insert(near.end(), changes_.variables.begin(), changes_.variables.end());
  rounding_ = 0;
  for (const index_t i : near) {
    rounding_ = std::max(rounding_, std::abs(result_.gradient[at(i)] - exact[at(i)]));
    result_.gradient[at(i)] = exact[at(i)];
  }
  state_.find_windows(all_, result_.gradient);
}

// Lists the differences of the solution from an earlier one.
template <class T>
void Smo<T>::list_changes(const std::vector<double>& before) {
  changes_.clear();
  for (index_t i = 0; i < problem_.n; ++i) {
    const double difference = value_[i] - before[at(i)];
    if (difference != 0) changes_.add(i, difference);
  }
}

// Gradients accumulate a rounding error with every step, so they are computed anew after very many steps, and also
// after steps so long that their rounding errors are visible; the latter a few times only, since near the optimum it
// could happen every time.
template <class T>
bool Smo<T>::may_have_drifted() const {
  constexpr int kMostTimes = 20;
  return result_.n_steps - steps_when_computed_ > 100 * problem_.n + 100'000 ||
         (n_computed_ < kMostTimes && has_moved_far());
}

template <class T>
void Smo<T>::compute_gradients() {
  steps_when_computed_ = result_.n_steps;
  moved_ = 0;
  ++n_computed_;
  shrunk_.clear();
  result_.gradient.assign(problem_.linear, problem_.linear + problem_.n);
  list_changes(std::vector<double>(at(problem_.n)));
  source_.update_others(changes_, all_, result_.gradient.data());
  activate(all_);
}

// Where the active variables are optimal, checks all variables, and goes on with those that may move.
template <class T>
void Smo<T>::unshrink() {
  update_all_gradients();
  state_.find_windows(all_, result_.gradient);
  if (state_.violation() > options_.tol) activate_pairs(all_, 0);
}

// Makes those of the variables active that may be in a violating pair, if this leaves out so many that it is worth it.
template <class T>
void Smo<T>::activate_pairs(const std::vector<index_t>& variables, std::size_t worth_it) {
  std::vector<index_t> stay;
  Shrunk shrunk;
  for (const index_t i : variables) {
    (state_.is_likely_to_stay(i, result_.gradient[at(i)]) ? shrunk.variables : stay).push_back(i);
  }
  if (shrunk.variables.size() < worth_it || stay.size() < 2) return;
  if (!shrunk.variables.empty()) {
    shrunk.value.assign(value_, value_ + problem_.n);
    shrunk_.push_back(std::move(shrunk));
  }
  activate(stay);
}

template <class T>
void Smo<T>::make_pair_steps() {
  constexpr index_t kStepsPerRound = 200;  // variables are shrunk between rounds
  const auto n_active = static_cast<index_t>(active_.size());
  const index_t most_steps = std::min(options_.max_steps - result_.n_steps, kStepsPerRound);
  detail::PairProgress progress;
  solver_->start();
  const index_t n_ahead = std::max(kRowsTogether, kValuesAhead / n_active);
  if (team_.n_threads() > 1 && n_active >= kLeastActive && source_.may_compute_ahead(n_ahead)) {
    make_steps_beside_rows(most_steps, n_ahead, progress);
  } else {
    solver_->go_on(progress, step_tol_, most_steps, [&](index_t p) {
      const T* values = source_.find(p);
      return values == nullptr ? source_.row(p, rows_wanted_soon(p, kRowsTogether)) : values;
    });
  }
  for (index_t p = 0; p < n_active; ++p) value_[active_[at(p)]] = solver_->value(p);
  result_.n_steps += progress.n_steps;
  objective_ -= progress.decrease;
  moved_ += progress.distance;
  is_stuck_ = progress.is_stuck;
  if (!progress.is_optimal && result_.n_steps >= next_free_step_) move_free();
}

// Makes pair steps while other threads compute kernel rows that are likely to be needed soon. The choice of these rows
// changes what is in the cache, and never a step.
template <class T>
void Smo<T>::make_steps_beside_rows(index_t most_steps, index_t n_ahead, detail::PairProgress& progress) {
  std::vector<index_t> ahead;
  typename detail::CachedRows<T>::PendingRows pending;
  do {
    const index_t n_before = progress.n_steps;
    std::atomic<index_t> n_left = pending.n_blocks();
    bool is_missing = false;
    const auto find_row = [&](index_t p) -> const T* {
      // When the other threads have finished their rows, they can share the passes of the next steps.
      if (!ahead.empty() && progress.n_steps > n_before && n_left.load(std::memory_order_relaxed) == 0) return nullptr;
      const T* values = source_.find(p);
      if (values != nullptr) return values;
      // A row that other threads compute is waited for. If any other row is missing, it is computed here at the first
      // step; at a later one the steps stop, so that the other threads are given more rows.
      is_missing = progress.n_steps > n_before || std::ranges::find(ahead, p) != ahead.end();
      return is_missing ? nullptr : source_.row(p, rows_wanted_soon(p, kRowsTogether));
    };
    if (ahead.empty()) {
      solver_->go_on(progress, step_tol_, most_steps, find_row);
    } else {
      team_.for_each(1 + pending.n_blocks(), [&](index_t block, int) {
        if (block == 0) {
          solver_->go_on(progress, step_tol_, most_steps, find_row);
        } else {
          source_.compute(pending, block - 1);
          n_left.fetch_sub(1, std::memory_order_relaxed);
        }
      });
    }
    source_.finish(pending);
    ahead.clear();
    if (is_missing) {
      // Several other threads would soon wait for the one that computes the row that is needed now: they share it
      // first.
      const index_t p = progress.missing;
      if (team_.n_threads() > 2 && source_.find(p) == nullptr) source_.row(p, rows_wanted_soon(p, kRowsTogether));
      ahead = rows_wanted_soon(p, n_ahead);
      source_.prepare(ahead, 2 * kRowsTogether, pending);
    }
  } while (progress.missing >= 0);
}

// Moves all active free variables together by a Newton step when pair steps converge slowly, if the free variables are
// few.
template <class T>
void Smo<T>::move_free() {
  std::vector<index_t> free;
  for (index_t p = 0; p < static_cast<index_t>(active_.size()); ++p) {
    if (solver_->may_grow(p) && solver_->may_shrink(p)) free.push_back(p);
  }
  const auto n_free = static_cast<index_t>(free.size());
  // So rarely that systems take about as much time as pair steps do: a system takes n^3 / 6 operations, a pair step a
  // pass over all active variables.
  const double cost = static_cast<double>(n_free) * static_cast<double>(n_free) * static_cast<double>(n_free);
  const double cost_of_step = 300 + static_cast<double>(active_.size());
  next_free_step_ = result_.n_steps + 1000 + static_cast<index_t>(0.025 * cost / cost_of_step);
  if (n_free < 2 || n_free > kMostFree) return;
  detail::FreeProblem problem;
  source_.kernel_of(free, problem.kernel);
  for (const index_t p : free) {
    const index_t i = active_[at(p)];
    problem.add(solver_->gradient()[p], value_[i], problem_.lower[i], problem_.upper[i], state_.group(i));
  }
  const double decrease = detail::minimise_free(problem, team_.isa());
  if (decrease == 0) return;
  changes_.clear();
  for (index_t f = 0; f < n_free; ++f) {
    const index_t i = active_[at(free[at(f)])];
    const double difference = problem.value[at(f)] - value_[i];
    if (difference == 0) continue;
    changes_.add(i, difference);
    moved_ += std::abs(difference);
    value_[i] = problem.value[at(f)];
    solver_->set_value(free[at(f)], value_[i]);
  }
  source_.update(changes_, solver_->gradient());
  objective_ -= decrease;
  is_stuck_ = false;
}

// Lists the variables that violate most and have no kernel row yet, a few of each side, the most urgent last.
template <class T>
void Smo<T>::list_most_wanted() {
  constexpr std::size_t kEachSide = 16;
  most_wanted_.assign(2 * kEachSide, -1);
  for (const bool upwards : {true, false}) {
    std::array<double, kEachSide> worst;
    worst.fill(kInfinity);
    for (index_t p = 0; p < static_cast<index_t>(active_.size()); ++p) {
      const double value = solver_->pull(p, upwards);
      if (!(value < worst[0])) continue;
      const detail::Window& window = state_.window(state_.group(active_[at(p)]));
      if (!(value < (upwards ? window.low_max : -window.up_min)) || source_.holds(p)) continue;
      std::size_t k = 0;
      for (; k + 1 < kEachSide && value < worst[k + 1]; ++k) {
        worst[k] = worst[k + 1];
        most_wanted_[2 * k + (upwards ? 1 : 0)] = most_wanted_[2 * (k + 1) + (upwards ? 1 : 0)];
      }
      worst[k] = value;
      most_wanted_[2 * k + (upwards ? 1 : 0)] = p;
    }
  }
  std::erase(most_wanted_, -1);
}

// Chooses kernel rows that are likely to be needed soon: at most n, counting that of `besides`, which is not among
// them. None where it does not pay to look ahead.
template <class T>
const std::vector<index_t>& Smo<T>::rows_wanted_soon(index_t besides, index_t n) {
  soon_.clear();
  if (most_wanted_.empty() && source_.gains_by_several_rows()) list_most_wanted();
  while (!most_wanted_.empty() && soon_.size() + 1 < at(n)) {
    const index_t p = most_wanted_.back();
    most_wanted_.pop_back();
    // A variable that violates on both sides is in the list twice.
    const bool is_listed = std::ranges::find(soon_, p) != soon_.end();
    if (p != besides && !is_listed && !source_.holds(p)) soon_.push_back(p);
  }
  return soon_;
}

}  // namespace

template <class T>
SmoResult smo(KernelCache<T>& cache, const SmoProblem& problem, const SmoOptions& options, const SmoCallback& callback,
              Team& team, double* solution) {
  detail::CachedRows<T> rows(cache, problem, options.keeps_rows, team);
  return Smo<T>(rows, nullptr, problem, options, callback, team, solution).run();
}

SmoResult smo_rounded(KernelCache<float>& cache, const Kernel<double>& exact, const SmoProblem& problem,
                      const SmoOptions& options, const SmoCallback& callback, Team& team, double* solution) {
  detail::CachedRows<float> rows(cache, problem, options.keeps_rows, team);
  return Smo<float>(rows, &exact, problem, options, callback, team, solution).run();
}

template SmoResult smo(KernelCache<float>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&, double*);
template SmoResult smo(KernelCache<double>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&, double*);

}  // namespace fastpu
