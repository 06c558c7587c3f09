#include "fastpu/judge/hull_distance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/to_text.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "linalg/elbow_factor.hpp"
#include "linalg/vector_kernels.hpp"

namespace fastpu {

namespace {

using detail::ElbowFactor;

constexpr double kLargest = 1e300;
// A smaller spread of the rows counts as 0, since its square would underflow.
constexpr double kLeastSpread = 1e-290;
// The largest slack of a solution, as a share of the largest distance from the first row, and of the sizes of sums.
constexpr double kSlack = 1e-10;
constexpr double kProductRounding = 2e-15;
// The number of rows kept as candidates of a pass over all rows, and the share of the largest slack that a candidate
// must still have to be taken.
constexpr index_t kMostCandidates = 64;
constexpr double kWorthTaking = 0.1;
// After so many successive steps without a nearer point, only rounding errors are left.
constexpr int kMostStalls = 50;
// The factor of S is computed anew after so many changes, and so many for each of its rows, since rounding errors add
// up.
constexpr index_t kLeastChanges = 1000;
constexpr index_t kChangesPerRow = 10;
constexpr index_t kBlockRows = 128;

}  // namespace

// Rows and points are translated by the first row and scaled by a power of two such that the largest entry is about 1:
// nothing overflows, and rows far from 0 lose no digits.
class HullDistance::Search {
 public:
  Search(DenseView<double> z, Isa isa, Team& team)
      : z_(z), loops_(&detail::vector_kernels(isa)), capacity_(std::min(z.n_rows, z.n_cols + 1)) {
    measure(team);
    factor_ = std::make_unique<ElbowFactor>(shift_, isa);
    corral_ = AlignedBuffer<double>(capacity_ * z.n_cols, "rows near a point of their hull");
    scores_ = make_vector<double>(z.n_rows, "scores of rows");
    is_inside_ = make_vector<std::uint8_t>(z.n_rows, "marks of rows");
    stalled_at_ = make_vector<index_t>(z.n_rows, "marks of rows");
    for (auto* values : {&point_, &residual_, &entering_}) *values = make_vector<double>(z.n_cols, "a point");
    for (auto* values : {&weights_, &slopes_, &column_, &direction_}) {
      *values = reserve_vector<double>(capacity_ + 1, "weights");
    }
  }

  index_t n_features() const { return z_.n_cols; }

  HullNearest nearest(const double* point, index_t max_steps, Team& team) {
    if (max_steps < 1) throw std::invalid_argument("max_steps must be >= 1, got " + std::to_string(max_steps));
    place(point);
    HullNearest result;
    if (spread_ == 0) {  // all rows are equal
      start();
      residual_ = point_;
    } else {
      try {
        search(max_steps, team, result);
      } catch (...) {
        clear();
        throw;
      }
    }
    for (const double value : residual_) result.apart.push_back(value * unit_);
    result.rows = rows_;
    result.weights = weights_;
    return result;
  }

 private:
  struct Candidate {
    double slack;
    index_t row;
  };

  index_t size() const { return static_cast<index_t>(rows_.size()); }
  const double* corral_row(index_t j) const { return corral_.data() + slots_[at(j)] * z_.n_cols; }

  // Checks the rows, and computes their spread, unit and mean square.
  void measure(Team& team) {
    if (z_.n_rows < 1) throw std::invalid_argument("rows must be at least one, got none");
    double largest = 0;
    for (index_t i = 0; i < z_.n_rows; ++i) {
      if (i % kBlockRows == 0) team.poll();
      for (index_t f = 0; f < z_.n_cols; ++f) {
        const double value = z_.row(i)[f];
        if (!(std::fabs(value) <= kLargest)) {
          throw std::invalid_argument("rows must have entries of at most 1e300, got " + detail::to_text(value) +
                                      " in row " + std::to_string(i));
        }
        largest = std::max(largest, std::fabs(value));
        spread_ = std::max(spread_, std::fabs(value - z_.data[f]));
      }
    }
    if (spread_ < kLeastSpread) spread_ = 0;
    if (spread_ == 0) return;
    unit_ = std::ldexp(1.0, std::ilogb(spread_));
    per_unit_ = 1 / unit_;
    offset_ = largest * per_unit_ * std::sqrt(static_cast<double>(z_.n_cols));
    double most = 0;
    double sum = 0;
    for (index_t i = 0; i < z_.n_rows; ++i) {
      if (i % kBlockRows == 0) team.poll();
      double square = 0;
      for (index_t f = 0; f < z_.n_cols; ++f) {
        const double value = (z_.row(i)[f] - z_.data[f]) * per_unit_;
        square += value * value;
      }
      most = std::max(most, square);
      sum += square;
    }
    radius_ = std::sqrt(most);
    shift_ = sum / static_cast<double>(z_.n_rows);
  }

