#include "svm/near_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fastpu/common/random.hpp"
#include "svm/interior_point.hpp"

namespace fastpu::detail {

namespace {

// From so many rows on few of them are solved: with a start, without one, and for each feature.
constexpr index_t kManyRows = 20'000;
constexpr index_t kManyWithoutStart = 50'000;
constexpr index_t kManyPerFeature = 100;
constexpr index_t kShare = 16;      // one row in so many counts as near at first
constexpr index_t kMostShare = 3;   // if more than one row in so many is near, solving with all rows is as fast
constexpr index_t kMostSteps = 25;  // of an interior point; some 12 are usual
constexpr int kMostRounds = 8;
constexpr double kRough = 1e-4;  // relative gap from which on a solution shows the rows on the wrong side

// The problem restricted to some rows, given by ascending numbers, with the costs of each side multiplied by a factor.
class RestrictedProblem {
 public:
  RestrictedProblem(const MarginData& data, const MarginTask& task, const std::vector<index_t>& rows, double factor_pos,
                    double factor_neg, Team& team)
      : labels_(make_vector<std::int8_t>(data.n_rows(), "labels")),
        slopes_(make_vector<std::uint8_t>(data.n_rows(), "slopes")),
        costs_(make_vector<double>(data.n_rows(), "costs")),
        task_(fill(task, rows, factor_pos, factor_neg), data.n_rows(), data.size()),
        pass_(data.x(), task_.rows(), task_.n(), data.centre(), team) {}

  const MarginTask& task() const { return task_; }
  RowPass& pass() { return pass_; }

 private:
  MarginProblem fill(const MarginTask& task, const std::vector<index_t>& rows, double factor_pos, double factor_neg) {
    std::fill(labels_.begin(), labels_.end(), std::int8_t{1});
    for (const index_t i : rows) {
      const auto row = at(task.row(i));
      labels_[row] = task.label()[i] > 0 ? 1 : -1;
      slopes_[row] = task.side()[i] != task.label()[i] ? 1 : 0;
      costs_[row] = std::min(kMostRowCost, task.cost()[i] * (task.side()[i] > 0 ? factor_pos : factor_neg));
    }
    return {labels_.data(), costs_.data(), slopes_.data()};
  }

  std::vector<std::int8_t> labels_;
  std::vector<std::uint8_t> slopes_;
  std::vector<double> costs_;
  MarginTask task_;
  RowPass pass_;
};

class NearRows {
 public:
  NearRows(const MarginData& data, const MarginTask& task, RowPass& pass, double tol, const NearRowsCallback& callback,
           double* v, double* w)
      : data_(data),
        task_(task),
        pass_(pass),
        tol_(tol),
        callback_(callback),
        n_(task.n()),
        fewest_(std::max(n_ / kShare, kManyRows / kShare)),
        v_(v),
        w_(w),
        f_(n_, "scores"),
        fixed_(AlignedBuffer<double>::zeros(pass.width(), "sums of rows")),
        is_near_(make_vector<std::uint8_t>(n_, "rows near the margin")) {}

  NearRowsResult run(const double* scores);

 private:
  double lack(index_t i) const { return task_.lack(i, f_[i]); }
  bool take_scores(const double* scores);
  bool take_scores_of_samples();
  void solve_sample(index_t size);
  void add_best_intercept();
  void take_nearest();
  index_t take_wrong();
  void fix_others();
  bool is_solved(InteriorPoint& point, double tol);
  bool is_wrong(index_t i) const;

