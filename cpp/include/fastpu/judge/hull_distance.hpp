// The nearest point of a convex hull: for rows z_1, ..., z_n and a point p
//
//     min over w of  |p - x|,    x = sum_i w_i z_i,  w_i >= 0,  sum_i w_i = 1.
//
// x is the nearest point if and only if (p - x)'(z_i - x) <= 0 for all i. With u = (p - x) / |p - x| and slack = max_i
// u'(z_i - x), the distance of p from the hull is between |p - x| - slack and |p - x|.
//
// Wolfe's method: only the rows of a set S of affinely independent rows have weight, and x is the nearest point of
// their affine hull. The row with the largest slack enters S. If the new nearest point of the affine hull has weights
// <= 0, x moves towards it until the first weight is 0, and that row leaves S. A row that depends on S replaces one of
// its rows. |p - x| decreases with every set, so no set occurs twice. The system of S is kept factored (O(m^2) for a
// row that enters or leaves, m <= min(n, k + 1) rows in S), and its solutions are refined by residuals computed from
// the rows. All rows are checked only when no good candidate of the last check is left. S and its weights are kept for
// the next point: consecutive points of a line take a few steps each.
//
// Time O(m (m + k)) for a step and O(n k) for a check of all rows; memory O(n + m^2 + m k).
//
// Points along a line among 500 to 3,000 rows of 5 to 100 features take 1/4 to 1/60 of the time of smo.hpp at tol 1e-9.
//
// Sources: Wolfe, "Finding the nearest point in a polytope", 1976; Lawson and Hanson, "Solving Least Squares Problems".
#pragma once

#include <memory>
#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

enum class HullStatus {
  slack,      // at most 1e-10 of the largest distance of a row from the first, apart from rounding
  precision,  // as accurate as rounding allows
  max_steps
};

struct HullNearest {
  std::vector<double> apart;    // p - x
  std::vector<index_t> rows;    // S, in no order
  std::vector<double> weights;  // of them, > 0 with sum 1
  double slack = 0;             // at most |p - x|, in which case the bound says nothing
  index_t n_steps = 0;          // rows that entered S, and solutions of its system
  HullStatus status = HullStatus::slack;
};

// Refers to `rows`, which must outlive it. Only one call at a time is allowed.
class HullDistance {
 public:
  // Throws std::invalid_argument if there is no row, or an entry that is not finite or larger than 1e300.
  HullDistance(DenseView<double> rows, Isa isa, Team& team);
  ~HullDistance();
  HullDistance(const HullDistance&) = delete;
  HullDistance& operator=(const HullDistance&) = delete;
  HullDistance(HullDistance&&) = delete;
  HullDistance& operator=(HullDistance&&) = delete;

  index_t n_features() const;

  // `point` has n_features() entries. Throws std::invalid_argument if max_steps < 1, or if an entry is not finite or
  // so large that its square overflows in units of the distances between rows. If `team` throws an exception (to
  // stop), the next call starts from scratch.
  HullNearest nearest(const double* point, index_t max_steps, Team& team);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace fastpu