  void place(const double* point) {
    double square = 0;
    for (index_t f = 0; f < z_.n_cols; ++f) {
      if (!std::isfinite(point[f])) {
        throw std::invalid_argument("point must have finite entries, got " + detail::to_text(point[f]));
      }
      point_[at(f)] = (point[f] - z_.data[f]) * per_unit_;
      square += spread_ > 0 ? point_[at(f)] * point_[at(f)] : 0 * point_[at(f)];  // NaN where that is infinite
    }
    if (!std::isfinite(square)) {
      throw std::invalid_argument("point must be so near to the rows that squares do not overflow");
    }
    reach_ = std::sqrt(square);
  }

  void clear() {
    factor_->clear();
    rows_.clear();
    slots_.clear();
    weights_.clear();
    free_slots_.clear();
    for (index_t slot = capacity_ - 1; slot >= 0; --slot) free_slots_.push_back(slot);
    std::fill(is_inside_.begin(), is_inside_.end(), std::uint8_t{0});
    n_changes_ = 0;
  }

  void start() {
    clear();
    fetch(0);
    add_to_factor();
    take_in(0, 1.0);
  }

  // Sets entering_ to row i, and column_ to its products with the rows of S.
  void fetch(index_t i) {
    const double* row = z_.row(i);
    for (index_t f = 0; f < z_.n_cols; ++f) entering_[at(f)] = (row[f] - z_.data[f]) * per_unit_;
    column_.resize(weights_.size());
    for (index_t j = 0; j < size(); ++j) column_[at(j)] = loops_->dot(corral_row(j), entering_.data(), z_.n_cols);
  }

  // Adds the row that has been fetched to the factor, unless it depends on S; returns whether it was added.
  bool add_to_factor() {
    const double square = loops_->dot(entering_.data(), entering_.data(), z_.n_cols);
    return !ElbowFactor::is_dependent(factor_->add(column_.data(), square, 0.0));
  }

  void take_in(index_t i, double weight) {
    const index_t slot = free_slots_.back();
    free_slots_.pop_back();
    std::copy(entering_.begin(), entering_.end(), corral_.data() + slot * z_.n_cols);
    rows_.push_back(i);
    slots_.push_back(slot);
    weights_.push_back(weight);
    is_inside_[at(i)] = 1;
    ++n_changes_;
  }

  // Removes rows of weight 0 from S, and their entries from `values`.
  void drop_rows(std::vector<double>& values) {
    for (index_t j = size() - 1; j >= 0; --j) {
      if (weights_[at(j)] > 0) continue;
      factor_->remove(j);
      is_inside_[at(rows_[at(j)])] = 0;
      free_slots_.push_back(slots_[at(j)]);
      rows_.erase(rows_.begin() + j);
      slots_.erase(slots_.begin() + j);
      weights_.erase(weights_.begin() + j);
      values.erase(values.begin() + j);
      ++n_changes_;
    }
  }

  // Computes p - x, its length and direction, and the slopes u'z of the rows of S, which are equal at the nearest
  // point of the affine hull.
  void update_residual() {
    double total = 0;
    for (const double weight : weights_) total += weight;
    for (double& weight : weights_) weight /= total;
    residual_ = point_;
    for (index_t j = 0; j < size(); ++j) loops_->add(residual_.data(), -weights_[at(j)], corral_row(j), z_.n_cols);
    length_ = std::sqrt(loops_->dot(residual_.data(), residual_.data(), z_.n_cols));
    if (!(length_ > 0)) return;
    unit_residual_ = residual_;
    for (double& value : unit_residual_) value /= length_;
    slopes_.resize(weights_.size());
    level_ = 0;
    for (index_t j = 0; j < size(); ++j) {
      slopes_[at(j)] = loops_->dot(corral_row(j), unit_residual_.data(), z_.n_cols);
      level_ += weights_[at(j)] * slopes_[at(j)];
    }
    uneven_ = 0;
    for (const double slope : slopes_) uneven_ = std::max(uneven_, std::fabs(slope - level_));
    first_slope_ = loops_->dot(z_.data, unit_residual_.data(), z_.n_cols);
    allowed_ = kSlack * radius_ + kProductRounding * (offset_ + radius_ * (radius_ + reach_) / length_);
  }

