// The linear kernel: gradients come from w = X'b, and only the kernel values of a working set are ever formed.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "fastpu/svm/smo.hpp"
#include "linalg/row_products.hpp"
#include "svm/free_step.hpp"
#include "svm/pair_solver.hpp"
#include "svm/smo_state.hpp"
#include "svm/working_set.hpp"

namespace fastpu {

namespace {

template <class T>
void add_row(const DenseView<T>& x, index_t row, double factor, const double* origin, double* w) {
  const T* values = x.row(row);
  for (index_t f = 0; f < x.n_cols; ++f) w[f] += factor * (static_cast<double>(values[f]) - origin[f]);
}

template <class T>
void add_row(const CsrView<T>& x, index_t row, double factor, const double* /*origin*/, double* w) {
  detail::add_row(x, row, factor, w);
}

constexpr KernelParams kLinear{.kind = KernelKind::linear};

// The rows of a working set, from which its kernel matrix is computed in double.
template <class View>
class WorkingRows;

// Pair steps depend on differences of rows alone, so one of the rows is subtracted from all of them: products then do
// not cancel where data lie far from the origin.
template <class T>
class WorkingRows<DenseView<T>> {
 public:
  WorkingRows(const DenseView<T>& x, const Team& team) : x_(x), team_(team) {}

  // Returns a kernel over the rows of a working set, and replaces `rows` by their numbers in it.
  const Kernel<double>& kernel_of(std::vector<index_t>& rows) {
    const auto n = static_cast<index_t>(rows.size());
    if (shifted_.size() < n * x_.n_cols) shifted_ = AlignedBuffer<double>(n * x_.n_cols, "the rows of a working set");
    const T* origin = x_.row(rows[0]);
    for (index_t k = 0; k < n; ++k) {
      const T* from = x_.row(rows[at(k)]);
      double* to = shifted_.data() + k * x_.n_cols;
      for (index_t f = 0; f < x_.n_cols; ++f) to[f] = static_cast<double>(from[f]) - static_cast<double>(origin[f]);
    }
    std::iota(rows.begin(), rows.end(), index_t{0});
    kernel_ = make_kernel(DenseView<double>{shifted_.data(), n, x_.n_cols}, kLinear, team_);
    return *kernel_;
  }

 private:
  DenseView<T> x_;
  const Team& team_;
  AlignedBuffer<double> shifted_;
  std::unique_ptr<Kernel<double>> kernel_;
};

// Sparse rows are not shifted, as differences of them would not be sparse.
template <class T>
class WorkingRows<CsrView<T>> {
 public:
  WorkingRows(const CsrView<T>& x, const Team& team) {
    CsrView<double> view{nullptr, x.columns, x.row_start, x.n_rows, x.n_cols};
    if constexpr (std::is_same_v<T, double>) {
      view.values = x.values;
    } else {
      const index_t n_entries = x.row_start[x.n_rows];
      values_ = AlignedBuffer<double>(n_entries, "the entries of X in double");
      std::copy_n(x.values, n_entries, values_.data());
      view.values = values_.data();
    }
    kernel_ = make_kernel(view, kLinear, team);
  }

  const Kernel<double>& kernel_of(const std::vector<index_t>& /*rows*/) { return *kernel_; }

 private:
  AlignedBuffer<double> values_;
  std::unique_ptr<Kernel<double>> kernel_;
};

template <class View>
class LinearSmo {
 public:
  LinearSmo(const View& x, const SmoProblem& problem, const SmoOptions& options, const SmoCallback& callback,
            Team& team, double* solution)
      : x_(x),
        problem_(problem),
        options_(options),
        callback_(callback),
        team_(team),
        value_(solution),
        state_(problem, solution),
        working_rows_(x, team) {}

  SmoResult run();

 private:
  void start();
  void choose_origin();
  void compute_w();
  void compute_gradients(const std::vector<index_t>& variables);
  void find_windows(const std::vector<index_t>& variables) { state_.find_windows(variables, result_.gradient); }
  void shrink();
  void choose_working_set();
  void solve_working_set();
  double move_free(std::vector<double>& value);

  const View& x_;
  const SmoProblem& problem_;
  const SmoOptions& options_;
  const SmoCallback& callback_;
  Team& team_;
  double* value_;
  detail::SmoState state_;
  detail::PrecisionWatch watch_;
  WorkingRows<View> working_rows_;

  SmoResult result_;
  AlignedBuffer<double> w_;
  // Subtracted from dense rows in w: where the variables sum to 0 this changes nothing, but keeps w from cancelling.
  AlignedBuffer<double> origin_;
  std::vector<index_t> all_;
  std::vector<index_t> active_;
  double objective_ = 0;
  bool is_stuck_ = false;
  bool is_fresh_ = false;  // whether w has been computed anew since the last change

