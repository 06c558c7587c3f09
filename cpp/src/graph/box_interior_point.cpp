#include "graph/box_interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fastpu/linalg/tiled_blas.hpp"

namespace fastpu::detail {

// The optimality conditions, with room = C - alpha and the multipliers low and high of the two bounds, are
//
//     Q alpha - 2 - low + high = 0,   alpha low = 0,   room high = 0,   all four >= 0.
//
// A step solves them linearised, with mu in place of the zeros of the products. Elimination leaves
// (Q + 1 / theta) d_alpha = b, 1 / theta = low / alpha + high / room, which is solved as
//
//     (1 + T Q T) y = T b,  d_alpha = T y,  T = theta^1/2                        where Q is a matrix, or with
//     (1 + H' theta H) d_w = H' theta b,  d_alpha = theta (b - H d_w)            where it is H H'.

namespace {

constexpr int kPatience = 8;

using Vector = std::vector<double>;

// (Q + 1 / theta)^-1
class Newton {
 public:
  Newton(const BoxGram& gram, Team& team)
      : gram_(gram),
        team_(team),
        size_(gram.is_dense() ? gram.n() : gram.rank()),
        matrix_(size_ * size_, "the normal equations"),
        scaled_(gram.is_dense() ? 0 : gram.n() * gram.rank(), "the normal equations"),
        root_(static_cast<std::size_t>(gram.n())),
        small_(static_cast<std::size_t>(size_)) {}

  // Returns whether the matrix could be factored: where theta is very large, rounding may leave one that is not
  // positive definite.
  bool factor(const Vector& theta) {
    const index_t n = gram_.n();
    for (index_t i = 0; i < n; ++i) root_[at(i)] = std::sqrt(theta[at(i)]);
    const TiledBlas tiled(gram_.blas(), team_);
    const BlasMatrix<double> matrix(matrix_.data(), size_, size_);
    if (gram_.is_dense()) {
      const double* q = gram_.gram().data;
      for (index_t i = 0; i < n; ++i) {
        for (index_t j = 0; j <= i; ++j) matrix_[i * n + j] = root_[at(i)] * q[i * n + j] * root_[at(j)];
      }
    } else {
      const double* h = gram_.factor().data;
      const index_t rank = gram_.rank();
      constexpr index_t kRows = 1024;
      team_.for_each(count_blocks(n, kRows), [&](index_t block, int) {
        for (index_t i = block * kRows; i < std::min(n, (block + 1) * kRows); ++i) {
          for (index_t k = 0; k < rank; ++k) scaled_[i * rank + k] = root_[at(i)] * h[i * rank + k];
        }
      });
      tiled.gram(BlasMatrix<const double>(scaled_.data(), n, rank), matrix);
    }
    for (index_t i = 0; i < size_; ++i) matrix_[i * size_ + i] += 1;
    return tiled.cholesky(matrix) == 0;
  }

  void solve(const Vector& theta, const Vector& b, Vector& x) {
    const index_t n = gram_.n();
    const Blas& blas = gram_.blas();
    const BlasMatrix<const double> matrix(matrix_.data(), size_, size_);
    if (gram_.is_dense()) {
      for (index_t i = 0; i < n; ++i) small_[at(i)] = root_[at(i)] * b[at(i)];
    } else {
      for (index_t i = 0; i < n; ++i) x[at(i)] = theta[at(i)] * b[at(i)];
      blas.gemv(Op::transpose, 1.0, gram_.factor(), x.data(), 0.0, small_.data());
    }
    const BlasMatrix<double> right(small_.data(), 1, size_);
    blas.trsm(Op::transpose, matrix, right);
    blas.trsm(Op::none, matrix, right);
    if (gram_.is_dense()) {
      for (index_t i = 0; i < n; ++i) x[at(i)] = root_[at(i)] * small_[at(i)];
      return;
    }
    blas.gemv(Op::none, 1.0, gram_.factor(), small_.data(), 0.0, x.data());
    for (index_t i = 0; i < n; ++i) x[at(i)] = theta[at(i)] * (b[at(i)] - x[at(i)]);
  }

 private:
  const BoxGram& gram_;
  Team& team_;
  index_t size_;
  AlignedBuffer<double> matrix_;
  AlignedBuffer<double> scaled_;
  Vector root_;
  Vector small_;
};

double longest(const Vector& x, const Vector& d) {
  double fastest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) fastest = std::max(fastest, -d[i] / x[i]);
  return fastest;
}

}  // namespace

