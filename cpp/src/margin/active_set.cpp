#include "margin/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "linalg/cholesky.hpp"
#include "svm/optimal_intercept.hpp"

namespace fastpu::detail {

namespace {

// A value that misses a bound by no more than this share of the cost is at the bound; the same of margins and scores.
constexpr double kBoundSlack = 1e-12;

enum class Kind : std::uint8_t { at_zero, at_cost, between };

class ActiveSet {
 public:
  ActiveSet(const MarginData& data, const MarginTask& task, RowPass& pass, double* v)
      : data_(data),
        task_(task),
        pass_(pass),
        n_(task.n()),
        p_(pass.n_features()),
        v_(v),
        w_(pass.width(), "coefficients"),
        f_(n_, "scores"),
        kinds_(make_vector<Kind>(n_, "kinds of rows")) {}

  ActiveSetResult run(const ActiveSetOptions& options, const double* f, Certificate& found);

 private:
  void guess(const double* f);
  bool move_to_bounds();
  bool solve_between();
  index_t change_kinds();

  const MarginData& data_;
  const MarginTask& task_;
  RowPass& pass_;
  index_t n_;
  index_t p_;
  double* v_;
  AlignedBuffer<double> w_;  // and the intercept
  AlignedBuffer<double> f_;
  std::vector<Kind> kinds_;
  std::vector<index_t> between_;
  AlignedBuffer<double> rows_;  // those in between, centred
};

void ActiveSet::guess(const double* f) {
  for (index_t i = 0; i < n_; ++i) {
    const double side = task_.side()[i];
    const double cost = task_.cost()[i];
    const double there = side * v_[i] + side * (task_.label()[i] - f[i]) / data_.size();
    kinds_[static_cast<std::size_t>(i)] = there <= kBoundSlack * cost         ? Kind::at_zero
                                          : there >= (1 - kBoundSlack) * cost ? Kind::at_cost
                                                                              : Kind::between;
  }
}

// v of rows at bounds; false if there are too many in between.
bool ActiveSet::move_to_bounds() {
  between_.clear();
  for (index_t i = 0; i < n_; ++i) {
    const Kind kind = kinds_[static_cast<std::size_t>(i)];
    if (kind == Kind::between) {
      between_.push_back(i);
    } else {
      v_[i] = kind == Kind::at_zero ? 0.0 : task_.side()[i] * task_.cost()[i];
    }
  }
  constexpr index_t kMostBetween = 1500;
  constexpr index_t kMostValues = 20'000'000;
  const auto k = static_cast<index_t>(between_.size());
  return k <= std::min(kMostBetween, 2 * (p_ + 1) + 32) && k * p_ <= kMostValues;
}

// Moves the rows in between to where y = f holds for all of them, as little as possible where there is a choice. False
// if that leads nowhere.
bool ActiveSet::solve_between() {
  const auto k = static_cast<index_t>(between_.size());
  double* const sums[] = {w_.data()};
  pass_.run(nullptr, 1, sums, [&](const RowBlock& block) { std::copy_n(v_ + block.first, block.n, block.weights[0]); });
  const double missing = -w_[p_];  // from a sum of v of zero
  w_[p_] = 0;
  if (k == 0) return true;

  auto numbers = make_vector<index_t>(k, "rows between bounds");
  for (index_t j = 0; j < k; ++j)
    numbers[static_cast<std::size_t>(j)] = task_.row(between_[static_cast<std::size_t>(j)]);
  rows_ = AlignedBuffer<double>(k * p_, "rows between bounds");
  gather_rows(data_.x(), numbers.data(), k, data_.centre(), rows_.data());
  Cholesky kernel(k, pass_.isa(), "the kernel matrix of rows between bounds");
  double trace = 0;
  for (index_t i = 0; i < k; ++i) {
    const double* a = rows_.data() + i * p_;
    for (index_t j = i; j < k; ++j) {
      const double* b = rows_.data() + j * p_;
      double lanes[8] = {};
      index_t f = 0;
      for (; f + 8 <= p_; f += 8) {
        for (int l = 0; l < 8; ++l) lanes[l] += a[f + l] * b[f + l];
      }
      double sum = 0;
      for (; f < p_; ++f) sum += a[f] * b[f];
      for (const double lane : lanes) sum += lane;
      kernel.matrix()[i * kernel.stride() + j] = sum;
      if (i == j) trace += sum;
    }
  }
  constexpr double kLeast = 1e-11;  // of the mean: enough for a factor where rows are equal
  const double ridge = kLeast * std::max(trace / static_cast<double>(k), data_.size() * 1e-3);
  for (index_t i = 0; i < k; ++i) kernel.matrix()[i * kernel.stride() + i] += ridge;
  kernel.factor();

  auto ones = make_vector<double>(k, "rows between bounds");
  auto step = make_vector<double>(k, "rows between bounds");
  std::fill(ones.begin(), ones.end(), 1.0);
  kernel.solve(ones.data());
  double sum_of_ones = 0;
  for (const double value : ones) sum_of_ones += value;
  double still_missing = missing;
  constexpr int kRefinements = 3;
  for (int round = 0; round < kRefinements; ++round) {
    for (index_t i = 0; i < k; ++i) {
      const double* a = rows_.data() + i * p_;
      double f = w_[p_];
      for (index_t g = 0; g < p_; ++g) f += a[g] * w_[g];
      step[static_cast<std::size_t>(i)] = task_.label()[between_[static_cast<std::size_t>(i)]] - f;
    }
    kernel.solve(step.data());
    double sum = 0;
    for (const double value : step) sum += value;
    const double intercept = (sum - still_missing) / sum_of_ones;
    w_[p_] += intercept;
    for (index_t i = 0; i < k; ++i) {
      const double change = step[static_cast<std::size_t>(i)] - intercept * ones[static_cast<std::size_t>(i)];
      v_[between_[static_cast<std::size_t>(i)]] += change;
      still_missing -= change;
      const double* a = rows_.data() + i * p_;
      for (index_t g = 0; g < p_; ++g) w_[g] += change * a[g];
    }
  }
  return std::isfinite(w_[p_]);
}

// Every row goes where a step along its own v would bring it. Returns how many change.
index_t ActiveSet::change_kinds() {
  pass_.run(w_.data(), 0, nullptr,
            [&](const RowBlock& block) { std::copy_n(block.products, block.n, f_.data() + block.first); });
  if (between_.empty()) {
    auto points = make_vector<Breakpoint>(n_, "margins");
    for (index_t i = 0; i < n_; ++i) points[static_cast<std::size_t>(i)] = {task_.label()[i] - f_[i], task_.cost()[i]};
    w_[p_] = best_intercepts(points, task_.cost_of_side(1)).middle;
    for (index_t i = 0; i < n_; ++i) f_[i] += w_[p_];
  }
  index_t n_changed = 0;
  for (index_t i = 0; i < n_; ++i) {
    Kind& kind = kinds_[static_cast<std::size_t>(i)];
    const double side = task_.side()[i];
    const double cost = task_.cost()[i];
    const double inside = side * v_[i];
    Kind next = kind;
    if (kind == Kind::between) {
      if (inside < -kBoundSlack * cost) next = Kind::at_zero;
      if (inside > (1 + kBoundSlack) * cost) next = Kind::at_cost;
    } else {
      const double lack = side * (task_.label()[i] - f_[i]);
      const double slack = kBoundSlack * (1 + std::abs(f_[i]));
      if (kind == Kind::at_zero && lack > slack) next = lack >= cost * data_.size() ? Kind::at_cost : Kind::between;
      if (kind == Kind::at_cost && lack < -slack) next = -lack >= cost * data_.size() ? Kind::at_zero : Kind::between;
    }
    n_changed += next == kind ? 0 : 1;
    kind = next;
  }
  return n_changed;
}

ActiveSetResult ActiveSet::run(const ActiveSetOptions& options, const double* f, Certificate& found) {
  ActiveSetResult result;
  guess(f);
  index_t fewest = n_ + 1;
  int n_idle = 0;
  while (result.n_rounds < options.max_rounds) {
    ++result.n_rounds;
    if (!move_to_bounds()) return result;
    if (!solve_between()) return result;
    const index_t n_changed = change_kinds();
    if (n_changed == 0) {
      make_feasible(task_, v_);
      found = certify(pass_, task_, v_, w_.data());
      result.is_solved = found.holds(options.tol);
      return result;
    }
    // Where half of the rows in between are wrong, so is the guess.
    constexpr index_t kFew = 4;
    if (n_changed > kFew && 2 * n_changed > static_cast<index_t>(between_.size())) return result;
    if (n_changed > fewest / 2 && n_changed > 2) ++n_idle;
    fewest = std::min(fewest, n_changed);
    if (n_idle == 2) return result;
  }
  return result;
}

}  // namespace

ActiveSetResult active_set(const MarginData& data, const MarginTask& task, RowPass& pass,
                           const ActiveSetOptions& options, double* v, const double* f, Certificate& found) {
  return ActiveSet(data, task, pass, v).run(options, f, found);
}

}  // namespace fastpu::detail
