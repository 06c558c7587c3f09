#include "svm/block_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "kernels/svm_kernels.hpp"
#include "svm/cached_rows.hpp"
#include "svm/first_step.hpp"
#include "svm/free_step.hpp"
#include "svm/smo_state.hpp"
#include "svm/working_set.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kMostSize = 1536;      // most variables in a working set
constexpr index_t kLeastSize = 512;      // a working set has room for at least so many,
constexpr index_t kRoom = 256;           // and for so many beside the free ones
constexpr double kFactorSpeed = 50'000;  // multiplications of a factorisation in the time of a pair step, times three

// One problem.
template <class T>
class BlockSmo {
 public:
  BlockSmo(KernelCache<T>& cache, const SmoProblem& problem, const SmoOptions& options, Team& team,
           WorkingKernel<T>& kernel, PairSolver<T>& pairs, double* solution)
      : source_(cache, problem, options.isa, team),
        problem_(problem),
        options_(options),
        team_(team),
        kernel_(kernel),
        pairs_(pairs),
        value_(solution),
        state_(problem, solution) {}

  SmoResult run();

 private:
  void start();
  void make_first_step(const double* end);
  void find_windows() { state_.find_windows(all_, result_.gradient); }
  void compute_gradients();
  bool has_moved_far() const { return watch_.has_moved_far(moved_, options_.tol); }
  void solve_working_set(index_t n_free);
  void take_working_set(index_t size, bool is_all);
  void make_wide_steps();
  bool solve_pairs(double tol, index_t most_steps);
  double move_free();

  CachedRows<T> source_;
  const SmoProblem& problem_;
  const SmoOptions& options_;
  Team& team_;
  WorkingKernel<T>& kernel_;
  PairSolver<T>& pairs_;
  WorkingSet choice_;
  std::vector<index_t> working_;  // variables of the working set, their places, and at these places their gradients
  std::vector<index_t> places_;
  std::vector<double> gradient_;
  std::unique_ptr<PairSolver<T>> wide_;
  double* value_;
  SmoState state_;
  PrecisionWatch watch_;

  SmoResult result_;
  std::vector<index_t> all_;  // variables whose bounds differ, so that they may move
  Changes changes_;
  double objective_ = 0;
  double moved_ = 0;  // total distance of all steps since gradients were computed anew
  int n_computed_ = 0;
  bool is_stuck_ = false;
};

template <class T>
SmoResult BlockSmo<T>::run() {
  start();
  constexpr int kMostTimes = 20;  // near the optimum gradients could be computed anew every time
  for (;;) {
    team_.poll();
    find_windows();
    const double violation = state_.violation();
    if (violation <= options_.tol) {
      if (n_computed_ >= kMostTimes || !has_moved_far()) break;
      compute_gradients();
      continue;
    }
    if (watch_.is_reached(violation, objective_, is_stuck_, value_, problem_.n)) {
      result_.status = SmoStatus::precision;
      break;
    }
    if (result_.n_steps >= options_.max_steps) {
      result_.status = SmoStatus::max_steps;
      break;
    }
    const auto n_free = static_cast<index_t>(
        std::ranges::count_if(all_, [&](index_t i) { return state_.may_grow(i) && state_.may_shrink(i); }));
    if (3 * n_free > 4 * kernel_.capacity()) {  // too many of them would be missing in a working set
      make_wide_steps();
    } else {
      solve_working_set(n_free);
    }
    result_.rounds.push_back({result_.n_steps, objective_, violation, static_cast<index_t>(all_.size())});
  }
  if (has_moved_far()) compute_gradients();
  find_windows();
  result_.violation = state_.violation();
  result_.moved = moved_;
  if (result_.status == SmoStatus::tol && !(result_.violation <= options_.tol)) result_.status = SmoStatus::precision;
  return std::move(result_);
}