BoxPoint box_interior_point(const BoxGram& gram, double cost, double tol, index_t max_steps,
                            const std::function<bool(index_t, const BoxValue&)>& on_step, Team& team) {
  const index_t n = gram.n();
  const auto size = static_cast<std::size_t>(n);
  Vector alpha(size, 1.0);
  Vector q_alpha(size);
  gram.apply(alpha.data(), q_alpha.data());
  double along = 0;
  for (const double value : q_alpha) along += value;
  // Starts from the multiple of the vector of ones with the least objective, but well inside the box.
  const double start = std::min(2 * static_cast<double>(n) / along, 0.5 * cost);
  Vector room(size, cost - start);
  Vector low(size);
  Vector high(size);
  for (std::size_t i = 0; i < size; ++i) {
    alpha[i] = start;
    q_alpha[i] *= start;
    const double slope = q_alpha[i] - 2;
    low[i] = std::max(slope, 0.0) + 1;
    high[i] = low[i] - slope;
  }
  BoxPoint best{alpha, box_value(n, cost, alpha.data(), q_alpha.data())};
  Newton newton(gram, team);
  Vector theta(size);
  Vector dual(size);
  Vector right(size);
  Vector d_alpha(size);
  Vector d_room(size);
  Vector d_low(size);
  Vector d_high(size);
  const auto move = [&](double sigma_mu, bool second_order) {
    for (std::size_t i = 0; i < size; ++i) {
      double of_low = sigma_mu - alpha[i] * low[i];
      double of_high = sigma_mu - room[i] * high[i];
      if (second_order) {
        of_low -= d_alpha[i] * d_low[i];
        of_high += d_alpha[i] * d_high[i];
      }
      right[i] = dual[i] + of_low / alpha[i] - of_high / room[i];
      // The right-hand sides are kept here until d_alpha is known.
      d_low[i] = of_low;
      d_high[i] = of_high;
    }
    newton.solve(theta, right, d_alpha);
    for (std::size_t i = 0; i < size; ++i) {
      d_low[i] = (d_low[i] - low[i] * d_alpha[i]) / alpha[i];
      d_high[i] = (d_high[i] + high[i] * d_alpha[i]) / room[i];
      d_room[i] = -d_alpha[i];
    }
  };
  int n_idle = 0;
  double last_mu = 0;
  while (best.value.gap > tol * best.value.objective && best.n_steps < max_steps && n_idle < kPatience) {
    team.poll();
    double mu = 0;
    for (std::size_t i = 0; i < size; ++i) {
      mu += alpha[i] * low[i] + room[i] * high[i];
      theta[i] = 1 / (low[i] / alpha[i] + high[i] / room[i]);
      dual[i] = 2 - q_alpha[i] + low[i] - high[i];
    }
    mu /= 2 * static_cast<double>(n);
    if (!newton.factor(theta)) break;
    move(0, false);
    const double primal = std::min(1.0, 1 / std::max({longest(alpha, d_alpha), longest(room, d_room), 1e-300}));
    const double of_dual = std::min(1.0, 1 / std::max({longest(low, d_low), longest(high, d_high), 1e-300}));
    double reached = 0;
    for (std::size_t i = 0; i < size; ++i) {
      reached += (alpha[i] + primal * d_alpha[i]) * (low[i] + of_dual * d_low[i]) +
                 (room[i] + primal * d_room[i]) * (high[i] + of_dual * d_high[i]);
    }
    const double share = std::max(reached / (2 * static_cast<double>(n) * mu), 0.0);
    move(mu * share * share * share, true);
    const double fastest =
        std::max({longest(alpha, d_alpha), longest(room, d_room), longest(low, d_low), longest(high, d_high), 1e-300});
    const double length = std::min(1.0, 0.995 / fastest);
    if (!std::isfinite(length) || !std::isfinite(d_alpha[0])) break;
    for (std::size_t i = 0; i < size; ++i) {
      alpha[i] += length * d_alpha[i];
      room[i] -= length * d_alpha[i];
      low[i] += length * d_low[i];
      high[i] += length * d_high[i];
    }
    gram.apply(alpha.data(), q_alpha.data());
    const BoxValue value = box_value(n, cost, alpha.data(), q_alpha.data());
    ++best.n_steps;
    const bool is_progress = value.gap < 0.9 * best.value.gap || (last_mu > 0 && mu < 0.9 * last_mu);
    last_mu = mu;
    n_idle = is_progress ? 0 : n_idle + 1;
    if (value.gap < best.value.gap) {
      best.value = value;
      best.alpha = alpha;
    }
    if (on_step(best.n_steps, best.value)) {
      best.is_stopped = true;
      break;
    }
  }
  return best;
}

}  // namespace fastpu::detail
