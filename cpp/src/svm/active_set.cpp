#include "svm/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "linalg/cholesky.hpp"
#include "linalg/row_kernels.hpp"

namespace fastpu::detail {

namespace {

// A dual variable that misses a bound by no more than this share of the cost is at the bound; a score that misses its
// margin by no more than this share of its size is on the margin.
constexpr double kBoundSlack = 1e-12;

// Adds the products of k rows with each other to the upper triangle of matrix. RowKernels::gram forms products of
// columns, so some features at a time are packed as its rows and our rows as its columns.
void add_products(const double* rows, index_t k, index_t p, const RowPass& pass, Cholesky& matrix) {
  constexpr index_t kFeatures = 128;
  const RowKernels& kernels = row_kernels(pass.team().isa());
  const index_t n_panels = matrix.stride() / kPanelWidth;
  const index_t stride = panel_stride(kFeatures);
  auto packed = AlignedBuffer<double>::zeros(n_panels * stride, "rows between bounds");
  for (index_t first = 0; first < p; first += kFeatures) {
    pass.team().poll();
    const index_t n = std::min(kFeatures, p - first);
    const index_t n_padded = round_up(n, kRowLane);
    for (index_t i = 0; i < k; ++i) {
      double* to = packed.data() + i / kPanelWidth * stride + i % kPanelWidth;
      for (index_t f = 0; f < n; ++f) to[f * kPanelWidth] = rows[i * p + first + f];
      for (index_t f = n; f < n_padded; ++f) to[f * kPanelWidth] = 0;
    }
    kernels.gram({packed.data(), n_padded, stride, n_panels}, matrix.matrix(), matrix.stride());
  }
}

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