template <class T>
void BlockSmo<T>::start() {
  const index_t n = problem_.n;
  for (index_t i = 0; i < n; ++i) {
    const double diagonal = source_.diagonal(i);
    check_diagonal<T>(diagonal, problem_.rows[i]);
    watch_.see_row(diagonal, problem_.linear[i]);
    if (problem_.lower[i] < problem_.upper[i]) all_.push_back(i);
  }
  if (problem_.start == nullptr) {
    compute_gradients();
  } else {
    result_.gradient.assign(problem_.linear, problem_.linear + n);
    for (index_t i = 0; i < n; ++i) result_.gradient[at(i)] += problem_.start->product[i];
    moved_ = problem_.start->moved;
    make_first_step(problem_.start->end);
  }
  for (index_t i = 0; i < n; ++i) objective_ += 0.5 * value_[i] * (result_.gradient[at(i)] + problem_.linear[i]);
}

// Goes towards `end`, from the start or from the largest multiple of it within the bounds, whichever is better: where
// all bounds have grown by one factor, that multiple has every variable at its bound that was at it before.
template <class T>
void BlockSmo<T>::make_first_step(const double* end) {
  // Where bounds grow by one factor, so do most variables, and K times the start is known. So kernel rows are needed
  // only for the variables whose way differs from the same multiple of their start.
  std::vector<double> factors;
  for (index_t i = 0; i < problem_.n; ++i) {
    if (value_[i] != 0) factors.push_back(end[i] / value_[i] - 1);
  }
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2);
  std::nth_element(factors.begin(), middle, factors.end());
  const double factor = factors.empty() ? 0 : *middle;
  changes_.clear();
  double distance = 0;
  for (index_t i = 0; i < problem_.n; ++i) {
    const double multiple = factor * value_[i];
    const double rest = end[i] - value_[i] - multiple;
    distance += std::abs(multiple);
    if (std::abs(rest) <= kBoundRounding * std::abs(end[i])) continue;
    changes_.add(i, rest);
    distance += std::abs(rest);
  }
  std::vector<double> product(at(problem_.n));
  for (index_t i = 0; i < problem_.n; ++i) product[at(i)] = factor * problem_.start->product[i];
  source_.update(changes_, product.data());
  double growth = kInfinity;
  double length = 0;
  double sums[2] = {};
  for (index_t i = 0; i < problem_.n; ++i) {
    if (value_[i] == 0) continue;
    growth = std::min(growth, (value_[i] > 0 ? problem_.upper[i] : problem_.lower[i]) / value_[i]);
    length += std::abs(value_[i]);
    sums[state_.group(i)] += value_[i];
  }
  FirstStep step = first_step(problem_, value_, result_.gradient, end, product, 1);
  // A multiple keeps the sum of a group only if that is 0; in a nu-SVM it is not.
  if (std::isfinite(growth) && std::max(std::abs(sums[0]), std::abs(sums[1])) <= kZeroSum * length) {
    const FirstStep other = first_step(problem_, value_, result_.gradient, end, product, growth);
    if (other.change < step.change) step = other;
  }
  if (!(step.change < 0) || !std::isfinite(step.change)) return;
  const double multiple = (1 - step.share) * (step.growth - 1);
  for (index_t i = 0; i < problem_.n; ++i) {
    result_.gradient[at(i)] += multiple * problem_.start->product[i] + step.share * product[at(i)];
    const double from = scaled_start(problem_, i, value_[i], step.growth);
    const double value = step.share == 1 ? end[i] : from + step.share * (end[i] - from);
    value_[i] = std::clamp(value, problem_.lower[i], problem_.upper[i]);
  }
  // The step multiplies the rounding errors in K times the start, which was added to numbers as large as `linear`.
  const double start_errors = problem_.start->moved + watch_.largest_linear() / watch_.largest_diagonal();
  moved_ += multiple * (length + start_errors) + step.share * (distance + std::abs(factor) * start_errors);
}

