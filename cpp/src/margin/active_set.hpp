// Solutions of the problem of margin_task.hpp from a guess of which rows are at a bound: the equations of the rows in
// between are solved exactly, rows that turn out to be wrong change their kind, and so on.
#pragma once

#include "linalg/row_pass.hpp"
#include "margin/margin_data.hpp"
#include "margin/margin_task.hpp"

namespace fastpu::detail {

struct ActiveSetOptions {
  double tol = 1e-9;  // of the gap, relative to the objective
  int max_rounds = 8;
};

struct ActiveSetResult {
  bool is_solved = false;
  int n_rounds = 0;
};

// The guess is v, feasible, with scores f of the rows: a row is at a bound if a step along its own v would bring it
// there. v is lost unless is_solved, when it is the solution and `found` its certificate. Gives up early where the
// guess is not good enough. Takes O(n p) for each round, and O(k^2 (k + p)) for k rows in between.
ActiveSetResult active_set(const MarginData& data, const MarginTask& task, RowPass& pass,
                           const ActiveSetOptions& options, double* v, const double* f, Certificate& found);

}  // namespace fastpu::detail