  ActiveSetResult run(double tol, int max_rounds, const double* f);

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
  AlignedBuffer<double> w_;  // with the intercept last
  AlignedBuffer<double> f_;
  std::vector<Kind> kinds_;
  std::vector<index_t> between_;
  AlignedBuffer<double> rows_;  // the rows between their bounds, centred
};

void ActiveSet::guess(const double* f) {
  for (index_t i = 0; i < n_; ++i) {
    const double cost = task_.cost()[i];
    const double aim = task_.side()[i] * v_[i] + task_.lack(i, f[i]) / data_.size();
    kinds_[at(i)] = aim <= kBoundSlack * cost         ? Kind::at_zero
                    : aim >= (1 - kBoundSlack) * cost ? Kind::at_cost
                                                      : Kind::between;
  }
}

// Sets v of the rows at bounds; returns false if so many rows are between their bounds that solving for them is slow.
bool ActiveSet::move_to_bounds() {
  between_.clear();
  for (index_t i = 0; i < n_; ++i) {
    const Kind kind = kinds_[at(i)];
    if (kind == Kind::between) {
      between_.push_back(i);
    } else {
      v_[i] = kind == Kind::at_zero ? 0.0 : task_.side()[i] * task_.cost()[i];
    }
  }
  constexpr index_t kMostBetween = 3000;
  constexpr index_t kMostValues = 20'000'000;
  const auto k = static_cast<index_t>(between_.size());
  return k <= std::min(kMostBetween, 2 * (p_ + 1) + 32) && k * p_ <= kMostValues;
}

// Moves the rows between their bounds such that y = f for all of them, with the smallest change if there is a choice.
// Returns false if no such point is found.
bool ActiveSet::solve_between() {
  const auto k = static_cast<index_t>(between_.size());
  sum_rows(pass_, v_, w_.data());
  double still_missing = -w_[p_];  // what the sum of v lacks to be zero
  w_[p_] = 0;
  if (k == 0) return true;

  auto numbers = make_vector<index_t>(k, "rows between bounds");
  for (index_t j = 0; j < k; ++j) numbers[at(j)] = task_.row(between_[at(j)]);
  rows_ = AlignedBuffer<double>(k * p_, "rows between bounds");
  gather_rows(data_.x(), numbers.data(), k, data_.centre(), rows_.data());
  Cholesky kernel(k, pass_.team().isa(), "the kernel matrix of rows between bounds");
  add_products(rows_.data(), k, p_, pass_, kernel);
  double trace = 0;
  for (index_t i = 0; i < k; ++i) trace += kernel.matrix()[i * kernel.stride() + i];
  // ridge, as a share of the mean diagonal entry: lets the matrix be factored where rows are equal
  constexpr double kLeast = 1e-11;
  const double ridge = kLeast * std::max(trace / static_cast<double>(k), data_.size() * 1e-3);
  for (index_t i = 0; i < k; ++i) kernel.matrix()[i * kernel.stride() + i] += ridge;
  kernel.factor();

  auto ones = make_vector<double>(k, "rows between bounds");
  auto step = make_vector<double>(k, "rows between bounds");
  std::fill(ones.begin(), ones.end(), 1.0);
  kernel.solve(ones.data());
  double sum_of_ones = 0;
  for (const double value : ones) sum_of_ones += value;
  constexpr int kRefinements = 3;
  for (int round = 0; round < kRefinements; ++round) {
    for (index_t i = 0; i < k; ++i) {
      const double* a = rows_.data() + i * p_;
      double f = w_[p_];
      for (index_t g = 0; g < p_; ++g) f += a[g] * w_[g];
      step[at(i)] = task_.label()[between_[at(i)]] - f;
    }
    kernel.solve(step.data());
    double sum = 0;
    for (const double value : step) sum += value;
    const double intercept = (sum - still_missing) / sum_of_ones;
    w_[p_] += intercept;
    for (index_t i = 0; i < k; ++i) {
      const double change = step[at(i)] - intercept * ones[at(i)];
      v_[between_[at(i)]] += change;
      still_missing -= change;
      const double* a = rows_.data() + i * p_;
      for (index_t g = 0; g < p_; ++g) w_[g] += change * a[g];
    }
  }
  return std::isfinite(w_[p_]);
}

// Gives every row the kind that a step along its own coordinate of v leads to. Returns the number of rows that change.
index_t ActiveSet::change_kinds() {
  score_rows(pass_, w_.data(), f_.data());
  if (between_.empty()) {
    w_[p_] = best_intercepts(task_, f_.data()).middle;
    for (index_t i = 0; i < n_; ++i) f_[i] += w_[p_];
  }
  index_t n_changed = 0;
  for (index_t i = 0; i < n_; ++i) {
    Kind& kind = kinds_[at(i)];
    const double cost = task_.cost()[i];
    Kind next = kind;
    if (kind == Kind::between) {
      const double inside = task_.side()[i] * v_[i];
      if (inside < -kBoundSlack * cost) next = Kind::at_zero;
      if (inside > (1 + kBoundSlack) * cost) next = Kind::at_cost;
    } else {
      const double lack = task_.lack(i, f_[i]);
      const double slack = kBoundSlack * (1 + std::abs(f_[i]));
      if (kind == Kind::at_zero && lack > slack) next = lack >= cost * data_.size() ? Kind::at_cost : Kind::between;
      if (kind == Kind::at_cost && lack < -slack) next = -lack >= cost * data_.size() ? Kind::at_zero : Kind::between;
    }
    n_changed += next == kind ? 0 : 1;
    kind = next;
  }
  return n_changed;
}

ActiveSetResult ActiveSet::run(double tol, int max_rounds, const double* f) {
  ActiveSetResult result;
  guess(f);
  index_t fewest = n_ + 1;
  int n_idle = 0;
  while (result.n_rounds < max_rounds) {
    ++result.n_rounds;
    if (!move_to_bounds()) return result;
    if (!solve_between()) return result;
    const index_t n_changed = change_kinds();
    if (n_changed == 0) {
      make_feasible(task_, v_);
      result.certificate = certify(pass_, task_, v_, w_.data());
      result.is_solved = result.certificate.holds(tol);
      return result;
    }
    // If half of the rows between their bounds are wrong, the guess is too poor to go on.
    constexpr index_t kFew = 4;
    if (n_changed > kFew && 2 * n_changed > static_cast<index_t>(between_.size())) return result;
    if (n_changed > fewest / 2 && n_changed > 2) ++n_idle;
    fewest = std::min(fewest, n_changed);
    if (n_idle == 2) return result;
  }
  return result;
}

}  // namespace

ActiveSetResult active_set(const MarginData& data, const MarginTask& task, RowPass& pass, double tol, int max_rounds,
                           double* v, const double* f) {
  return ActiveSet(data, task, pass, v).run(tol, max_rounds, f);
}

}  // namespace fastpu::detail
