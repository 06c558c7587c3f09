// The whole regularisation path of the weighted SVM, with every breakpoint: for all lam > 0
//
//     min over f = <w, phi(x)> + b0 of  sum_i c_i (1 - y_i f(x_i))_+ + lam/2 |w|^2,    0 < c_i <= inf
//
// where c_i = inf (in one class only) demands y_i f(x_i) >= 1. Its dual is
//
//     min_a  1/2 a'Qa - lam 1'a   subject to  y'a = 0,  0 <= a_i <= c_i,      Q_ij = y_i y_j K(x_i, x_j)
//
// and f(x) = (sum_j a_j y_j K(x, x_j) + a0) / lam; the C-SVM of fit_svm has C_i = c_i / lam and alpha = a / lam.
// Between breakpoints a and a0 are linear in lam. c = 1 gives SvmPath, c = inf for the labelled and 1 for the
// unlabelled rows (y = -1) PU-SvmPath.
//
// Above the first breakpoint a is constant: the class whose costs sum to less is at its costs, the other one as near to
// it in feature space as its costs allow. At a breakpoint the slopes (d, d0) of a and a0 for falling lam solve
//
//     min_d  1/2 d'Q_EE d + 1'd   subject to  y'd = 0,  d_i >= 0 where a_i = 0,  d_i <= 0 where a_i = c_i
//
// over the rows E on the margin, whatever number of rows arrive or leave at once, and however singular K is there. The
// path goes on to where the next row meets the margin or a bound, and a Newton step on the rows between their bounds
// takes away what rounding has added. The system of these rows is kept factored.
//
// Where the rows are shown (SvmPathOptions::linear) and have few features, K is not formed. The path carries lam w =
// X'(y a) as a value of its own, for products and sums over features of unlike scale lose the small ones, and a0 and
// lam w are what it returns. Each point's duality gap is looked at before it is returned.
//
// Time O(n m + m^2) for each breakpoint with m rows on the margin, and less where many lie close together: only rows
// that may soon meet the margin are followed from one to the next, under a bound for the others. Memory: what the
// kernel cache may use, m^2 / 2 values, and the values of a that change at each breakpoint.
//
// Sources: Hastie, Rosset, Tibshirani and Zhu 2004; Yao, Tang and Li, "The entire solution path for support vector
// machine in positive and unlabeled classification".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel_cache.hpp"

namespace fastpu {

struct SvmPathProblem {
  const index_t* rows = nullptr;  // distinct rows of the kernel's data
  index_t n = 0;
  const std::int8_t* labels = nullptr;  // y: +1 or -1
  const double* costs = nullptr;        // c: between 1e-100 and 1e100, or infinite in one of the classes
};

struct SvmPathOptions {
  // The rows behind the kernel where that is linear and they are dense, with as many rows as the kernel: then no kernel
  // rows are formed where there are few features, and a breakpoint costs O(n d + m^2).
  const DenseView<double>* linear = nullptr;
  double lam_min = 0;      // where to stop
  index_t max_events = 0;  // the path ends at the breakpoint with this event; 0 stands for 50 n + 1000
  Isa isa = best_isa();
};

enum class PathStatus {
  zero,        // down to lam = 0: the last segment goes there
  trivial,     // w = 0 for every lam, and f the sign of the heavier class
  lam_min,     // down to lam_min
  max_events,  // out of events
  precision,   // lam is so small that rounding of K hides the margin
  stalled,     // rounding hides which rows are on the margin
  indefinite,  // the kernel has a direction of negative curvature there: no path goes on
  callback
};

// What happens to a row at a breakpoint.
enum class PathEvent : std::uint8_t {
  start,       // on the margin, between its bounds, from above the first breakpoint on
  from_right,  // a = 0, meets the margin
  from_left,   // a = c, meets the margin
  to_right,    // leaves it with a = 0
  to_left      // leaves it with a = c
};

// A breakpoint as a callback sees it; true stops the path.
struct PathRound {
  index_t n_breakpoints;  // so far, this one included
  index_t n_events;       // so far, those of this breakpoint included
  double lam;
  index_t n_margin;  // rows on the margin that move
  double objective;  // of the first formula
};
using PathCallback = std::function<bool(const PathRound&)>;

struct SvmPathResult {
  PathStatus status = PathStatus::zero;
  int heavier = 0;            // the class whose costs sum to more: +1, -1, or 0 for equal sums
  std::vector<double> start;  // a of each row above the first breakpoint

  // Knots: the breakpoints with lam > 0 falling, and last the end of the path, lam = 0 or where it stopped. Between two
  // of them a and a0 are linear in lam. None if the path is trivial.
  std::vector<double> lams;
  std::vector<double> offsets;    // a0
  std::vector<double> weights;    // lam w at each, one after the other, where kernel rows were not formed; or empty
  std::vector<double> objective;  // sum_i c_i (1 - y_i f(x_i))_+ + lam/2 |w|^2; 0 where lam = 0
  std::vector<double> norm;       // |w|^2; 0 where lam = 0
  std::vector<index_t> n_margin;  // rows that move on from the knot

  // Rows whose a is not what it was at the knot before are listed from change_start[k] to change_start[k + 1].
  std::vector<index_t> change_start;
  std::vector<std::int32_t> change_row;  // positions in SvmPathProblem::rows
  std::vector<double> change_value;      // a

  std::vector<index_t> event_knot;
  std::vector<PathEvent> event_kind;
  std::vector<std::int32_t> event_row;

  // Largest at the knots with lam > 0 where all scores were computed, the last one included: of y f >= 1 where a < c,
  // y f <= 1 where a > 0.
  double violation = 0;
};

// Throws std::invalid_argument for labels or costs out of range.
SvmPathResult svm_path(KernelCache<double>& cache, const SvmPathProblem& problem, const SvmPathOptions& options,
                       const PathCallback& callback, Team& team);

}  // namespace fastpu
