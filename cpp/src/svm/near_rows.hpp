// Solves the problem of margin_task.hpp by few of its rows, where there are many. The dual variables of rows far from
// their margin are fixed at the bound that their side of it asks for, and an interior point solves for the rows near
// their margin alone. Fixed rows that its solution puts on the other side of their margin join the near ones, until
// there are none.
//
// Let g = sum v_i (x_i, 1) and k = sum v_i y_i over the fixed rows. What remains is the same problem with the term
// k - g'(w, b0) in place of the losses of the fixed rows.
#pragma once

#include <functional>

#include "linalg/row_pass.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"

namespace fastpu::detail {

// Returns whether a problem has so many rows that this is faster than an interior point of all of them.
bool has_many_rows(const MarginTask& task, index_t n_features, bool has_start);

struct NearRowsResult {
  bool is_solved = false;   // every fixed row is on the side of its margin that its bound asks for
  bool is_stopped = false;  // by the callback
  index_t n_steps = 0;      // of interior points
};

// Called with the number of steps so far, the objective and the gap; returns true to stop.
using NearRowsCallback = std::function<bool(index_t, double, double)>;

// `scores` are those of an earlier solution for all rows of X; if they are null, a sample of the rows is solved to get
// some. If is_solved, v is the solution up to rounding (its sum may differ from zero) and w its coefficients, with the
// width of the pass. `tol` bounds the gap relative to the objective.
NearRowsResult solve_near_rows(const MarginData& data, const MarginTask& task, RowPass& pass, double tol,
                               const double* scores, const NearRowsCallback& is_stopped, double* v, double* w);

}  // namespace fastpu::detail
