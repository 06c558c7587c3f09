// What large_margin.hpp solves, its options and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

// The largest cost of a row: sums of products of larger ones overflow.
inline constexpr double kMostRowCost = 1e100;

struct MarginProblem {
  const std::int8_t* labels = nullptr;   // y: +1 or -1 for every row
  const double* costs = nullptr;         // c, at most kMostRowCost; rows of cost 0 are left out
  const std::uint8_t* slopes = nullptr;  // s; null: all 0
};

enum class MarginSolver { exact, iadmm };

struct MarginOptions {
  MarginSolver solver = MarginSolver::exact;
  double tol = 1e-9;  // of P - D, relative to P
  // Coordinate descent also ends where no pair of rows violates the optimality conditions by more; 0: it does not.
  double violation = 0;
  // The most steps of the interior point, pairs of SMO or iterations of IADMM; 0 stands for 200, max(10^7, 100 n) and
  // 10^5.
  index_t max_iter = 0;
};

// Where to start: an earlier result of the same engine, for this problem or another one.
struct MarginStart {
  const double* beta = nullptr;
  const double* decision = nullptr;  // null: not known
};

enum class MarginStatus {
  gap,        // P - D <= tol P, or the violation is met
  max_iter,   // most iterations reached
  precision,  // as good as rounding allows, but not within tol
  callback
};
enum class MarginMethod { bounds, active_set, interior_point, coordinate_descent, smo, iadmm };

struct MarginResult {
  std::vector<double> coef;  // w
  double intercept = 0;      // b0
  double intercept_low = 0;  // every intercept from here to intercept_high is optimal; both may be infinite
  double intercept_high = 0;
  double objective = 0;          // P
  double gap = 0;                // P - D >= 0
  std::vector<double> beta;      // of every row, 0 where the cost is 0
  std::vector<double> decision;  // f of every row
  index_t n_iter = 0;
  MarginStatus status = MarginStatus::gap;
  MarginMethod method = MarginMethod::bounds;
};

// What the callback is given from time to time; it returns true to stop the fit.
struct MarginRound {
  index_t n_iter;
  double objective;  // P at this moment
  double gap;
};
using MarginCallback = std::function<bool(const MarginRound&)>;

}  // namespace fastpu