template <class T>
void BlockSmo<T>::compute_gradients() {
  result_.gradient.assign(problem_.linear, problem_.linear + problem_.n);
  moved_ = 0;
  ++n_computed_;
  changes_.clear();
  for (index_t i = 0; i < problem_.n; ++i) {
    if (value_[i] != 0) changes_.add(i, value_[i]);
  }
  source_.update(changes_, result_.gradient.data());
}

// Optimises some hundred variables with all others held, on their own kernel matrix.
template <class T>
void BlockSmo<T>::solve_working_set(index_t n_free) {
  const index_t size = std::clamp(n_free + kRoom, std::min(kLeastSize, kernel_.capacity()), kernel_.capacity());
  const bool is_all = static_cast<index_t>(all_.size()) <= size;
  take_working_set(size, is_all);
  std::vector<double> before;
  before.reserve(working_.size());
  for (const index_t i : working_) before.push_back(value_[i]);
  const double tol = working_set_tol(is_all, state_.violation(), options_.tol);
  // Pair steps find the variables at bounds. Where they converge slowly, Newton steps move the free variables, each
  // after as many pair steps as take the same time.
  constexpr int kMostTimes = 8;
  const auto cube = static_cast<double>(n_free) * static_cast<double>(n_free) * static_cast<double>(n_free);
  const index_t steps_at_once = std::max(2 * size, static_cast<index_t>(cube / kFactorSpeed));
  is_stuck_ = true;
  for (int time = 0; time < kMostTimes; ++time) {
    const index_t n_before = result_.n_steps;
    if (solve_pairs(tol, std::min(options_.max_steps - n_before, steps_at_once))) break;
    if (result_.n_steps >= options_.max_steps) break;
    const double decrease = move_free();
    objective_ -= decrease;
    if (decrease > 0) is_stuck_ = false;
    if (result_.n_steps == n_before && !(decrease > 0)) break;
  }
  changes_.clear();
  for (std::size_t k = 0; k < working_.size(); ++k) {
    const double difference = value_[working_[k]] - before[k];
    if (difference == 0) continue;
    changes_.add(working_[k], difference);
    moved_ += std::abs(difference);
  }
  source_.update(changes_, result_.gradient.data());
}

template <class T>
void BlockSmo<T>::take_working_set(index_t size, bool is_all) {
  const index_t most_free = std::max(size / 2, size - kRoom);
  kernel_.hold(is_all ? all_ : choice_.choose(state_, all_, result_.gradient, size, most_free, options_.tol), team_);
  working_.clear();
  places_.clear();
  gradient_.assign(at(kernel_.n_used()), 0.0);
  for (index_t p = 0; p < kernel_.n_used(); ++p) {
    const index_t i = kernel_.variable(p);
    if (i < 0) continue;
    working_.push_back(i);
    places_.push_back(p);
    gradient_[at(p)] = result_.gradient[at(i)];
  }
}

// Makes pair steps until the working set is optimal within tol, or for most_steps; returns whether it is optimal.
template <class T>
bool BlockSmo<T>::solve_pairs(double tol, index_t most_steps) {
  pairs_.clear();
  std::size_t k = 0;
  for (index_t p = 0; p < kernel_.n_used(); ++p) {
    if (k < places_.size() && places_[k] == p) {
      const index_t i = working_[k++];
      pairs_.add(state_.group(i), gradient_[at(p)], value_[i], problem_.lower[i], problem_.upper[i],
                 static_cast<double>(kernel_.row(p)[p]));
    } else {
      pairs_.add(0, 0.0, 0.0, 0.0, 0.0, 0.0);
    }
  }
  pairs_.close();
  const PairProgress progress = pairs_.solve(tol, most_steps, [&](index_t p) { return kernel_.row(p); });
  result_.n_steps += progress.n_steps;
  objective_ -= progress.decrease;
  if (progress.n_steps > 0) is_stuck_ = false;
  for (k = 0; k < places_.size(); ++k) value_[working_[k]] = pairs_.value(places_[k]);
  std::copy_n(pairs_.gradient(), kernel_.n_used(), gradient_.begin());
  return progress.is_optimal;
}

