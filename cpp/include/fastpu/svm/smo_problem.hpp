// What smo.hpp solves, its options and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

struct SmoStart;

struct SmoProblem {
  const index_t* rows = nullptr;  // distinct rows of the kernel's data
  index_t n = 0;
  const double* linear = nullptr;  // q
  const double* lower = nullptr;   // <= start <= upper
  const double* upper = nullptr;
  const std::uint8_t* groups = nullptr;  // 0 or 1 for each variable; null puts all in one group
  const SmoStart* start = nullptr;       // null if nothing is known
};

// What is known of the start: K times it, and the end of a step that may be worth making. smo() goes towards that end,
// from the start or from its largest multiple within the bounds, as far as the objective falls.
struct SmoStart {
  const double* product = nullptr;
  const double* end = nullptr;  // feasible; null for none; only smo() looks at it
  double moved = 0;             // total distance of all steps since the product was computed
};

struct SmoOptions {
  double tol = 1e-3;               // largest violation of the optimality conditions
  index_t max_steps = 10'000'000;  // most updates of a pair
  index_t working_set = 0;         // variables in a working set; 0 leaves the choice to the solver, and smo() has none
  bool keeps_rows = false;         // kernel rows stay whole, for other problems over the same rows
};

// What the callback is given after each working set, or after some hundred steps; it returns true to stop the fit.
struct SmoRound {
  index_t n_steps;
  double objective;
  double violation;  // before these steps, among the active variables
  index_t n_active;
};
using SmoCallback = std::function<bool(const SmoRound&)>;

enum class SmoStatus {
  tol,        // optimal within tol
  max_steps,  // most steps made
  precision,  // as optimal as rounding allows, but not within tol
  callback
};

// How a solver ended.
struct SmoEnd {
  SmoStatus status = SmoStatus::tol;
  index_t n_steps = 0;
  double violation = 0;  // of all variables, at the end
};

struct SmoResult : SmoEnd {
  double moved = 0;              // of smo(): total distance of all steps since gradients were computed anew
  std::vector<double> gradient;  // Kb + q at the end
  std::vector<SmoRound> rounds;
};

}  // namespace fastpu