  double slack_of(index_t i) const {
    return (loops_->dot(z_.row(i), unit_residual_.data(), z_.n_cols) - first_slope_) * per_unit_ - level_;
  }

  // Moves x to the nearest point of the affine hull of S, or as far as the weights stay >= 0, and removes rows of
  // weight 0.
  void solve_affine(Team& team, index_t& n_steps) {
    for (double& slope : slopes_) slope *= length_;
    for (;;) {
      team.poll();
      ++n_steps;
      if (size() == 1) {
        weights_[0] = 1;
        return;
      }
      direction_.resize(weights_.size());
      double level = 0;
      factor_->solve(slopes_.data(), 0.0, direction_.data(), level);
      double step = 1;
      index_t first = -1;
      for (index_t j = 0; j < size(); ++j) {
        const double weight = weights_[at(j)];
        const double change = direction_[at(j)];
        if (weight + change > 0) continue;
        const double share = change < 0 ? weight / -change : 0.0;
        if (share > step) continue;
        step = share;
        first = j;
      }
      for (index_t j = 0; j < size(); ++j) weights_[at(j)] += step * direction_[at(j)];
      if (first < 0) return;
      weights_[at(first)] = 0;
      // The slopes approach their common level linearly; the updates of x leave them as they were.
      for (double& slope : slopes_) slope *= 1 - step;
      drop_rows(slopes_);
    }
  }

  // Adds a row to S. Returns false if it depends on S: it then has taken over weight from a row of S, and slopes have
  // changed.
  bool enter(index_t i) {
    fetch(i);
    double weight = 0;
    bool is_independent = true;
    while (size() == capacity_ || !add_to_factor()) {
      // The row is a combination of S (with coefficients of sum 1), so it can replace one of the rows in it.
      direction_.resize(weights_.size());
      double level = 0;
      factor_->solve(column_.data(), 1.0, direction_.data(), level);
      double step = kInfinity;
      index_t first = -1;
      for (index_t j = 0; j < size(); ++j) {
        if (!(direction_[at(j)] > 0) || weights_[at(j)] / direction_[at(j)] >= step) continue;
        step = weights_[at(j)] / direction_[at(j)];
        first = j;
      }
      if (first < 0) return false;
      for (index_t j = 0; j < size(); ++j) weights_[at(j)] -= step * direction_[at(j)];
      weights_[at(first)] = 0;
      weight += step;
      drop_rows(column_);
      is_independent = false;
    }
    take_in(i, weight);
    return is_independent;
  }

  // Computes the factor anew from the rows of S.
  void refactor(Team& team) {
    const std::vector<index_t> rows = rows_;
    const std::vector<double> weights = weights_;
    clear();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      team.poll();
      fetch(rows[r]);
      if (add_to_factor()) take_in(rows[r], weights[r]);
    }
    n_changes_ = 0;
  }

  // Returns the largest slack of all rows, and keeps the rows with the largest slack as candidates.
  double check_all_rows(Team& team) {
    const index_t n = z_.n_rows;
    team.for_each(count_blocks(n, kBlockRows), [&](index_t block, int) {
      const index_t end = std::min(n, (block + 1) * kBlockRows);
      for (index_t i = block * kBlockRows; i < end; ++i) scores_[at(i)] = slack_of(i);
    });
    candidates_.clear();
    double most = 0;
    for (index_t i = 0; i < n; ++i) {
      const double slack = scores_[at(i)];
      most = std::max(most, slack);
      if (slack > allowed_ && is_inside_[at(i)] == 0 && stalled_at_[at(i)] != n_nearer_) {
        candidates_.push_back({slack, i});
      }
    }
    const auto is_before = [](const Candidate& a, const Candidate& b) {
      return a.slack != b.slack ? a.slack > b.slack : a.row < b.row;
    };
    if (candidates_.size() > at(kMostCandidates)) {
      std::nth_element(candidates_.begin(), candidates_.begin() + kMostCandidates, candidates_.end(), is_before);
      candidates_.resize(at(kMostCandidates));
    }
    std::sort(candidates_.begin(), candidates_.end(), is_before);
    return most;
  }

