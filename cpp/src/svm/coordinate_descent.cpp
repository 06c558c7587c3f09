#include "svm/coordinate_descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "common/compiler_hints.hpp"
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

// Blocks of n_together rows in a random order, and the rows of a block in a random order.
void CoordinateDescent::shuffle(index_t n_together) {
  const index_t n_blocks = n_active_ / n_together;
  const auto block = [&](index_t b) { return order_.begin() + b * n_together; };
  const auto below = [&](index_t n) { return index_t{random_.scaled(static_cast<std::uint32_t>(n))}; };
  for (index_t b = 0; b < n_blocks; ++b) {
    const index_t other = b + below(n_blocks - b);
    if (other != b) std::swap_ranges(block(b), block(b + 1), block(other));
  }
  if (n_together == 1) return;
  for (index_t k = 0; k < n_active_; ++k) {
    const index_t end = std::min(n_active_, (k / n_together + 1) * n_together);
    std::swap(order_[at(k)], order_[at(k + below(end - k))]);
  }
}

template <class View>
void CoordinateDescent::go_over(const View& x) {
  // Short rows, of which a cache does not hold all, are taken from memory a few neighbours at a time. Longer ones, and
  // those in a cache, take no less time so, and some problems a fifth more rounds.
  using Value = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  constexpr double kShort = 512;       // bytes of the values of a row
  constexpr double kCache = 1 << 24;   // of those of all active rows
  const double row_bytes = static_cast<double>(sizeof(Value)) * mean_row_size(x);
  const bool are_grouped = row_bytes <= kShort && static_cast<double>(n_active_) * row_bytes > kCache;
  const index_t n_together = are_grouped ? 8 : 1;
  const index_t n_ahead = are_grouped ? 4 : 1;
  shuffle(n_together);
  double most = -kInfinity;
  double least = kInfinity;
  gap_ = 0;
  n_met_ = 0;
  const auto leave_out = [&](index_t& k) {
    --n_active_;
    std::swap(order_[at(k)], order_[at(n_active_)]);
    --k;
  };
  for (index_t k = 0; k < n_active_; ++k) {
    if (k % 1024 == 0) team_.poll();
    const index_t i = order_[at(k)];
    const index_t row = task_.row(i);
    constexpr index_t kLine = 64;
    const index_t ahead = task_.row(order_[at(std::min(k + n_ahead, n_active_ - 1))]);  // is prefetched
    if constexpr (View::kIsDense) {
      constexpr index_t kMost = 4096;
      const auto* const bytes = reinterpret_cast<const char*>(x.row(ahead));
      const index_t end = std::min<index_t>(kMost, x.n_cols * static_cast<index_t>(sizeof(Value)));
      for (index_t b = 0; b < end; b += kLine) FASTPU_PREFETCH(bytes + b);
    } else {
      const index_t end = x.row_start[ahead + 1];
      constexpr auto kSize = static_cast<index_t>(sizeof(Value));
      for (index_t e = x.row_start[ahead]; e < end; e += kLine / kSize) FASTPU_PREFETCH(x.values + e);
      for (index_t e = x.row_start[ahead]; e < end; e += kLine / 4) FASTPU_PREFETCH(x.columns + e);
    }
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
    n_met_ += (inside > 0 && inside < cost) == (next != 0 && side * next < cost) ? 0 : 1;
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

// sum = the free rows, each times its factor
template <class View>
void CoordinateDescent::add_free(const View& x, const std::vector<double>& factors, double* sum) const {
  team_.poll();
  std::fill_n(sum, data_.n_features(), 0.0);
  for (std::size_t k = 0; k < free_.size(); ++k) add_row(x, task_.row(free_[k]), factors[k], sum);
}

// Minimises over the free rows with their sum fixed, so that neither the intercept nor the centre counts: the products
// of rows as they are make the matrix. At the minimum all rows lack the same, which is returned: it is the intercept.
// `lack` is what they lack without an intercept.
template <class View>
double CoordinateDescent::find_move(const View& x, std::vector<double> lack, std::vector<double>& move) const {
  const std::size_t n = free_.size();
  std::vector<double> direction(n);
  std::vector<double> product(n);
  AlignedBuffer<double> sum(data_.n_features(), "conjugate gradients");
  double weight = 0;
  for (const index_t i : free_) weight += 1 / curvature_[i];
  double mean = 0;
  double before = kInfinity;
  double most_gain = 0;
  constexpr int kMostSteps = 40;
  for (int step = 0; step < kMostSteps; ++step) {
    mean = 0;
    for (std::size_t k = 0; k < n; ++k) mean += lack[k] / curvature_[free_[k]] / weight;
    double length = 0;
    for (std::size_t k = 0; k < n; ++k) length += (lack[k] - mean) * (lack[k] - mean) / curvature_[free_[k]];
    for (std::size_t k = 0; k < n; ++k) {
      direction[k] = (lack[k] - mean) / curvature_[free_[k]] + length / before * direction[k];
    }
    before = length;
    add_free(x, direction, sum.data());
    double curvature = 0;
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
      product[k] = dot(x, task_.row(free_[k]), sum.data());
      curvature += direction[k] * product[k];
      squares += direction[k] * direction[k] * curvature_[free_[k]];
    }
    constexpr double kFlat = 1e-6;  // where rows are equal, only bounds end a move
    if (!(curvature > kFlat * squares)) break;
    const double share = length / curvature;
    std::size_t n_beyond = 0;
    for (std::size_t k = 0; k < n; ++k) {
      move[k] += share * direction[k];
      lack[k] -= share * product[k];
      const double inside = task_.side()[free_[k]] * (v_[free_[k]] + move[k]);
      n_beyond += inside < 0 || inside > task_.cost()[free_[k]] ? 1U : 0U;
    }
    // Ends where little is gained, or so many rows would be beyond their bounds that these are not the free ones.
    most_gain = std::max(most_gain, share * length);
    constexpr double kLittle = 0.05;
    constexpr std::size_t kMany = 5;
    if (share * length < kLittle * most_gain || kMany * n_beyond > n) break;
  }
  return mean;
}

// Goes as far as the objective grows, each row up to its bounds. Returns whether this is all the way.
template <class View>
bool CoordinateDescent::move_free(const View& x) {
  const std::size_t n = free_.size();
  const index_t p = data_.n_features();
  std::vector<double> lack(n);
  for (std::size_t k = 0; k < n; ++k) {
    const index_t i = free_[k];
    lack[k] = task_.label()[i] - dot(x, task_.row(i), w_.data()) + centre_w_ + sum_ * (along_[i] - centre_squared_);
  }
  std::vector<double> move(n);
  const double intercept = find_move(x, lack, move);
  std::vector<double> change(n);
  AlignedBuffer<double> w_change(p, "conjugate gradients");
  constexpr int kMostHalvings = 3;
  for (int n_halvings = 0; n_halvings <= kMostHalvings; ++n_halvings) {
    const double share = std::ldexp(1.0, -n_halvings);
    double sum = 0;
    double along = 0;
    double gain = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const index_t i = free_[k];
      const double side = task_.side()[i];
      change[k] = side * std::clamp(side * (v_[i] + share * move[k]), 0.0, task_.cost()[i]) - v_[i];
      sum += change[k];
      along += change[k] * along_[i];
      gain += change[k] * lack[k];
    }
    add_free(x, change, w_change.data());
    for (index_t f = 0; f < p; ++f) {
      const double of_centred = w_change[f] - sum * data_.centre()[f];
      gain -= 0.5 * of_centred * of_centred;
    }
    if (!(gain - sum * (intercept + gamma_ * (sum_ + 0.5 * sum)) > 0)) continue;
    for (std::size_t k = 0; k < n; ++k) v_[free_[k]] += change[k];
    for (index_t f = 0; f < p; ++f) w_[f] += w_change[f];
    centre_w_ += along;
    sum_ += sum;
    dual_ += gain;
    // Rounds would find it too; with it, a text at C = 1 takes 36 rounds in place of 46.
    intercept_ = intercept - gamma_ * sum_;
    return n_halvings == 0;
  }
  return false;
}

void CoordinateDescent::move_free() {
  if (--n_wait_ > 0) return;
  free_.clear();
  for (index_t k = 0; k < n_active_; ++k) {
    const index_t i = order_[at(k)];
    const double inside = task_.side()[i] * v_[i];
    if (inside > 0 && inside < task_.cost()[i]) free_.push_back(i);
  }
  constexpr index_t kFew = 50;  // one of so many rows
  if (kFew * n_met_ > static_cast<index_t>(free_.size())) return;
  const bool is_all_the_way = std::visit([&](const auto& x) { return move_free(x); }, data_.x());
  patience_ = is_all_the_way ? kRoundsBetween : 2 * patience_;
  n_wait_ = patience_;
}

void CoordinateDescent::round() {
  std::visit([&](const auto& x) { go_over(x); }, data_.x());
  intercept_ += gamma_ * sum_;
  gap_ += std::abs(intercept_ * sum_);
}

}  // namespace fastpu::detail
