// Classes to be told apart by support vector machines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "fastpu/svm/svm.hpp"
#include "svm_data.hpp"

namespace svm_tests {

using fastpu::index_t;
using fastpu::KernelKind;
using fastpu::KernelParams;
using fastpu::SmoOptions;
using fastpu::SmoProblem;
using fastpu::SmoResult;
using fastpu::SmoStatus;
using fastpu::SvmEngine;
using fastpu::SvmKind;
using fastpu::SvmProblem;
using fastpu::SvmResult;
using fastpu::Team;

inline constexpr index_t kManyBytes = index_t{1} << 26;
inline constexpr KernelParams kRbf{KernelKind::rbf, 0.3, 3, 0.0};
inline constexpr KernelParams kLinear{KernelKind::linear, 1.0, 3, 0.0};

// Two overlapping classes, costs that differ.
struct Classes {
  Points<double> points;
  std::vector<index_t> rows;
  std::vector<std::int8_t> labels;
  std::vector<double> costs;

  Classes(index_t n, double cost, unsigned seed) : points(n, 3, seed, 1.0, false), rows(all_rows(n)) {
    std::mt19937 random(seed + 1);
    std::uniform_real_distribution<double> uniform;
    for (index_t i = 0; i < n; ++i) {
      const double side = points.row(i)[0] + 0.5 * points.row(i)[1] + 1.5 * uniform(random) - 0.75;
      labels.push_back(i == 0 || (i != 1 && side > 0.3) ? std::int8_t{1} : std::int8_t{-1});
      costs.push_back(cost * (0.5 + uniform(random)));
    }
  }
  index_t n() const { return points.n; }
  SvmProblem problem(SvmKind kind, double nu = 0.3) const {
    SvmProblem problem;
    problem.kind = kind;
    problem.rows = rows.data();
    problem.n = n();
    problem.labels = kind == SvmKind::one_class ? nullptr : labels.data();
    problem.costs = costs.data();
    problem.nu = nu;
    return problem;
  }
};

inline SvmEngine<double> engine_of(const Classes& data, const KernelParams& params, index_t bytes = kManyBytes) {
  return {SvmEngine<double>::Data{data.points.dense()}, params, bytes, Team(8)};
}

inline double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

inline bool same_bits(const SvmResult& a, const SvmResult& b) {
  return ::same_bits(a.alpha, b.alpha) && ::same_bits(a.decision, b.decision) && a.intercept == b.intercept &&
         a.margin == b.margin && a.objective == b.objective && a.gap == b.gap;
}

// The primal objective at (w, b, rho) by its formula, less 1/2 |w|^2.
inline double loss_of(const SvmProblem& problem, const std::vector<double>& h, double intercept, double margin) {
  double loss = problem.kind == SvmKind::c_svm ? 0 : -problem.nu * margin;
  double total = 0;
  for (index_t i = 0; i < problem.n; ++i) total += problem.costs[i];
  if (problem.kind != SvmKind::c_svm) loss *= total;
  for (index_t i = 0; i < problem.n; ++i) {
    const double score = problem.kind == SvmKind::one_class ? h[at(i)] : problem.labels[i] * (h[at(i)] + intercept);
    loss += problem.costs[i] * std::max(0.0, margin - score);
  }
  return loss;
}

// A solver that solves nothing: Kb is what it is told.
inline fastpu::DualSolver pretend(const std::vector<double>& h) {
  return [h](const SmoProblem& problem, double* /*solution*/) {
    SmoResult result;
    result.gradient = h;
    for (std::size_t i = 0; i < h.size(); ++i) result.gradient[i] += problem.linear[i];
    return result;
  };
}

// The ends of the interval of minimisers of sum_i cost_i max(0, slope_i (b - at_i)) - target b, by trying every kink.
struct Hinge {
  double at;
  double cost;
  int slope;
};
inline double hinge_sum(const std::vector<Hinge>& hinges, double target, double b) {
  double sum = -target * b;
  for (const Hinge& hinge : hinges) sum += hinge.cost * std::max(0.0, hinge.slope * (b - hinge.at));
  return sum;
}
inline double middle_by_trying(const std::vector<Hinge>& hinges, double target) {
  double least = std::numeric_limits<double>::infinity();
  for (const Hinge& hinge : hinges) least = std::min(least, hinge_sum(hinges, target, hinge.at));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Hinge& hinge : hinges) {
    if (hinge_sum(hinges, target, hinge.at) > least + 1e-9) continue;
    low = std::min(low, hinge.at);
    high = std::max(high, hinge.at);
  }
  return 0.5 * (low + high);  // of a half-infinite interval only one end is a kink, or several at its finite end
}

}  // namespace svm_tests
