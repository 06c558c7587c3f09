// What svm_path.hpp follows, its options and its result: the knots of a path and the rows that change there.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

struct SvmPathProblem {
  const index_t* rows = nullptr;  // distinct rows of the data
  index_t n = 0;
  const std::int8_t* labels = nullptr;  // y: +1 or -1
  const double* costs = nullptr;        // c: between 1e-100 and 1e100, or infinite in one of the classes
};

// The least and the largest finite cost of a row: lam has the size of costs, and its square must not vanish or
// overflow.
inline constexpr double kLeastPathCost = 1e-100;
inline constexpr double kMostPathCost = 1e100;

struct SvmPathOptions {
  double lam_min = 0;  // where to stop, unless the last breakpoint is above
  // The path ends at the breakpoint with this event.
  index_t max_events = std::numeric_limits<index_t>::max();
  index_t cache_bytes = index_t{200} << 20;  // the most memory for kernel rows
};

enum class PathStatus {
  zero,        // lam = 0, which the last segment leads to
  trivial,     // w = 0 for every lam, and f has the sign of the heavier class
  lam_min,     // lam_min reached
  max_events,  // most events reached
  precision,   // lam is so small that rounding errors of K hide the margin
  stalled,     // rounding errors hide which rows are on the margin
  indefinite,  // the kernel has a direction of negative curvature, along which no path continues
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

// What the callback is given at a breakpoint; it returns true to stop the path.
struct PathRound {
  index_t n_breakpoints;  // so far, this one included
  index_t n_events;       // so far, those of this breakpoint included
  double lam;
  index_t n_margin;  // rows on the margin whose a changes
  double objective;  // of the first formula
};
using PathCallback = std::function<bool(const PathRound&)>;

struct SvmPathResult {
  PathStatus status = PathStatus::zero;
  int heavier = 0;                  // the class whose costs sum to more: +1, -1, or 0 for equal sums
  std::vector<double> start_alpha;  // a of each row above the first breakpoint

  // lam at the knots: the breakpoints in decreasing order, each with an event (but for the first, which may have none),
  // then the end of the path (0, or where it stopped). Between two knots a and a0 are linear in lam. A trivial path has
  // no knots.
  std::vector<double> knots;
  std::vector<double> offsets;    // a0
  std::vector<double> weights;    // lam w at each knot, one after the other, if kernel rows were not formed; else empty
  std::vector<double> objective;  // sum_i c_i (1 - y_i f(x_i))_+ + lam/2 |w|^2; 0 where lam = 0
  std::vector<double> norm;       // |w|^2; 0 where lam = 0
  std::vector<index_t> n_margin;  // number of rows that move from the knot on

  // The rows whose a differs from the knot before have the numbers change_start[k] to change_start[k + 1] - 1.
  std::vector<index_t> change_start;
  std::vector<std::int32_t> change_row;  // positions in SvmPathProblem::rows
  std::vector<double> change_alpha;      // a

  std::vector<index_t> event_knot;
  std::vector<std::uint8_t> event_kind;  // a PathEvent
  std::vector<std::int32_t> event_row;

  // The largest violation at the knots with lam > 0 where all scores were computed, the last one included, of y f >= 1
  // where a < c and y f <= 1 where a > 0. Of a linear kernel also that of w and a0 / lam on the given rows, at the last
  // of these knots.
  double violation = 0;
};

}  // namespace fastpu
