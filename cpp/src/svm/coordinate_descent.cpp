#include "svm/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "linalg/row_products.hpp"

namespace fastpu::detail {

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
          add_row(x, row, v_[i], w_.data());
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

template <class View>
void CoordinateDescent::go_over(const View& x) {
  for (index_t k = 0; k < n_active_; ++k) {
    std::swap(order_[at(k)], order_[at(k + random_.below(n_active_ - k))]);
  }
  double most = -kInfinity;
  double least = kInfinity;
  gap_ = 0;
  const auto leave_out = [&](index_t& k) {
    --n_active_;
    std::swap(order_[at(k)], order_[at(n_active_)]);
    --k;
  };
  for (index_t k = 0; k < n_active_; ++k) {
    if (k % 1024 == 0) team_.poll();
    const index_t i = order_[at(k)];
    const index_t row = task_.row(i);
#if defined(__GNUC__)
    if constexpr (std::is_same_v<View, CsrView<typename View::Value>>) {  // prefetch the next row
      constexpr index_t kLine = 64;
      const index_t next = task_.row(order_[at(std::min(k + 1, n_active_ - 1))]);
      const index_t end = x.row_start[next + 1];
      for (index_t e = x.row_start[next]; e < end; e += kLine / 8) __builtin_prefetch(x.values + e);
      for (index_t e = x.row_start[next]; e < end; e += kLine / 4) __builtin_prefetch(x.columns + e);
    }
#endif
    const double side = task_.side()[i];
    const double cost = task_.cost()[i];
    // The score of the centred row without b0, for which intercept_ + gamma sum v_i stands.
    const double product = dot(x, row, w_.data()) - centre_w_ - sum_ * (along_[i] - centre_squared_);
    const double lack = side * (task_.label()[i] - product - intercept_ - gamma_ * sum_);
    const double inside = side * v_[i];
    double projected = lack;
    if (inside <= 0) {
      if (lack < least_) {  // likely to stay at its bound
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
    add_row(x, row, change, w_.data());
    centre_w_ += change * along_[i];
    sum_ += change;
    dual_ += change * (task_.label()[i] - product) - 0.5 * change * change * (curvature_[i] - gamma_);
  }
  violation_ = 2 * std::max(most, -least);
  most_ = most > 0 ? most : kInfinity;
  least_ = least < 0 ? least : -kInfinity;
}

void CoordinateDescent::round() {
  std::visit([&](const auto& x) { go_over(x); }, data_.x());
  intercept_ += gamma_ * sum_;
  gap_ += std::abs(intercept_ * sum_);
}

}  // namespace fastpu::detail
