// Newton's method among the free variables, those strictly between their bounds. It is for problems on which pair steps
// converge slowly: where many variables have to move together, pairs may take millions of steps, and one system of
// equations does the same at once.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Variables with their part of the kernel matrix (n x n, row-major), gradients, bounds and groups (0 or 1).
struct FreeProblem {
  // Adds a variable, but for its kernel values.
  void add(double its_gradient, double its_value, double its_lower, double its_upper, int its_group) {
    gradient.push_back(its_gradient);
    value.push_back(its_value);
    lower.push_back(its_lower);
    upper.push_back(its_upper);
    group.push_back(static_cast<std::uint8_t>(its_group));
  }

  std::vector<double> kernel;
  std::vector<double> gradient;
  std::vector<double> value;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<std::uint8_t> group;
};

// Minimises over the free variables with the sum of each group fixed. A variable that reaches a bound stays there, and
// the others continue. Changes value and gradient; returns the decrease of the objective, 0 if no step decreases it.
double minimise_free(FreeProblem& problem, Isa isa);

}  // namespace fastpu::detail
