// Linear large-margin classifiers with a loss that is reduced for some rows: f(x) = w'x + b0, m_i = y_i f(x_i),
//
//     min over w, b0 of  P = 1/2 |w|^2 + sum_i c_i [ (1 - m_i)_+ + s_i m_i ],    s_i in {0, 1}, c_i >= 0
//
// s = 0 is the weighted linear SVM; s_i = 1 where m_i < 0 is a step of the difference-of-convex iteration for the psi
// loss. b0 is not penalised. The dual is
//
//     max D = sum beta_i + sum c_i s_i - 1/2 |sum beta_i y_i x_i|^2
//         subject to  sum beta_i y_i = 0,  -c_i s_i <= beta_i <= c_i (1 - s_i)
//
// with w = sum beta_i y_i x_i, and P - D certifies a solution of any solver. w is unique, but b0 need not be: the
// interval of best intercepts for w is computed exactly, and its middle is taken (its finite end if it is
// half-infinite).
//
// An engine belongs to one data set and solves problems of any labels, costs and s: X is centred (which changes b0
// alone), and quantities of X alone are computed once. Solvers:
//
//     bounds              every beta at its bound, if that is optimal, as for small costs that balance
//     active set          if a start, descent or an interior point nearly shows which rows are at bounds
//     coordinate descent  for sparse or many features, as long as it makes progress: O(entries of X) for each round;
//                         a few rounds mostly show the active set where costs are small or features more than rows
//     interior point      primal-dual, with (p + 1) x (p + 1) systems: O(n p^2) for each of some 10 to 20 steps; of
//                         many rows, only those near their margin take part
//     smo                 smo.hpp, for more than 2000 features, tightened until the gap holds
//     iadmm               iadmm.hpp
//
// Each is kept because it is the fastest somewhere. Times without it and with it: bounds 17 and 2 ms for 8,282 pages of
// webkb at small C; active set 1.2 s and .02 s for 2,000 x 1,500 rows at C = 1e-4; coordinate descent 6.9 s and .4 s
// for webkb at C = 1; interior point 3 s and .04 s for spambase at C = 100; interior point of the rows near their
// margin .24 s and .07 s for cod-rna. IADMM is the method of the paper, used on request.
//
// Sources: Liu, Zheng, Shen and Wang, "An iterative algorithm to learn from positive and unlabeled examples" (the
// problem and IADMM); Mehrotra 1992, Ferris and Munson 2002 (interior point); Hsieh et al. 2008 (coordinate descent).
#pragma once

#include <memory>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/svm/margin_problem.hpp"

namespace fastpu {

namespace detail {
class MarginData;
}

class LargeMarginEngine {
 public:
  // The arrays that x points to must outlive the engine. Throws std::invalid_argument if X has no row, or its squares
  // overflow.
  LargeMarginEngine(const RowsView& x, Team& team);
  ~LargeMarginEngine();

  index_t n_rows() const;

  // Throws std::invalid_argument for labels, costs, slopes or options out of range. Several threads may call it at
  // once.
  MarginResult solve(const MarginProblem& problem, const MarginOptions& options, const MarginStart* start,
                     const MarginCallback& callback, Team& team) const;

 private:
  std::unique_ptr<detail::MarginData> data_;
};

}  // namespace fastpu
