// Grids of support vector machines: many costs, widths of the kernel and folds of one data set, with shared work.
//
// A chain is one width and one fold. Its problems are those of svm.hpp, with costs c_i = base_i times the factor of the
// row's class; they are solved in ascending order, each from the solution of the nearest one that is solved already, to
// the same tolerance as from nothing. Chains of one width whose rows are much the same are posed over all of these
// rows, with cost 0 for the rows that a chain is not fitted to: so they share one cache of kernel rows, and a solved
// problem has the scores of its held-out rows. Chains of the rbf kernel share the squared distances of all rows, if
// half of the cache has room for them and they are cheaper to look up than to compute. Each chain is the work of one
// thread, so results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel_base.hpp"
#include "fastpu/svm/svm.hpp"

namespace fastpu {

// The parameter of a problem: factors of the costs of both classes for C-SVM, nu for the others.
struct GridPoint {
  double factor_pos = 1;
  double factor_neg = 1;
  double nu = 0;
};

struct SvmChain {
  SvmKind kind = SvmKind::c_svm;
  double gamma = 1;
  const index_t* rows = nullptr;  // distinct rows of the data to fit to
  index_t n = 0;
  const std::int8_t* labels = nullptr;  // as in SvmProblem
  const double* base = nullptr;         // n costs before the factors, > 0
  std::vector<GridPoint> points;
  const index_t* held_out = nullptr;  // rows to score
  index_t n_held_out = 0;
};

struct GridFit : SvmReport {
  std::vector<index_t> support;  // positions in `rows` of the chain
  std::vector<double> alpha;     // of the support
  index_t n_positive = 0;        // rows of the chain that have f > 0
  double lowest_score = 0;       // f of the rows of the chain
  double highest_score = 0;
};

struct ChainResult {
  std::vector<GridFit> fits;            // for each point
  std::vector<double> held_out_scores;  // f of n_held_out x points
};

// The data must outlive the call. `params` is the kernel; its gamma is not used, as each chain has its own. With
// `precomputed` the data are the kernel matrix.
template <class T>
std::vector<ChainResult> solve_chains(const typename SvmEngine<T>::Data& data, const KernelParams& params,
                                      bool precomputed, const std::vector<SvmChain>& chains, const SmoOptions& options,
                                      index_t cache_bytes, Team& team);

}  // namespace fastpu
