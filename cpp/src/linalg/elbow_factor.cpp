#include "linalg/elbow_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fastpu::detail {

void ElbowFactor::reserve(index_t n) {
  if (n <= capacity_) return;
  constexpr const char* kWhatFor = "the factored system of the rows on the margin";
  const index_t capacity = round_up(std::max<index_t>({32, n, capacity_ + capacity_ / 2}), kPanelRows);
  auto values = AlignedBuffer<double>::zeros(place(capacity, capacity), kWhatFor);
  for (index_t r = 0; r < end_; ++r) std::copy_n(row(r), end_ - r, values.data() + place(r, capacity));
  values_ = std::move(values);
  for (auto* kept : {&inverse_, &ones_, &labels_, &work_, &solution_}) {
    auto longer = AlignedBuffer<double>::zeros(capacity, kWhatFor);
    std::copy_n(kept->data(), end_, longer.data());
    *kept = std::move(longer);
  }
  capacity_ = capacity;
}

// Solves U u = `solution_`, in the order of the rows.
void ElbowFactor::backward(double* u) const {
  triangle_->solve(triangle(), solution_.data());
  for (index_t k = 0; k < size(); ++k) u[k] = solution_[slots_[at(k)]];
}

double ElbowFactor::add(const double* column, double diagonal, double label) {
  reserve(end_ + 1);
  double* x = work_.data();
  work_.clear();
  for (index_t k = 0; k < size(); ++k) x[slots_[at(k)]] = column[k] + shift_;
  forward(x);
  const double whole = diagonal + shift_;
  const double left = whole - loops_->dot(x, x, end_);
  const double pivot = left / std::abs(whole);  // below 0 where the kernel is indefinite, whatever the diagonal
  if (!(pivot > kLeastPivot)) return pivot;
  append(std::sqrt(left), 1 - loops_->dot(x, ones_.data(), end_), label - loops_->dot(x, labels_.data(), end_));
  return pivot;
}

double ElbowFactor::add_features(const double* x, const double* first, double label) {
  reserve(end_ + 1);
  rest_.assign(x, x + n_features_);
  rest_.push_back(std::sqrt(shift_));
  work_.clear();
  if (end_ > 0) {
    loops_->add(rest_.data(), -1, first, n_features_);
    rest_.back() = 0;
  }
  const double whole = loops_->dot(rest_.data(), rest_.data(), width());
  for (int time = 0; time < 2; ++time) {  // twice, and the q are orthogonal up to rounding
    for (index_t k = 0; k < end_; ++k) {
      const double part = loops_->dot(vector(k), rest_.data(), width());
      loops_->add(rest_.data(), -part, vector(k), width());
      work_[k] += part;
    }
  }
  // The same differences of the two right-hand sides, of which the first is 1.
  double one = 1;
  if (end_ > 0) {
    const index_t slot = slots_[0];
    one = -loops_->dot(work_.data(), ones_.data(), end_);
    label -= labels_[slot] * row(slot)[0] + loops_->dot(work_.data(), labels_.data(), end_);
    work_[slot] += row(slot)[0];
  }
  const double root = std::sqrt(loops_->dot(rest_.data(), rest_.data(), width()));
  const double distance = whole > 0 ? root / std::sqrt(whole) : whole;
  if (distance <= kLeastDistance) return 0;
  if (is_dependent(distance)) return distance;
  for (const double each : rest_) vectors_.push_back(each / root);
  append(root, one, label);
  return distance;
}

// Adds the column `work_` with `root` on the diagonal, and the new entries of the right-hand sides.
void ElbowFactor::append(double root, double one, double label) {
  for (index_t r = 0; r < end_; ++r) row(r)[end_ - r] = work_[r];
  row(end_)[0] = root;
  inverse_[end_] = 1 / root;
  ones_[end_] = one / root;
  labels_[end_] = label / root;
  slots_.push_back(end_);
  ++end_;
}

// The column of a row that goes is left out of U, and rotations bring what its row has in the columns behind to 0: they
// turn it together with each of the rows below, whose diagonals stay where they are.
void ElbowFactor::remove(index_t k) {
  constexpr index_t kMostEmpty = 16;
  const index_t slot = slots_[at(k)];
  slots_.erase(slots_.begin() + k);
  rotate(slot);
  inverse_[slot] = ones_[slot] = labels_[slot] = 0;
  if (!vectors_.empty()) std::fill_n(vector(slot), width(), 0.0);
  if (end_ - size() > kMostEmpty || size() == 0) close_up();
}

