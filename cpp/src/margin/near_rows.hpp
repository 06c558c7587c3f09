// Solves the problem of margin_task.hpp by few of its rows, if there are many. Rows well on one side of their margin
// stay at the bound that this side asks for; only rows near their margin take part in an interior point. Rows that end
// on the other side of their margin are then added, until there are none.
//
// With v of the other rows fixed, let g = sum v_i x_i and k = sum v_i y_i over them. What remains is the same problem
// with the term  k - g'(w, b0)  in place of their losses.
#pragma once

#include <functional>

#include "linalg/row_pass.hpp"
#include "margin/margin_data.hpp"
#include "margin/margin_task.hpp"

namespace fastpu::detail {

// Returns whether a problem has so many rows that this is faster, with a start or without.
bool has_many_rows(const MarginTask& task, index_t n_features, bool has_start);

struct NearRowsResult {
  bool is_found = false;  // every row that was left out is on the right side of its margin
  bool is_stopped = false;
  index_t n_steps = 0;  // of interior points
};

// Called with the number of steps so far, the objective and the gap; returns true to stop.
using NearRowsCallback = std::function<bool(index_t, double, double)>;

// `f` holds scores of the rows that are near those of the solution; if it is null, a sample of the rows is solved to
// get some. If is_found, v is the solution up to rounding (its sum may differ from zero), w its coefficients, with the
// width of the pass, and f_out its scores. `tol` bounds the gap relative to the objective.
NearRowsResult solve_near_rows(const MarginData& data, const MarginTask& task, RowPass& pass, double tol,
                               const double* f, const NearRowsCallback& is_stopped, double* v, double* w,
                               double* f_out);

}  // namespace fastpu::detail
