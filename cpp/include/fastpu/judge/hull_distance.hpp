// The nearest point of a convex hull: for rows z_1, ..., z_n and a point p
//
//     min over w of  |p - x|,    x = sum_i w_i z_i,  w_i >= 0,  sum_i w_i = 1.
//
// x is it if and only if (p - x)'(z_i - x) <= 0 for all i. With u = (p - x) / |p - x| and slack = max_i u'(z_i - x),
// the distance of p from the hull is between |p - x| - slack and |p - x|.
//
// Wolfe's method: a set S of affinely independent rows has all of the weight, and x is the nearest point of their
// affine hull. The row with the most slack comes in; where the new nearest point of the affine hull has weights <= 0, x
// goes towards it until the first weight is 0, and that row leaves. A row that depends on S changes places with one of
// S. |p - x| falls with every set, so that no set comes back. The system of S is kept factored (O(m^2) for a row that
// comes or goes, m <= min(n, k + 1) rows in S), and refined by residuals of the rows themselves. All rows are looked at
// only when none of the best of the last look is worth taking. S and its weights stay for the next point: the points of
// a line take a few steps each.
//
// Time O(m (m + k)) for a step and O(n k) for a look at all rows; memory O(n + m^2 + m k).
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
  slack,      // at most 1e-10 of the largest distance of a row from the first, and rounding
  precision,  // as good as rounding allows
  max_steps
};

struct HullNearest {
  std::vector<double> apart;    // p - x
  std::vector<index_t> rows;    // S, in no order
  std::vector<double> weights;  // of them, > 0 with sum 1
  double slack = 0;             // at most |p - x|, where it says nothing
  index_t n_steps = 0;          // rows that came, and solutions of the system of S
  HullStatus status = HullStatus::slack;
};

// Looks at `rows` as long as it lives. One call at a time.
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

  // `point` has n_features() entries. Throws std::invalid_argument if one is not finite, or so large that its square
  // overflows when measured by the distances between rows, and if max_steps < 1. After an exception from `team` (a
  // stop) the next call starts anew.
  HullNearest nearest(const double* point, index_t max_steps, Team& team);

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace fastpu
