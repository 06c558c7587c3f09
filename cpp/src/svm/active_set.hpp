// Solutions of the problem of margin_task.hpp from a guess of which rows are at a bound: the equations of the rows
// between their bounds are solved exactly, rows that contradict the guess change their kind, and this is repeated.
#pragma once

#include "linalg/row_pass.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"

namespace fastpu::detail {

struct ActiveSetResult {
  bool is_solved = false;
  int n_rounds = 0;
  Certificate certificate;  // if is_solved
};

// The guess is taken from a feasible v with scores f of the rows: a row counts as being at a bound if a step along its
// own coordinate of v would bring it there. If is_solved, v is replaced by the solution, whose gap is at most tol times
// its objective; else v is undefined. Gives up after max_rounds, or earlier if the guess is not good enough. Takes
// O(n p) for each round, and O(k^2 (k + p)) for k rows between their bounds.
ActiveSetResult active_set(const MarginData& data, const MarginTask& task, RowPass& pass, double tol, int max_rounds,
                           double* v, const double* f);

}  // namespace fastpu::detail