  const MarginData& data_;
  const MarginTask& task_;
  RowPass& pass_;
  double tol_;
  const NearRowsCallback& callback_;
  index_t n_;
  index_t fewest_;
  double* v_;
  double* w_;
  AlignedBuffer<double> f_;      // the scores of w
  AlignedBuffer<double> fixed_;  // g
  double fixed_value_ = 0;       // k
  std::vector<std::uint8_t> is_near_;
  std::vector<index_t> near_;
  NearRowsResult result_;
};

// Computes w and f from a sample of `size` rows, half of each side; the costs of a side are shared out among its rows.
// A larger sample contains the smaller ones.
void NearRows::solve_sample(index_t size) {
  index_t count[2] = {0, 0};
  for (index_t i = 0; i < n_; ++i) ++count[task_.side()[i] > 0 ? 1 : 0];
  near_.clear();
  double cost[2] = {0, 0};
  Random random(0);
  for (index_t i = 0; i < n_; ++i) {
    const int side = task_.side()[i] > 0 ? 1 : 0;
    if (random.scaled(static_cast<std::uint32_t>(count[side])) >= size / 2) continue;
    near_.push_back(i);
    cost[side] += task_.cost()[i];
  }
  RestrictedProblem part(data_, task_, near_, cost[1] > 0 ? task_.cost_of_side(1) / cost[1] : 1.0,
                         cost[0] > 0 ? task_.cost_of_side(-1) / cost[0] : 1.0, pass_.team());
  InteriorPoint point(part.pass(), part.task(), data_.size());
  is_solved(point, kRough);
  point.copy_w(w_);
  score_rows(pass_, w_, f_.data());
  add_best_intercept();
}

// Takes the scores of an earlier solution; returns false if one is not finite.
bool NearRows::take_scores(const double* scores) {
  for (index_t i = 0; i < n_; ++i) {
    f_[i] = scores[task_.row(i)];
    if (!std::isfinite(f_[i])) return false;
  }
  add_best_intercept();
  return true;
}

// Takes the scores of a sample, and estimates how far they are from those of the solution by how far they are from
// those of a quarter of the sample: the rows within that distance of their margin count as near. Returns false if they
// are so many that solving with all rows is as fast. If only few rows fall short of their margin, the scores of the
// solution differ from f most of all in scale, which leaves the rows on their sides: the fewest rows may then do.
bool NearRows::take_scores_of_samples() {
  solve_sample(fewest_ / 4);
  if (result_.is_stopped) return false;
  AlignedBuffer<double> rough(n_, "scores");
  std::copy_n(f_.data(), n_, rough.data());
  solve_sample(fewest_);
  if (result_.is_stopped) return false;
  double squares = 0;
  for (index_t i = 0; i < n_; ++i) squares += (f_[i] - rough[i]) * (f_[i] - rough[i]);
  // The variance of the scores falls with the size of the sample, so the difference has three times that of f.
  constexpr double kDeviations = 2.5;
  constexpr index_t kFewShort = 6;  // one row in so many
  const double reach = kDeviations * std::sqrt(squares / (3 * static_cast<double>(n_)));
  index_t n_within = 0;
  index_t n_short = 0;
  for (index_t i = 0; i < n_; ++i) {
    n_within += std::abs(lack(i)) <= reach ? 1 : 0;
    n_short += lack(i) > 0 ? 1 : 0;
  }
  if (n_within > n_ / kMostShare) return n_short <= n_ / kFewShort;
  fewest_ = std::max(fewest_, n_within);
  return true;
}

// Scores of another problem may be off by a constant for this one, which would put too many rows of one side at their
// bounds: adds the best constant to them.
void NearRows::add_best_intercept() {
  const double shift = best_intercepts(task_, f_.data()).middle;
  for (index_t i = 0; i < n_; ++i) f_[i] += shift;
}

// Takes the rows with the scores nearest to their margin.
void NearRows::take_nearest() {
  auto distances = make_vector<double>(n_, "margins");
  for (index_t i = 0; i < n_; ++i) distances[at(i)] = std::abs(lack(i));
  auto sorted = distances;
  std::nth_element(sorted.begin(), sorted.begin() + fewest_, sorted.end());
  const double most = sorted[at(fewest_)];
  near_.clear();
  for (index_t i = 0; i < n_; ++i) {
    is_near_[at(i)] = distances[at(i)] <= most ? 1 : 0;
    if (is_near_[at(i)] != 0) near_.push_back(i);
  }
}

bool NearRows::is_wrong(index_t i) const {
  if (is_near_[at(i)] != 0) return false;
  constexpr double kOnMargin = 1e-10;  // a row whose score is no farther from its margin counts as being on it
  return v_[i] == 0 ? lack(i) > kOnMargin : lack(i) < -kOnMargin;
}

// Adds the rows that are on the wrong side of their margin to the near ones; returns their number.
index_t NearRows::take_wrong() {
  index_t n_wrong = 0;
  for (index_t i = 0; i < n_; ++i) {
    if (!is_wrong(i)) continue;
    is_near_[at(i)] = 1;
    ++n_wrong;
  }
  if (n_wrong == 0) return 0;
  near_.clear();
  for (index_t i = 0; i < n_; ++i) {
    if (is_near_[at(i)] != 0) near_.push_back(i);
  }
  return n_wrong;
}

// Fixes the other rows at the bound that their side of the margin asks for, and sums up their contributions.
void NearRows::fix_others() {
  fixed_value_ = 0;
  for (index_t i = 0; i < n_; ++i) {
    v_[i] = is_near_[at(i)] == 0 && lack(i) > 0 ? task_.side()[i] * task_.cost()[i] : 0.0;
    fixed_value_ += v_[i] * task_.label()[i];
  }
  sum_rows(pass_, v_, fixed_.data());
}

// Continues the interior point; returns whether the gap becomes small enough.
bool NearRows::is_solved(InteriorPoint& point, double tol) {
  for (;;) {
    if (point.gap() <= tol * point.objective()) return true;
    if (point.is_stuck() || point.n_steps() >= kMostSteps) return false;
    if (callback_ && callback_(result_.n_steps, point.objective(), point.gap())) {
      result_.is_stopped = true;
      return false;
    }
    point.step();
    ++result_.n_steps;
  }
}

NearRowsResult NearRows::run(const double* scores) {
  if (fewest_ > n_ / kMostShare) return result_;  // all rows would be near
  if (!(scores == nullptr ? take_scores_of_samples() : take_scores(scores))) return result_;
  AlignedBuffer<double> guess(n_, "scores");
  std::copy_n(f_.data(), n_, guess.data());
  take_nearest();
  bool is_rough = true;
  for (int round = 0; round < kMostRounds; ++round) {
    if (static_cast<index_t>(near_.size()) > n_ / kMostShare) return result_;
    fix_others();
    RestrictedProblem part(data_, task_, near_, 1.0, 1.0, pass_.team());
    InteriorPoint point(part.pass(), part.task(), data_.size(), {fixed_.data(), fixed_value_});
    if (is_rough) {
      if (!is_solved(point, kRough)) return result_;
      point.copy_w(w_);
      score_rows(pass_, w_, f_.data());
      index_t n_wrong = 0;
      for (index_t i = 0; i < n_; ++i) n_wrong += is_wrong(i) ? 1 : 0;
      if (n_wrong > fewest_ / 8) {              // the guess was far off: take more of the rows that are nearest by it
        if (scores == nullptr) return result_;  // the samples have told how many rows to take
        std::copy_n(guess.data(), n_, f_.data());
        fewest_ *= 3;
        if (fewest_ > n_ / kMostShare) return result_;
        take_nearest();
        continue;
      }
      is_rough = false;
      if (take_wrong() > 0) continue;
    }
    if (!is_solved(point, tol_)) return result_;
    // A few steps more cost little this close to the solution, and make up for what the other rows add to the gap.
    constexpr int kStepsMore = 2;
    for (int step = 0; step < kStepsMore && !point.is_stuck(); ++step) point.step();
    point.copy_w(w_);
    auto of_part = make_vector<double>(part.task().n(), "dual variables");
    point.copy_v(of_part.data());
    for (std::size_t k = 0; k < near_.size(); ++k) v_[near_[k]] = of_part[k];
    score_rows(pass_, w_, f_.data());
    if (take_wrong() == 0) {
      result_.is_solved = true;
      return result_;
    }
  }
  return result_;
}

}  // namespace

bool has_many_rows(const MarginTask& task, index_t n_features, bool has_start) {
  return task.n() >= std::max(has_start ? kManyRows : kManyWithoutStart, kManyPerFeature * (n_features + 1));
}

NearRowsResult solve_near_rows(const MarginData& data, const MarginTask& task, RowPass& pass, double tol,
                               const double* scores, const NearRowsCallback& is_stopped, double* v, double* w) {
  return NearRows(data, task, pass, tol, is_stopped, v, w).run(scores);
}

}  // namespace fastpu::detail
