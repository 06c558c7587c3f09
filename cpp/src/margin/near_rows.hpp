// Solves the problem of margin_task.hpp by few of its rows, where there are many: rows well on one side of their margin
// stay at the bound that this side asks for, and only those near it, which may be of any kind, go into an interior
// point. Rows that end on the other side of their margin are taken in, until there are none.
//
// With v of the other rows fixed, g = sum v_i x_i and k = sum v_i y_i of these, what is left is the same problem with
// the term  k - g'(w, b0)  in place of their losses.
#pragma once

#include <functional>

#include "linalg/row_pass.hpp"
#include "margin/margin_data.hpp"
#include "margin/margin_task.hpp"

namespace fastpu::detail {

// Whether a problem has so many rows that this is worth while.
bool has_many_rows(const MarginTask& task, index_t n_features);

struct NearRowsResult {
  bool is_found = false;  // no row outside of those near the margin is on the wrong side of it
  bool is_stopped = false;
  index_t n_steps = 0;  // of interior points
};

// Told the steps so far, the objective and the gap; true stops.
using NearRowsCallback = std::function<bool(index_t, double, double)>;

// `f` holds scores of the rows near those of the solution, or is null: then a sample of the rows is solved for them.
// Where it is found, v is the solution up to rounding (perhaps not of sum zero), w, as long as the width of the pass,
// its coefficients, and f_out its scores. `tol` is that of the gap, relative to the objective.
NearRowsResult solve_near_rows(const MarginData& data, const MarginTask& task, RowPass& pass, double tol,
                               const double* f, const NearRowsCallback& is_stopped, double* v, double* w,
                               double* f_out);

}  // namespace fastpu::detail