  index_t working_set_size_ = 0;
  std::unique_ptr<detail::PairSolver<double>> solver_;
  AlignedBuffer<double> working_kernel_;
  detail::WorkingSet choice_;
  std::vector<index_t> working_set_;
};

template <class View>
SmoResult LinearSmo<View>::run() {
  start();
  for (;;) {
    team_.poll();
    compute_gradients(active_);
    find_windows(active_);
    if (state_.violation() <= options_.tol && active_.size() < all_.size()) {
      active_ = all_;
      continue;
    }
    if (state_.violation() <= options_.tol) {
      if (is_fresh_) break;
      compute_w();
      continue;
    }
    if (watch_.is_reached(state_.violation(), objective_, is_stuck_, value_, problem_.n)) {
      const double among_active = state_.violation();
      active_ = all_;
      compute_gradients(active_);
      find_windows(active_);
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
    shrink();
    const double violation = state_.violation();
    choose_working_set();
    solve_working_set();
    result_.rounds.push_back({result_.n_steps, objective_, violation, static_cast<index_t>(active_.size())});
    if (callback_ && callback_(result_.rounds.back())) {
      result_.status = SmoStatus::callback;
      break;
    }
  }
  if (!is_fresh_) compute_w();
  compute_gradients(all_);
  find_windows(all_);
  result_.violation = state_.violation();
  return std::move(result_);
}

template <class View>
void LinearSmo<View>::start() {
  const index_t n = problem_.n;
  result_.gradient.assign(at(n), 0.0);
  all_.resize(at(n));
  std::iota(all_.begin(), all_.end(), index_t{0});
  active_ = all_;
  w_ = AlignedBuffer<double>(x_.n_cols, "coefficients");
  origin_ = AlignedBuffer<double>::zeros(x_.n_cols, "coefficients");
  choose_origin();
  for (index_t i = 0; i < n; ++i) {
    const double diagonal = detail::squared_norm(x_, problem_.rows[i]);
    detail::check_diagonal<double>(diagonal, problem_.rows[i]);
    watch_.see_row(diagonal, problem_.linear[i]);
    objective_ += problem_.linear[i] * value_[i];
  }
  compute_w();
  for (index_t f = 0; f < x_.n_cols; ++f) objective_ += 0.5 * w_[f] * w_[f];
  // With d features at most about d variables are free in the end; they have to fit, with room for others.
  constexpr index_t kLeast = 128;
  constexpr index_t kMost = 640;
  const index_t usual = std::clamp(3 * x_.n_cols, kLeast, kMost);
  const index_t wanted = options_.working_set > 0 ? options_.working_set : usual;
  working_set_size_ = std::max<index_t>(2, std::min(wanted, n));
  solver_ = std::make_unique<detail::PairSolver<double>>(working_set_size_, state_.n_groups(), team_);
  const index_t stride = round_up(working_set_size_, kKernelPanel);
  working_kernel_ = AlignedBuffer<double>(stride * stride, "the kernel matrix of a working set");
}

template <class View>
void LinearSmo<View>::choose_origin() {
  double sum = 0;
  double size = 0;
  for (index_t i = 0; i < problem_.n; ++i) {
    sum += value_[i];
    size += std::abs(value_[i]);
  }
  if constexpr (View::kIsDense) {
    if (!(std::abs(sum) <= detail::kZeroSum * size)) return;
    const auto* row = x_.row(problem_.rows[0]);
    for (index_t f = 0; f < x_.n_cols; ++f) origin_[f] = static_cast<double>(row[f]);
  }
}

// Computes w anew, since the rounding errors of many updates add up.
template <class View>
void LinearSmo<View>::compute_w() {
  w_.clear();
  for (index_t i = 0; i < problem_.n; ++i) {
    if (value_[i] != 0) add_row(x_, problem_.rows[i], value_[i], origin_.data(), w_.data());
  }
  is_fresh_ = true;
}

template <class View>
void LinearSmo<View>::compute_gradients(const std::vector<index_t>& variables) {
  const auto n = static_cast<index_t>(variables.size());
  const double work = static_cast<double>(n) * (1 + detail::mean_row_size(x_));
  constexpr index_t kBlock = 256;
  team_.for_blocks(n, kBlock, work < 100'000 ? 1 : team_.n_threads(), [&](index_t first, index_t end, int) {
    for (index_t k = first; k < end; ++k) {
      const index_t i = variables[at(k)];
      result_.gradient[at(i)] = detail::dot(x_, problem_.rows[i], w_.data()) + problem_.linear[i];
    }
  });
}

template <class View>
void LinearSmo<View>::shrink() {
  std::vector<index_t> stay;
  for (const index_t i : active_) {
    if (!state_.is_likely_to_stay(i, result_.gradient[at(i)])) stay.push_back(i);
  }
  if (5 * stay.size() < 4 * active_.size() && stay.size() >= 2) active_ = std::move(stay);
}

// Half of the room is for free variables: with a linear kernel they are few, and without them the others could hardly
// move.
template <class View>
void LinearSmo<View>::choose_working_set() {
  const bool is_all = static_cast<index_t>(active_.size()) <= working_set_size_;
  working_set_ = is_all ? active_
                        : choice_.choose(state_, active_, result_.gradient, working_set_size_, working_set_size_ / 2,
                                         options_.tol);
}

template <class View>
void LinearSmo<View>::solve_working_set() {
  const auto n = static_cast<index_t>(working_set_.size());
  std::vector<index_t> rows;
  rows.reserve(working_set_.size());
  for (const index_t i : working_set_) rows.push_back(problem_.rows[i]);
  const Kernel<double>& kernel = working_rows_.kernel_of(rows);
  const auto columns = kernel.pack(rows.data(), n, team_);
  const index_t stride = round_up(n, kKernelPanel);
  constexpr index_t kRowsAtOnce = 32;
  const double work = static_cast<double>(n * n) * detail::mean_row_size(x_);
  team_.for_blocks(n, kRowsAtOnce, work < 200'000 ? 1 : team_.n_threads(), [&](index_t first, index_t end, int) {
    double* out[kRowsAtOnce];
    for (index_t k = first; k < end; ++k) out[k - first] = working_kernel_.data() + k * stride;
    kernel.fill(rows.data() + first, end - first, *columns, 0, n, out);
  });