// Makes pair steps among all variables: where more of them are free than a working set has room for.
template <class T>
void BlockSmo<T>::make_wide_steps() {
  constexpr index_t kStepsAtOnce = 1000;
  const index_t n = problem_.n;
  if (!wide_) wide_ = std::make_unique<PairSolver<T>>(n, state_.n_groups(), options_.isa, team_);
  wide_->clear();
  for (index_t i = 0; i < n; ++i) {
    wide_->add(state_.group(i), result_.gradient[at(i)], value_[i], problem_.lower[i], problem_.upper[i],
               source_.diagonal(i));
  }
  wide_->close();
  const index_t most_steps = std::min(options_.max_steps - result_.n_steps, kStepsAtOnce);
  const PairProgress progress = wide_->solve(options_.tol, most_steps, [&](index_t i) {
    const T* values = source_.find(i);
    return values == nullptr ? source_.row(i, {}) : values;
  });
  result_.n_steps += progress.n_steps;
  objective_ -= progress.decrease;
  moved_ += progress.distance;
  is_stuck_ = progress.is_stuck;
  for (index_t i = 0; i < n; ++i) value_[i] = wide_->value(i);
  std::copy_n(wide_->gradient(), n, result_.gradient.begin());
}

// Moves all free variables of the working set together by Newton steps. Returns the decrease of the objective.
template <class T>
double BlockSmo<T>::move_free() {
  std::vector<index_t> free;
  for (std::size_t k = 0; k < working_.size(); ++k) {
    if (state_.may_grow(working_[k]) && state_.may_shrink(working_[k])) free.push_back(static_cast<index_t>(k));
  }
  FreeProblem problem;
  problem.kernel.resize(free.size() * free.size());
  auto entry = problem.kernel.begin();
  for (const index_t k : free) {
    const index_t i = working_[at(k)];
    problem.add(gradient_[at(places_[at(k)])], value_[i], problem_.lower[i], problem_.upper[i], state_.group(i));
    const T* row = kernel_.row(places_[at(k)]);
    for (const index_t other : free) *entry++ = static_cast<double>(row[places_[at(other)]]);
  }
  const double decrease = minimise_free(problem, options_.isa);
  std::vector<const T*> rows;
  std::vector<double> differences;
  for (std::size_t f = 0; f < free.size(); ++f) {
    double& value = value_[working_[at(free[f])]];
    if (problem.value[f] == value) continue;
    rows.push_back(kernel_.row(places_[at(free[f])]));
    differences.push_back(problem.value[f] - value);
    value = problem.value[f];
  }
  svm_kernels(options_.isa)
      .of<T>()
      .add_rows(gradient_.data(), rows.data(), differences.data(), static_cast<index_t>(rows.size()), kernel_.n_used());
  return decrease;
}

}  // namespace

template <class T>
BlockSolver<T>::BlockSolver(KernelCache<T>& cache, const std::vector<index_t>& rows, int n_groups,
                            const SmoOptions& options, Team& team)
    : cache_(cache),
      options_(options),
      team_(team),
      kernel_(cache.kernel(), rows,
              std::min(options.working_set > 0 ? options.working_set : kMostSize, static_cast<index_t>(rows.size()))),
      pairs_(kernel_.capacity(), n_groups, options.isa, team) {}

template <class T>
SmoResult BlockSolver<T>::solve(const SmoProblem& problem, double* solution) {
  return BlockSmo<T>(cache_, problem, options_, team_, kernel_, pairs_, solution).run();
}

template class BlockSolver<float>;
template class BlockSolver<double>;

}  // namespace fastpu::detail
