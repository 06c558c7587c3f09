// The reduced problem of PUAL, a box-constrained quadratic programme of the size of the labelled positives:
//
//     min over alpha in [0, C]^n of  1/2 alpha'Q alpha - 2 1'alpha,    Q = H H', H of n rows and r columns
//
// It is the dual of eq. (7). With the smooth part of (7) minimised over everything but the hinge variables, the scores
// of the positives are f = -1 + Q alpha, and the objective is
//
//     P = C sum_i (1 - f_i)_+ + 1/2 alpha'Q alpha
//
// The duality gap P - D = C sum_i (1 - f_i)_+ - alpha'(1 - f) >= 0 bounds the error of any alpha. f is unique; alpha is
// unique if Q is regular.
//
// Three ways are tried in turn:
//
//     bounds          alpha = C, which is the solution if it leaves all f <= 1, as it does for small C
//     active set      for Q of few rows: coordinate descent guesses which alpha are at a bound, the equations of the
//                     others are solved exactly, and the guess is corrected
//     interior point  Mehrotra's predictor and corrector: O(n r^2) for each of 10 to 20 steps, or O(n^3) if n <= r
//
// Source: Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", (7) to (18).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"

namespace fastpu {

namespace detail {
class BoxGram;
}

struct PualDualOptions {
  double tol = 1e-9;       // of P - D, relative to P
  index_t max_iter = 200;  // most rounds and steps
};

enum class PualStatus {
  gap,          // P - D <= tol P
  closed_form,  // of least squares
  max_iter,     // most iterations reached
  precision,    // as good as rounding allows, but not within tol
  callback
};

struct PualResult {
  std::vector<double> alpha;
  double objective = 0;  // P
  double gap = 0;        // P - D
  index_t n_iter = 0;
  PualStatus status = PualStatus::gap;
  // After every round of the active set and every step of the interior point.
  std::vector<index_t> iterations;
  std::vector<double> objectives;
  std::vector<double> gaps;
};

// What a callback is given after every round or step; it returns true to stop.
struct PualRound {
  index_t cost;  // the number of the cost that is solved for
  index_t n_iter;
  double objective;
  double gap;
};
using PualCallback = std::function<bool(const PualRound&)>;

// The dual for one H, which is solved for any C.
class PualDual {
 public:
  // H is copied. Throws std::invalid_argument if it has no row or no column, or its squares overflow. `blas` must
  // outlive this, and must be limited to one thread here and in solve().
  PualDual(BlasMatrix<const double> factor, const Blas& blas, Team& team);
  ~PualDual();

  // Returns the results for the costs, in their order; small problems are solved side by side if there is no callback.
  // A callback that stops leaves the later costs out. Throws std::invalid_argument for a cost or options out of range.
  // Several threads may call it at once.
  std::vector<PualResult> solve(const std::vector<double>& costs, const PualDualOptions& options,
                                const PualCallback& callback, Team& team) const;

 private:
  std::unique_ptr<detail::BoxGram> gram_;
};

}  // namespace fastpu
