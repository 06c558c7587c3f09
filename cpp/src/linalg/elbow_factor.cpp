#include "linalg/elbow_factor.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fastpu::detail {

void ElbowFactor::clear() {
  size_ = 0;
  inverse_.clear();
  ones_.clear();
  labels_.clear();
  vectors_.clear();
}

void ElbowFactor::reserve(index_t n) {
  if (n <= capacity_) return;
  const index_t capacity = round_up(std::max<index_t>({32, n, capacity_ + capacity_ / 2}), kRowsAtOnce);
  AlignedBuffer<double> values(place(capacity, capacity), "the factored system of the rows on the margin");
  for (index_t k = 0; k < size_; ++k) std::copy_n(row(k), size_ - k, values.data() + place(k, capacity));
  values_ = std::move(values);
  capacity_ = capacity;
  work_.resize(at(capacity));
}

// x = U'^-1 x
void ElbowFactor::forward(double* x) const {
  const double* rows[kRowsAtOnce];
  for (index_t first = 0; first < size_; first += kRowsAtOnce) {
    const index_t end = std::min(first + kRowsAtOnce, size_);
    for (index_t k = first; k < end; ++k) {
      x[k] *= inverse_[at(k)];
      for (index_t c = k + 1; c < end; ++c) x[c] -= x[k] * row(k)[c - k];
      rows[k - first] = row(k) + (end - k);
    }
    loops_->subtract_rows(x + end, rows, x + first, end - first, size_ - end);
  }
}

// x = U^-1 x
void ElbowFactor::backward(double* x) const {
  const double* rows[kRowsAtOnce];
  double sums[kRowsAtOnce];
  for (index_t first = (size_ - 1) / kRowsAtOnce * kRowsAtOnce; first >= 0; first -= kRowsAtOnce) {
    const index_t end = std::min(first + kRowsAtOnce, size_);
    for (index_t k = first; k < end; ++k) rows[k - first] = row(k) + (end - k);
    loops_->dots(rows, end - first, x + end, size_ - end, sums);
    for (index_t k = end - 1; k >= first; --k) {
      double left = x[k] - sums[k - first];
      for (index_t c = end - 1; c > k; --c) left -= row(k)[c - k] * x[c];  // the newest last, as it is waited for
      x[k] = left * inverse_[at(k)];
    }
  }
}

double ElbowFactor::add(const double* column, double diagonal, double label) {
  reserve(size_ + 1);
  double* x = work_.data();
  for (index_t k = 0; k < size_; ++k) x[k] = column[k] + shift_;
  forward(x);
  const double whole = diagonal + shift_;
  const double left = whole - loops_->dot(x, x, size_);
  const double pivot = left / std::abs(whole);  // below 0 where the kernel is indefinite, whatever the diagonal
  if (!(pivot > kLeastPivot)) return pivot;
  append(std::sqrt(left), 1 - loops_->dot(x, ones_.data(), size_), label - loops_->dot(x, labels_.data(), size_));
  return pivot;
}

