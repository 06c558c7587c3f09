// Support vector machines, solved by their duals, with a cost (an upper bound of alpha) for every row. f(x) = h(x) + b
// with h(x) = sum_i alpha_i y_i K(x_i, x), and slack variables xi_i:
//
//     C-SVM      min 1/2 |w|^2 + sum_i c_i xi_i,             xi_i >= 1 - y_i f(x_i)
//     nu-SVM     min 1/2 |w|^2 - nu W rho + sum_i c_i xi_i,  xi_i >= rho - y_i f(x_i)    W = sum_i c_i
//     one class  min 1/2 |w|^2 - nu W rho + sum_i c_i xi_i,  xi_i >= rho - h(x_i)        b = -rho
//
// b and rho are not always unique. Each is the midpoint of the interval of its optimal values for the w found (the
// finite end of a half-infinite interval), found by sorting. The result of nu-SVM is divided by rho, as in LIBSVM, so
// that its margin is at 1 and -1; objective and gap are those before the division.
//
// Sources: Platt 1998; Schoelkopf et al. 2000, 2001; Fan, Chen and Lin 2005.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/svm/smo.hpp"

namespace fastpu {

namespace detail {
struct RoundedKernel;
}

enum class SvmKind { c_svm, nu_svm, one_class };

struct SvmProblem {
  SvmKind kind = SvmKind::c_svm;
  const index_t* rows = nullptr;  // distinct rows of the engine's data
  index_t n = 0;
  const std::int8_t* labels = nullptr;  // +1 or -1; null for one class
  const double* costs = nullptr;        // >= 0; rows whose cost is 0 are not fitted to, but get their f
  double nu = 0.5;                      // share of W; for nu-SVM at most twice the share of the smaller class
  const double* start = nullptr;        // alpha to start from, which is made feasible; null starts from zero
  // For C-SVM, if the start is feasible as it is: h of the start, a feasible alpha to go towards at first, and the
  // length of all steps since h was computed from nothing.
  const double* start_product = nullptr;
  const double* start_end = nullptr;
  double start_moved = 0;
};

// What the solution of a problem comes to.
struct SvmReport : SmoEnd {
  double intercept = 0;
  double margin = 1;     // rho
  double objective = 0;  // of the dual, which is minimised: 1/2 alpha'Q alpha, less sum alpha for C-SVM
  double gap = 0;        // primal minus dual
  // Of one class: the least f of the rows below their costs, which have f >= 0 but for the violation; else 0.
  double lowest_inside = 0;
};

struct SvmResult : SvmReport {
  std::vector<double> alpha;
  std::vector<double> decision;  // f of the rows; for those far beyond their margins as exact as the solver's rows are
  double moved = 0;              // as in SmoResult
  std::vector<SmoRound> rounds;
};

// Returns where the solver of a problem starts: at its start made feasible, or at zero or the first rows without one.
// Throws std::invalid_argument if nu is infeasible.
std::vector<double> feasible_start(const SvmProblem& problem);

// A function that solves the dual; `solution` holds the start and then the result.
using DualSolver = std::function<SmoResult(const SmoProblem& problem, double* solution)>;

// Solves any of the three with the given dual solver. Throws std::invalid_argument if nu is infeasible.
SvmResult solve_svm(const SvmProblem& problem, const DualSolver& solve_dual);

// The largest violation of the optimality conditions of a C-SVM by a pair of rows, for any alpha and the scores f of
// any model: what the solvers report of their own scores. The intercept in f does not matter.
double c_svm_violation(const SvmProblem& problem, const double* alpha, const double* decision);

// One data set, its kernel and the cache of kernel rows, which lives as long as the engine and serves all its problems.
template <class T>
class SvmEngine {
 public:
  using Data = std::variant<DenseView<T>, CsrView<T>>;

  // The data must outlive the engine. The linear kernel is solved without kernel rows.
  SvmEngine(const Data& data, const KernelParams& params, index_t cache_bytes, const Team& team);
  // An engine for a kernel of the caller's.
  SvmEngine(std::unique_ptr<Kernel<T>> kernel, index_t cache_bytes);

  index_t n_rows() const { return kernel_->n_rows(); }
  const Kernel<T>& kernel() const { return *kernel_; }
  index_t cache_bytes() const { return cache_bytes_; }
  // Whether rows have so few entries that kernel values are computed as fast as stored ones are looked up.
  bool has_short_rows() const { return has_short_rows_; }

  SvmResult solve(const SvmProblem& problem, const SmoOptions& options, const SmoCallback& callback, Team& team);

 private:
  std::unique_ptr<Kernel<T>> kernel_;
  std::optional<Data> data_;
  KernelParams params_;
  bool has_short_rows_ = false;
  index_t cache_bytes_;
  std::optional<KernelCache<T>> cache_;
  // For steps with rounded kernel values, until a problem needs exact ones.
  std::shared_ptr<detail::RoundedKernel> rounded_;
};

}  // namespace fastpu
