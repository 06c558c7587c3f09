// What upu.hpp minimises, its options and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

enum class ConvexPuLoss { logistic, squared };

struct UpuProblem {
  RowsView x;
  const std::int8_t* labels = nullptr;  // 1 positive, 0 unlabelled
  const double* weights = nullptr;      // > 0; null stands for 1
};

struct UpuOptions {
  ConvexPuLoss loss = ConvexPuLoss::logistic;
  double prior = 0.5;  // in (0, 1)
  double lam = 0;      // >= 0
  double tol = 1e-10;
  index_t max_iter = 200;
};

enum class UpuStatus {
  tol,
  max_iter,
  precision,  // as good as rounding allows, but not within tol
  unbounded,  // R has no minimum
  callback
};

// What the callback is given at each step; it returns true to stop the fit.
struct UpuStep {
  index_t n_iter;  // steps so far
  double risk;
};
using UpuCallback = std::function<bool(const UpuStep&)>;

struct UpuResult {
  std::vector<double> coef;
  double intercept = 0;
  std::vector<double> risks;  // the least risk so far: at the start, w = b = 0, and after each step
  double decrement = 0;       // at the last point whose derivatives were computed
  UpuStatus status = UpuStatus::tol;
};

}  // namespace fastpu