double ElbowFactor::add_features(const double* x, const double* first, double label) {
  reserve(size_ + 1);
  rest_.assign(x, x + n_features_);
  rest_.push_back(std::sqrt(shift_));
  std::fill_n(work_.data(), size_, 0.0);
  if (size_ > 0) {
    loops_->add(rest_.data(), -1, first, n_features_);
    rest_.back() = 0;
  }
  const double whole = loops_->dot(rest_.data(), rest_.data(), width());
  for (int time = 0; time < 2; ++time) {  // twice, and the q are orthogonal up to rounding
    for (index_t k = 0; k < size_; ++k) {
      const double part = loops_->dot(vector(k), rest_.data(), width());
      loops_->add(rest_.data(), -part, vector(k), width());
      work_[at(k)] += part;
    }
  }
  // The same differences of the two right-hand sides, of which the first is 1.
  double one = 1;
  if (size_ > 0) {
    one = -loops_->dot(work_.data(), ones_.data(), size_);
    label -= labels_[0] * row(0)[0] + loops_->dot(work_.data(), labels_.data(), size_);
    work_[0] += row(0)[0];
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
  const double* x = work_.data();
  for (index_t k = 0; k < size_; ++k) row(k)[size_ - k] = x[k];
  row(size_)[0] = root;
  inverse_.push_back(1 / root);
  ones_.push_back(one / root);
  labels_.push_back(label / root);
  ++size_;
}

// Without column k, U has an entry below its diagonal in each of the columns behind: rotations of neighbouring rows
// bring these to 0.
void ElbowFactor::remove(index_t k) {
  for (index_t r = 0; r < k; ++r) {
    double* values = row(r) + (k - r);
    std::copy(values + 1, values + (size_ - k), values);
  }
  double* carried = work_.data();  // what is left of row k, from the column in question on
  std::copy_n(row(k) + 1, size_ - k - 1, carried);
  double one = ones_[at(k)];
  double label = labels_[at(k)];
  const bool has_vectors = !vectors_.empty();
  if (has_vectors) rest_.assign(vector(k), vector(k) + width());
  for (index_t r = k + 1; r < size_; ++r) {
    const double* next = row(r);
    const double root = std::hypot(carried[0], next[0]);
    const double c = carried[0] / root;
    const double s = next[0] / root;
    double* to = row(r - 1);
    to[0] = root;
    inverse_[at(r - 1)] = 1 / root;
    loops_->rotate(carried + 1, next + 1, to + 1, c, s, size_ - r - 1);
    ++carried;
    if (has_vectors) {
      double* to_vector = vectors_.data() + (r - 1) * width();
      loops_->rotate(rest_.data(), vector(r), to_vector, c, s, width());
    }
    const double next_one = ones_[at(r)];
    const double next_label = labels_[at(r)];
    ones_[at(r - 1)] = c * one + s * next_one;
    one = c * next_one - s * one;
    labels_[at(r - 1)] = c * label + s * next_label;
    label = c * next_label - s * label;
  }
  --size_;
  if (has_vectors) vectors_.resize(at(size_ * width()));
  inverse_.pop_back();
  ones_.pop_back();
  labels_.pop_back();
}

// weights = sum_k factors[k] q_k, of the features
void ElbowFactor::combine(const double* factors, double* weights) const {
  std::fill_n(weights, n_features_, 0.0);
  for (index_t k = 0; k < size_; ++k) loops_->add(weights, factors[k], vector(k), n_features_);
}

void ElbowFactor::solve_labels(double* u, double& mu, double* weights) const {
  const double ones = loops_->dot(ones_.data(), ones_.data(), size_);
  mu = -loops_->dot(ones_.data(), labels_.data(), size_) / ones;
  for (index_t k = 0; k < size_; ++k) u[k] = -labels_[at(k)] - mu * ones_[at(k)];
  if (weights != nullptr) combine(u, weights);
  backward(u);
}

void ElbowFactor::solve(const double* b, double total, double* u, double& mu, double* weights) const {
  std::copy_n(b, size_, u);
  forward(u);
  const double ones = loops_->dot(ones_.data(), ones_.data(), size_);
  const double shifted = (loops_->dot(ones_.data(), u, size_) - total) / ones;
  for (index_t k = 0; k < size_; ++k) u[k] -= shifted * ones_[at(k)];
  if (weights != nullptr) combine(u, weights);
  backward(u);
  mu = shifted + shift_ * total;
}

void ElbowFactor::fit(const double* weights, double total, double* u) const {
  for (index_t k = 0; k < size_; ++k) {
    u[k] = loops_->dot(vector(k), weights, n_features_) + vector(k)[n_features_] * std::sqrt(shift_) * total;
  }
  backward(u);
}

void ElbowFactor::express_last(double* u) const {
  std::copy_n(work_.data(), size_, u);
  backward(u);
}

}  // namespace fastpu::detail
