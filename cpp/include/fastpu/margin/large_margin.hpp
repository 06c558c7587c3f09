// Linear large-margin classifiers whose loss may be turned down row by row: f(x) = w'x + b0, m_i = y_i f(x_i),
//
//     min over w, b0 of  P = 1/2 |w|^2 + sum_i c_i [ (1 - m_i)_+ + s_i m_i ],    s_i in {0, 1}, c_i >= 0
//
// s = 0 is the weighted linear SVM; s_i = 1 where m_i < 0 is a step of the difference-of-convex iteration for the psi
// loss. b0 is not penalised. The dual is
//
//     max D = sum beta_i + sum c_i s_i - 1/2 |sum beta_i y_i x_i|^2
//         subject to  sum beta_i y_i = 0,  -c_i s_i <= beta_i <= c_i (1 - s_i)
//
// with w = sum beta_i y_i x_i, and P - D certifies a solution whatever found it. w is unique; b0 need not be: for the w
// that was found the interval of best intercepts is computed exactly, and its middle is taken (its finite end where it
// is half-infinite).
//
// The engine belongs to one data set and serves any labels, costs and s: X is centred (which moves b0 alone), and what
// depends on X alone is computed once. Ways to a solution:
//
//     bounds              every beta at its bound, where that is optimal: as for small costs that balance
//     active set          from a guess of the rows at bounds that is nearly right: a start, or an interior point
//     coordinate descent  for sparse or many features, while it gets on: O(entries of X) for each round
//     interior point      primal-dual, with (p + 1) x (p + 1) systems: O(n p^2) for each of some 10 to 20 steps; of
//                         many rows, only those near their margin take part
//     smo                 smo.hpp, for more than 2000 features, tightened until the gap holds
//     iadmm               iadmm.hpp
//
// Sources: Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples" (the
// problem and IADMM); Mehrotra 1992, Ferris and Munson 2002 (interior point); Hsieh et al. 2008 (coordinate descent).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

namespace detail {
class MarginData;
}

struct MarginProblem {
  const std::int8_t* labels = nullptr;   // y: +1 or -1 for every row
  const double* costs = nullptr;         // c; rows of cost 0 are left out
  const std::uint8_t* slopes = nullptr;  // s; null: 0
};

enum class MarginSolver { exact, iadmm };
enum class BStep { automatic, exact, linear };

struct MarginOptions {
  MarginSolver solver = MarginSolver::exact;
  double tol = 1e-9;  // of P - D, relative to P
  // Of interior-point steps, SMO's pairs or IADMM's iterations; 0: 200, max(10^7, 100 n) or 10^5.
  index_t max_iter = 0;
  BStep b_step = BStep::automatic;  // of IADMM: exact up to 2000 features
  double rho = 0;                   // of IADMM; 0: the mean of the costs
  double eps = 0;                   // of IADMM: stop by its residuals instead of by the gap
};

// A result of the same engine to start from, for whatever problem.
struct MarginStart {
  const double* beta = nullptr;
  double intercept = 0;
  const double* decision = nullptr;  // null: not known
};

enum class MarginStatus {
  gap,        // P - D <= tol P
  eps,        // the residuals of IADMM are below eps
  max_iter,   // out of iterations
  precision,  // as good as rounding allows, but not within tol
  callback
};
enum class MarginMethod { bounds, active_set, interior_point, coordinate_descent, smo, iadmm };

struct MarginResult {
  std::vector<double> coef;  // w
  double intercept = 0;      // b0
  double intercept_low = 0;  // the best intercepts; may be infinite
  double intercept_high = 0;
  double objective = 0;          // P
  double gap = 0;                // P - D >= 0
  std::vector<double> beta;      // of every row, 0 where the cost is 0
  std::vector<double> decision;  // f of every row
  index_t n_iter = 0;
  MarginStatus status = MarginStatus::gap;
  MarginMethod method = MarginMethod::bounds;
};

// What a callback sees now and then; true stops the fit.
struct MarginRound {
  index_t n_iter;
  double objective;  // P of the moment
  double gap;
};
using MarginCallback = std::function<bool(const MarginRound&)>;

using MarginRows = std::variant<DenseView<float>, DenseView<double>, CsrView<float>, CsrView<double>>;

class LargeMarginEngine {
 public:
  // What x shows must outlive the engine. Throws std::invalid_argument if X has no row, or its squares overflow.
  LargeMarginEngine(const MarginRows& x, Isa isa, Team& team);
  ~LargeMarginEngine();
  LargeMarginEngine(LargeMarginEngine&&) = delete;
  LargeMarginEngine& operator=(LargeMarginEngine&&) = delete;
  LargeMarginEngine(const LargeMarginEngine&) = delete;
  LargeMarginEngine& operator=(const LargeMarginEngine&) = delete;

  index_t n_rows() const;
  index_t n_features() const;

  // Throws std::invalid_argument for labels, costs, slopes or options out of range. Several threads may call it at
  // once.
  MarginResult solve(const MarginProblem& problem, const MarginOptions& options, const MarginStart* start,
                     const MarginCallback& callback, Team& team) const;

 private:
  std::unique_ptr<detail::MarginData> data_;
};

}  // namespace fastpu
