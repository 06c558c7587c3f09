// A primal-dual interior point for the problem of pual.hpp: Mehrotra's predictor and corrector. The one of
// svm/interior_point.hpp is another: it has a sum that must be 0, an intercept, and systems of features that are summed
// over blocks of rows, where this one has bounds alone and the matrix Q or its root. They share the lengths of steps.
#pragma once

#include <functional>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "pual/box_gram.hpp"

namespace fastpu::detail {

struct BoxPoint {
  std::vector<double> alpha;
  BoxValue value;
  index_t n_steps = 0;
};

// Takes steps until P - D <= tol P, until max_steps, or until steps make no progress beyond rounding. `on_step` is
// called after every step and ends the iteration by returning true. Returns the best point.
BoxPoint box_interior_point(const BoxGram& gram, double cost, double tol, index_t max_steps,
                            const std::function<bool(index_t, const BoxValue&)>& on_step, Team& team);

}  // namespace fastpu::detail