void ElbowFactor::rotate(index_t slot) {
  const index_t before = slot / kPanelRows * kPanelRows;
  const index_t width_after = width_in_use();
  double* carried = work_.data();  // what is left of the row, by column
  std::fill(carried + before, carried + slot + 1, 0.0);
  std::copy_n(row(slot) + 1, width_after - slot - 1, carried + slot + 1);
  double one = ones_[slot];
  double label = labels_[slot];
  const bool has_vectors = !vectors_.empty();
  if (has_vectors) rest_.assign(vector(slot), vector(slot) + width());
  double c[kPanelRows];
  double s[kPanelRows];
  for (index_t first = before; first < width_after; first += kPanelRows) {
    for (index_t r = first; r < first + kPanelRows; ++r) {
      c[r - first] = 1;
      s[r - first] = 0;
      if (r <= slot || inverse_[r] == 0) continue;
      double* values = row(r);
      const double root = std::sqrt(values[0] * values[0] + carried[r] * carried[r]);
      const double cosine = values[0] / root;
      const double sine = carried[r] / root;
      c[r - first] = cosine;
      s[r - first] = sine;
      values[0] = root;
      inverse_[r] = 1 / root;
      const auto turn = [&](double& of_row, double& of_carried) {
        const double kept = of_row;
        of_row = cosine * kept + sine * of_carried;
        of_carried = cosine * of_carried - sine * kept;
      };
      for (index_t l = r + 1; l < first + kPanelRows; ++l) turn(values[l - r], carried[l]);
      turn(ones_[r], one);
      turn(labels_[r], label);
      if (has_vectors) loops_->rotate(rest_.data(), vector(r), cosine, sine, width());
    }
    const index_t behind = first + kPanelRows;
    triangle_->turn(row(first) + kPanelRows, capacity_ - first, carried + behind, c, s, width_after - behind);
  }
}

// Moves the rows to the first slots, in their order.
void ElbowFactor::close_up() {
  for (index_t k = 0; k < size(); ++k) {
    const index_t slot = slots_[at(k)];
    double* to = row(k);
    const double* from = row(slot);
    for (index_t l = k; l < size(); ++l) to[l - k] = from[slots_[at(l)] - slot];
    for (auto* values : {&inverse_, &ones_, &labels_}) (*values)[k] = (*values)[slot];
    if (!vectors_.empty()) std::copy_n(vector(slot), width(), vector(k));
  }
  for (auto* values : {&inverse_, &ones_, &labels_}) std::fill(values->data() + size(), values->data() + end_, 0.0);
  end_ = size();
  std::iota(slots_.begin(), slots_.end(), index_t{0});
  if (!vectors_.empty()) vectors_.resize(at(end_ * width()));
}

// weights = sum_k factors[k] q_k, of the features
void ElbowFactor::combine(const double* factors, double* weights) const {
  std::fill_n(weights, n_features_, 0.0);
  for (index_t r = 0; r < end_; ++r) loops_->add(weights, factors[r], vector(r), n_features_);
}

void ElbowFactor::solve_labels(double* u, double& mu, double* weights) const {
  const double ones = loops_->dot(ones_.data(), ones_.data(), end_);
  mu = -loops_->dot(ones_.data(), labels_.data(), end_) / ones;
  for (index_t r = 0; r < width_in_use(); ++r) solution_[r] = -labels_[r] - mu * ones_[r];
  if (weights != nullptr) combine(solution_.data(), weights);
  backward(u);
}

void ElbowFactor::solve(const double* b, double total, double* u, double& mu, double* weights) const {
  std::fill_n(solution_.data(), width_in_use(), 0.0);
  for (index_t k = 0; k < size(); ++k) solution_[slots_[at(k)]] = b[k];
  forward(solution_.data());
  const double ones = loops_->dot(ones_.data(), ones_.data(), end_);
  const double shifted = (loops_->dot(ones_.data(), solution_.data(), end_) - total) / ones;
  for (index_t r = 0; r < end_; ++r) solution_[r] -= shifted * ones_[r];
  if (weights != nullptr) combine(solution_.data(), weights);
  backward(u);
  mu = shifted + shift_ * total;
}

void ElbowFactor::express_last(double* u) const {
  std::copy_n(work_.data(), width_in_use(), solution_.data());
  backward(u);
}

}  // namespace fastpu::detail
