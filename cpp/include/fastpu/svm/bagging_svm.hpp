// Bagging SVM (Mordelet and Vert, 2014): the mean of T biased SVMs, each fitted to all positives and a bag of
// unlabelled rows, which are taken for negatives.
//
// Bags are solved in parallel, each by one thread, so that results do not depend on the number of threads. Kernel
// values of the positives, which are in every bag, are computed once for all of them where that saves work and memory
// allows.
#pragma once

#include <vector>

#include "fastpu/svm/svm.hpp"

namespace fastpu {

struct BaggingProblem {
  const index_t* positives = nullptr;  // distinct rows
  index_t n_pos = 0;
  const double* costs_pos = nullptr;  // n_pos
  const index_t* bags = nullptr;      // n_bags x bag_size unlabelled rows; the costs of a row drawn twice add up
  index_t n_bags = 0;
  index_t bag_size = 0;
  double cost_unl = 1;  // of each draw
  // For every row of the data the share of its cost at which its alpha starts in each bag; null starts from 0.
  const double* start = nullptr;
};

struct BaggingResult {
  std::vector<index_t> support;  // rows that are support vectors of any bag, ascending
  std::vector<double> coefs;     // support x n_bags: alpha y, zero for rows that are not in the bag
  std::vector<SvmReport> bags;
};

template <class T>
BaggingResult solve_bags(const SvmEngine<T>& engine, const BaggingProblem& problem, const SmoOptions& options,
                         Team& team);

}  // namespace fastpu