  // Returns the candidate with the largest slack at present if that exceeds `least`, else -1.
  index_t best_candidate(double least) const {
    index_t best = -1;
    for (const Candidate& candidate : candidates_) {
      if (is_inside_[at(candidate.row)] != 0 || stalled_at_[at(candidate.row)] == n_nearer_) continue;
      const double slack = slack_of(candidate.row);
      if (!(slack > least)) continue;
      least = slack;
      best = candidate.row;
    }
    return best;
  }

  void search(index_t max_steps, Team& team, HullNearest& result) {
    if (rows_.empty()) start();
    if (n_changes_ >= std::max(kLeastChanges, kChangesPerRow * size())) refactor(team);
    candidates_.clear();
    ++n_nearer_;
    double nearest = kInfinity;
    double largest_slack = 0;   // in the last pass over all rows
    double uneven = kInfinity;  // uneven_ before the last correction
    index_t entered = -1;
    int n_stalls = 0;
    for (;;) {
      team.poll();
      update_residual();
      if (!(length_ > 0)) return;
      if (uneven_ > allowed_ && uneven_ < 0.5 * uneven) {
        uneven = uneven_;
        solve_affine(team, result.n_steps);
        continue;
      }
      uneven = kInfinity;
      if (length_ < nearest) {
        nearest = length_;
        n_stalls = 0;
        ++n_nearer_;
      } else if (entered >= 0) {
        stalled_at_[at(entered)] = n_nearer_;
        ++n_stalls;
      }
      const bool is_over = n_stalls >= kMostStalls || result.n_steps >= max_steps;
      entered = is_over ? -1 : best_candidate(std::max(allowed_, kWorthTaking * largest_slack));
      if (entered < 0) {
        largest_slack = check_all_rows(team);
        if (candidates_.empty() || is_over) {
          result.slack = std::min(largest_slack, length_) * unit_;
          result.status = largest_slack <= allowed_     ? HullStatus::slack
                          : result.n_steps >= max_steps ? HullStatus::max_steps
                                                        : HullStatus::precision;
          return;
        }
        entered = candidates_.front().row;
      }
      const double slope = slack_of(entered) + level_;
      ++result.n_steps;
      if (enter(entered)) {
        slopes_.push_back(slope);
        solve_affine(team, result.n_steps);
      }
    }
  }

  DenseView<double> z_;
  const detail::VectorKernels* loops_;
  index_t capacity_;
  double spread_ = 0;
  double unit_ = 1;
  double per_unit_ = 1;
  double offset_ = 0;  // the largest distance of a row from 0
  double radius_ = 0;  // the largest distance of a row from the first one
  double shift_ = 1;
  double reach_ = 0;  // the distance of the point from the first row

  // S
  std::unique_ptr<ElbowFactor> factor_;
  AlignedBuffer<double> corral_;
  std::vector<index_t> rows_;
  std::vector<index_t> slots_;  // places in corral_
  std::vector<index_t> free_slots_;
  std::vector<double> weights_;
  index_t n_changes_ = 0;  // since the factor was made

  // x
  std::vector<double> point_;
  std::vector<double> residual_;  // p - x
  std::vector<double> unit_residual_;
  std::vector<double> slopes_;
  double length_ = 0;
  double level_ = 0;   // the mean of the slopes
  double uneven_ = 0;  // the largest distance of a slope from their mean
  double first_slope_ = 0;
  double allowed_ = 0;  // the largest slack of a solution

  // All rows
  std::vector<double> scores_;
  std::vector<std::uint8_t> is_inside_;
  std::vector<index_t> stalled_at_;  // n_nearer_ when the row last entered without making x nearer
  index_t n_nearer_ = 0;
  std::vector<Candidate> candidates_;

  std::vector<double> entering_;
  std::vector<double> column_;
  std::vector<double> direction_;
};

HullDistance::HullDistance(DenseView<double> rows, Isa isa, Team& team)
    : search_(std::make_unique<Search>(rows, isa, team)) {}
HullDistance::~HullDistance() = default;

index_t HullDistance::n_features() const { return search_->n_features(); }

HullNearest HullDistance::nearest(const double* point, index_t max_steps, Team& team) {
  return search_->nearest(point, max_steps, team);
}

}  // namespace fastpu
