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
//     active set          where a start or an interior point shows nearly which rows are at bounds
//     coordinate descent  for sparse or many features, as long as it makes progress: O(entries of X) for each round
//     interior point      primal-dual, with (p + 1) x (p + 1) systems: O(n p^2) for each of some 10 to 20 steps; of
//                         many rows, only those near their margin take part
//     smo                 smo.hpp, for more than 2000 features, tightened until the gap holds
//     iadmm               iadmm.hpp
//
// Sources: Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples" (the
// problem and IADMM); Mehrotra 1992, Ferris and Munson 2002 (interior point); Hsieh et al. 2008 (coordinate descent).
#pragma once

#include <memory>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/margin/margin_problem.hpp"

namespace fastpu {

namespace detail {
class MarginData;
}

class LargeMarginEngine {
 public:
  // The arrays that x points to must outlive the engine. Throws std::invalid_argument if X has no row, or its squares
  // overflow.
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
