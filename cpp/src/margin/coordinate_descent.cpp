#include "margin/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace fastpu::detail {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
double dot(const CsrView<T>& x, index_t row, const double* w) {
  // Four sums, or each addition would wait for the one before.
  constexpr int kLanes = 4;
  double lanes[kLanes] = {};
  index_t e = x.row_start[row];
  const index_t end = x.row_start[row + 1];
  for (; e + kLanes <= end; e += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(x.values[e + l]) * w[x.columns[e + l]];
  }
  double sum = 0;
  for (; e < end; ++e) sum += static_cast<double>(x.values[e]) * w[x.columns[e]];
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class T>
double dot(const DenseView<T>& x, index_t row, const double* w) {
  constexpr int kLanes = 8;
  double lanes[kLanes] = {};
  const T* values = x.row(row);
  index_t f = 0;
  for (; f + kLanes <= x.n_cols; f += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += static_cast<double>(values[f + l]) * w[f + l];
  }
  double sum = 0;
  for (; f < x.n_cols; ++f) sum += static_cast<double>(values[f]) * w[f];
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class T>
double squared_norm(const CsrView<T>& x, index_t row) {
  double sum = 0;
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    sum += static_cast<double>(x.values[e]) * static_cast<double>(x.values[e]);
  }
  return sum;
}

template <class T>
double squared_norm(const DenseView<T>& x, index_t row) {
  double sum = 0;
  for (index_t f = 0; f < x.n_cols; ++f) sum += static_cast<double>(x.row(row)[f]) * static_cast<double>(x.row(row)[f]);
  return sum;
}

template <class T>
void add(const CsrView<T>& x, index_t row, double factor, double* w) {
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    w[x.columns[e]] += factor * static_cast<double>(x.values[e]);
  }
}

template <class T>
void add(const DenseView<T>& x, index_t row, double factor, double* w) {
  const T* values = x.row(row);
  for (index_t f = 0; f < x.n_cols; ++f) w[f] += factor * static_cast<double>(values[f]);
}

}  // namespace

CoordinateDescent::CoordinateDescent(const MarginData& data, const MarginTask& task, const double* v, Team& team)
    : data_(data),
      task_(task),
      team_(team),
      v_(task.n(), "dual variables"),
      w_(AlignedBuffer<double>::zeros(data.n_features(), "coefficients")),
      curvature_(task.n(), "squares of rows"),
      along_(task.n(), "squares of rows"),
      order_(make_vector<index_t>(task.n(), "the order of rows")),
      n_active_(task.n()),
      gamma_(data.size()) {
  std::copy_n(v, task.n(), v_.data());
  std::iota(order_.begin(), order_.end(), index_t{0});
  for (index_t f = 0; f < data.n_features(); ++f) centre_squared_ += data.centre()[f] * data.centre()[f];
  std::visit(
      [&](const auto& x) {
        for (index_t i = 0; i < task.n(); ++i) {
          const index_t row = task.row(i);
          along_[i] = dot(x, row, data.centre());
          curvature_[i] = std::max(squared_norm(x, row) - 2 * along_[i] + centre_squared_, 0.0) + gamma_;
          if (v_[i] == 0) continue;
          add(x, row, v_[i], w_.data());
          centre_w_ += v_[i] * along_[i];
          sum_ += v_[i];
        }
      },
      data.x());
  dual_ = task.constant();
  for (index_t i = 0; i < task.n(); ++i) dual_ += task.label()[i] * v_[i];
  for (index_t f = 0; f < data.n_features(); ++f) {
    const double w = w_[f] - sum_ * data.centre()[f];
    dual_ -= 0.5 * w * w;
  }
  use_all();
}

void CoordinateDescent::use_all() {
  n_active_ = task_.n();
  most_ = kInfinity;
  least_ = -kInfinity;
}

// A number below `below`, which is less than 2^32.
index_t CoordinateDescent::draw(index_t below) {
  seed_ ^= seed_ << 13;
  seed_ ^= seed_ >> 7;
  seed_ ^= seed_ << 17;
  return static_cast<index_t>(((seed_ >> 32) * static_cast<std::uint64_t>(below)) >> 32);
}

template <class View>
void CoordinateDescent::go_over(const View& x) {
  for (index_t k = 0; k < n_active_; ++k) {
    std::swap(order_[static_cast<std::size_t>(k)], order_[static_cast<std::size_t>(k + draw(n_active_ - k))]);
  }
  double most = -kInfinity;
  double least = kInfinity;
  gap_ = 0;
  const auto leave_out = [&](index_t& k) {
    --n_active_;
    std::swap(order_[static_cast<std::size_t>(k)], order_[static_cast<std::size_t>(n_active_)]);
    --k;
  };
  for (index_t k = 0; k < n_active_; ++k) {
    if (k % 1024 == 0) team_.poll();
    const index_t i = order_[static_cast<std::size_t>(k)];
    const index_t row = task_.row(i);
#if defined(__GNUC__)
    if constexpr (std::is_same_v<View, CsrView<typename View::Value>>) {  // the next row is not to be waited for
      constexpr index_t kLine = 64;
      const index_t next = task_.row(order_[static_cast<std::size_t>(std::min(k + 1, n_active_ - 1))]);
      const index_t end = x.row_start[next + 1];
      for (index_t e = x.row_start[next]; e < end; e += kLine / 8) __builtin_prefetch(x.values + e);
      for (index_t e = x.row_start[next]; e < end; e += kLine / 4) __builtin_prefetch(x.columns + e);
    }
#endif
    const double side = task_.side()[i];
    const double cost = task_.cost()[i];
    // f of the centred row, without b0 and with what stands for it
    const double product = dot(x, row, w_.data()) - centre_w_ - sum_ * (along_[i] - centre_squared_);
    const double lack = side * (task_.label()[i] - product - intercept_ - gamma_ * sum_);
    const double inside = side * v_[i];
    double projected = lack;
    if (inside <= 0) {
      if (lack < least_) {  // likely to stay
        leave_out(k);
        continue;
      }
      projected = std::max(lack, 0.0);
    } else if (inside >= cost) {
      if (lack > most_) {
        leave_out(k);
        continue;
      }
      projected = std::min(lack, 0.0);
    }
    gap_ += lack > 0 ? (cost - inside) * lack : -inside * lack;
    most = std::max(most, projected);
    least = std::min(least, projected);
    if (projected == 0) continue;
    const double next = side * std::clamp(inside + lack / curvature_[i], 0.0, cost);
    const double change = next - v_[i];
    if (change == 0) continue;
    v_[i] = next;
    add(x, row, change, w_.data());
    centre_w_ += change * along_[i];
    sum_ += change;
    dual_ += change * (task_.label()[i] - product) - 0.5 * change * change * (curvature_[i] - gamma_);
  }
  most_ = most > 0 ? most : kInfinity;
  least_ = least < 0 ? least : -kInfinity;
}

void CoordinateDescent::round() {
  std::visit([&](const auto& x) { go_over(x); }, data_.x());
  intercept_ += gamma_ * sum_;
  gap_ += std::abs(intercept_ * sum_);
}

}  // namespace fastpu::detail
