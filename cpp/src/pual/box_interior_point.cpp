#include "pual/box_interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
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

constexpr int kPatience = 8;       // steps in a row without progress that end the iteration
constexpr double kProgress = 0.9;  // progress lowers the gap or mu at least by this factor

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
        root_(at(gram.n())),
        small_(at(size_)) {}

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
      team_.for_blocks(n, kRows, team_.n_threads(), [&](index_t first, index_t end, int) {
        for (index_t i = first; i < end; ++i) {
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

// A point inside the bounds and its multipliers, or the direction in which they move.
struct Iterate {
  explicit Iterate(std::size_t n) : alpha(n), room(n), low(n), high(n) {}

  Vector alpha;
  Vector room;
  Vector low;
  Vector high;
};

// Returns r where the first of the numbers becomes 0 after a step of length 1 / r in the direction.
double fastest_decrease(const Vector& numbers, const Vector& direction) {
  double fastest = 1e-300;
  for (std::size_t i = 0; i < numbers.size(); ++i) fastest = std::max(fastest, -direction[i] / numbers[i]);
  return fastest;
}

class InteriorPoint {
 public:
  // Starts from the multiple of the vector of ones with the least objective, but well inside the box.
  InteriorPoint(const BoxGram& gram, double cost, Team& team)
      : gram_(gram),
        cost_(cost),
        newton_(gram, team),
        n_(at(gram.n())),
        now_(n_),
        step_(n_),
        q_alpha_(n_),
        theta_(n_),
        dual_(n_),
        right_(n_) {
    std::fill(now_.alpha.begin(), now_.alpha.end(), 1.0);
    gram_.apply(now_.alpha.data(), q_alpha_.data());
    const double curvature = std::accumulate(q_alpha_.begin(), q_alpha_.end(), 0.0);
    const double start = std::min(2 * static_cast<double>(n_) / std::max(curvature, 0.0), 0.5 * cost);
    for (std::size_t i = 0; i < n_; ++i) {
      now_.alpha[i] = start;
      now_.room[i] = cost - start;
      q_alpha_[i] *= start;
      const double slope = q_alpha_[i] - 2;
      now_.low[i] = std::max(slope, 0.0) + 1;
      now_.high[i] = now_.low[i] - slope;
    }
  }

  const Vector& alpha() const { return now_.alpha; }
  BoxValue value() const { return box_value(cost_, now_.alpha, q_alpha_); }

  // Makes a step, and sets mu to the mean product before it. Returns false if rounding leaves no step.
  bool step(double& mu) {
    mu = linearise();
    if (!newton_.factor(theta_)) return false;
    find_direction(0, false);
    const double share = share_left(mu);
    find_direction(mu * share * share * share, true);
    const double length = std::min(1.0, 0.995 / std::max(primal_decrease(), dual_decrease()));
    if (!std::isfinite(length) || !std::isfinite(step_.alpha[0])) return false;
    for (std::size_t i = 0; i < n_; ++i) {
      now_.alpha[i] += length * step_.alpha[i];
      now_.room[i] += length * step_.room[i];
      now_.low[i] += length * step_.low[i];
      now_.high[i] += length * step_.high[i];
    }
    gram_.apply(now_.alpha.data(), q_alpha_.data());
    return true;
  }

 private:
  // Returns the mean product mu.
  double linearise() {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      sum += now_.alpha[i] * now_.low[i] + now_.room[i] * now_.high[i];
      theta_[i] = 1 / (now_.low[i] / now_.alpha[i] + now_.high[i] / now_.room[i]);
      dual_[i] = 2 - q_alpha_[i] + now_.low[i] - now_.high[i];
    }
    return sum / (2 * static_cast<double>(n_));
  }

  // The direction in which all products become `target`: the predictor, or the corrector, which also takes account of
  // the products of the predictor's own changes.
  void find_direction(double target, bool is_corrector) {
    for (std::size_t i = 0; i < n_; ++i) {
      double of_low = target - now_.alpha[i] * now_.low[i];
      double of_high = target - now_.room[i] * now_.high[i];
      if (is_corrector) {
        of_low -= step_.alpha[i] * step_.low[i];
        of_high -= step_.room[i] * step_.high[i];
      }
      right_[i] = dual_[i] + of_low / now_.alpha[i] - of_high / now_.room[i];
      // The right-hand sides are kept here until the direction of alpha is known.
      step_.low[i] = of_low;
      step_.high[i] = of_high;
    }
    newton_.solve(theta_, right_, step_.alpha);
    for (std::size_t i = 0; i < n_; ++i) {
      step_.room[i] = -step_.alpha[i];
      step_.low[i] = (step_.low[i] - now_.low[i] * step_.alpha[i]) / now_.alpha[i];
      step_.high[i] = (step_.high[i] - now_.high[i] * step_.room[i]) / now_.room[i];
    }
  }

  double primal_decrease() const {
    return std::max(fastest_decrease(now_.alpha, step_.alpha), fastest_decrease(now_.room, step_.room));
  }
  double dual_decrease() const {
    return std::max(fastest_decrease(now_.low, step_.low), fastest_decrease(now_.high, step_.high));
  }

  // The share of the mean product mu that would be left after the longest steps in the direction.
  double share_left(double mu) const {
    const double primal = std::min(1.0, 1 / primal_decrease());
    const double dual = std::min(1.0, 1 / dual_decrease());
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      sum += (now_.alpha[i] + primal * step_.alpha[i]) * (now_.low[i] + dual * step_.low[i]) +
             (now_.room[i] + primal * step_.room[i]) * (now_.high[i] + dual * step_.high[i]);
    }
    return std::max(sum / (2 * static_cast<double>(n_) * mu), 0.0);
  }

  const BoxGram& gram_;
  double cost_;
  Newton newton_;
  std::size_t n_;
  Iterate now_;
  Iterate step_;
  Vector q_alpha_;
  Vector theta_;
  Vector dual_;  // 2 - Q alpha + low - high
  Vector right_;
};

}  // namespace

BoxPoint box_interior_point(const BoxGram& gram, double cost, double tol, index_t max_steps,
                            const std::function<bool(index_t, const BoxValue&)>& on_step, Team& team) {
  InteriorPoint iteration(gram, cost, team);
  BoxPoint best{iteration.alpha(), iteration.value()};
  int n_idle = 0;
  double mu = 0;
  double last_mu = 0;
  while (best.value.gap > tol * best.value.objective && best.n_steps < max_steps && n_idle < kPatience) {
    team.poll();
    if (!iteration.step(mu)) break;
    const BoxValue value = iteration.value();
    ++best.n_steps;
    const bool is_progress = value.gap < kProgress * best.value.gap || (last_mu > 0 && mu < kProgress * last_mu);
    last_mu = mu;
    n_idle = is_progress ? 0 : n_idle + 1;
    if (value.gap < best.value.gap) {
      best.value = value;
      best.alpha = iteration.alpha();
    }
    if (on_step(best.n_steps, best.value)) break;
  }
  return best;
}

}  // namespace fastpu::detail