  solver_->clear();
  for (index_t k = 0; k < n; ++k) {
    const index_t i = working_set_[at(k)];
    solver_->add(state_.group(i), result_.gradient[at(i)], value_[i], problem_.lower[i], problem_.upper[i],
                 working_kernel_[k * stride + k]);
  }
  solver_->close();
  const bool is_all = working_set_.size() == active_.size();
  const double tol = detail::working_set_tol(is_all, state_.violation(), options_.tol);
  const index_t most_steps = std::min(options_.max_steps - result_.n_steps, 20 * n);
  const auto progress = solver_->solve(tol, most_steps, [&](index_t k) { return working_kernel_.data() + k * stride; });
  result_.n_steps += progress.n_steps;
  objective_ -= progress.decrease;
  std::vector<double> value(at(n));
  for (index_t k = 0; k < n; ++k) value[at(k)] = solver_->value(k);
  double freed = 0;
  if (!is_all || !progress.is_optimal) freed = move_free(value);
  objective_ -= freed;
  is_stuck_ = progress.n_steps == 0 && freed == 0;
  for (index_t k = 0; k < n; ++k) {
    const index_t i = working_set_[at(k)];
    const double difference = value[at(k)] - value_[i];
    if (difference == 0) continue;
    add_row(x_, problem_.rows[i], difference, origin_.data(), w_.data());
    is_fresh_ = false;
    value_[i] = value[at(k)];
  }
}

// Moves all free variables of the working set together by a Newton step, when pair steps converge slowly. Returns the
// decrease of the objective.
template <class View>
double LinearSmo<View>::move_free(std::vector<double>& value) {
  std::vector<index_t> free;
  for (index_t k = 0; k < solver_->size(); ++k) {
    if (solver_->may_grow(k) && solver_->may_shrink(k)) free.push_back(k);
  }
  constexpr index_t kMost = 400;  // at most half of them are in a working set, and seldom so many
  if (static_cast<index_t>(free.size()) > kMost) return 0;
  const index_t stride = round_up(solver_->size(), kKernelPanel);
  detail::FreeProblem problem;
  for (const index_t k : free) {
    const index_t i = working_set_[at(k)];
    problem.add(solver_->gradient()[k], value[at(k)], problem_.lower[i], problem_.upper[i], state_.group(i));
    for (const index_t other : free) problem.kernel.push_back(working_kernel_[k * stride + other]);
  }
  const double decrease = detail::minimise_free(problem, team_.isa());
  for (std::size_t f = 0; f < free.size(); ++f) value[at(free[f])] = problem.value[f];
  return decrease;
}

}  // namespace

template <template <class> class View, class T>
SmoResult smo_linear(const View<T>& x, const SmoProblem& problem, const SmoOptions& options,
                     const SmoCallback& callback, Team& team, double* solution) {
  return LinearSmo<View<T>>(x, problem, options, callback, team, solution).run();
}

template SmoResult smo_linear(const DenseView<float>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&,
                              double*);
template SmoResult smo_linear(const DenseView<double>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&,
                              double*);
template SmoResult smo_linear(const CsrView<float>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&,
                              double*);
template SmoResult smo_linear(const CsrView<double>&, const SmoProblem&, const SmoOptions&, const SmoCallback&, Team&,
                              double*);

}  // namespace fastpu
