// PUAL, GLLC and the biased LS-SVM on one set of training rows: from the parameters to the finished solution.
//
// A solution is f(x) = z(x)'beta + offset with features z, z'z = K, that are shifted such that the weighted mean of the
// unlabelled rows is 0. With weights w_i of the rows and the neighbours' term f'Rf it minimises
//
//     PUAL             lam/2 |beta|^2 + f'Rf + C_unl sum_U (1 + f)^2 + C_pos sum_P (1 - f)_+
//     least squares    lam/2 |beta|^2 + f'Rf + C_unl sum_U w_i (1 + f)^2 + C_pos sum_P w_i (1 - f)^2
//
// in three steps: the matrix of the system is factored (pual_system.hpp); PUAL's dual gives alpha (pual.hpp); and what
// rounding leaves of the gradient, computed from the rows, is removed by conjugate gradients. Objective, gap and status
// are those of the scores of the rows.
//
// Source: Wang, Yang, Zhu and Xue, "PUAL: A Classifier on Trifurcate Positive-Unlabeled Data", (3), (4), (7) to (21).
#pragma once

#include <memory>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"
#include "fastpu/pual/pual.hpp"
#include "fastpu/pual/pual_rows.hpp"

namespace fastpu {

namespace detail {
class FeatureRows;
}

// The neighbours' term for one sigma.
struct PualNeighbours {
  CsrView<double> laplacian;                     // R
  BlasMatrix<const double> gram{nullptr, 0, 0};  // Z'RZ; it has no rows if R is 0
};

// The parameters that the linear system depends on, beside R.
struct PualPoint {
  double C_unl;
  double lam;
};

struct PualSolution {
  std::vector<double> beta;
  double offset = 0;
  std::vector<double> scores;  // f of the training rows
  std::vector<double> alpha;   // of PUAL: the dual variables of the positives
  PualStatus status = PualStatus::closed_form;
  // After every round and step of the solver, and last of all those of the solution.
  std::vector<index_t> iterations;
  std::vector<double> objectives;
  std::vector<double> gaps;
};

class PualSolver {
 public:
  // What is viewed, and `blas`, must outlive this. Throws std::invalid_argument for shapes that do not fit.
  PualSolver(const PualRows& rows, const Blas& blas);
  ~PualSolver();

  // These return the solutions for the costs C_pos, in their order. A callback that stops leaves the later costs out.
  // They throw std::invalid_argument as factor_system() and PualDual do. Only one thread at a time may call them; BLAS
  // must be limited to one thread.
  std::vector<PualSolution> solve_pual(const PualNeighbours& neighbours, const PualPoint& point,
                                       const std::vector<double>& costs, const PualDualOptions& options,
                                       const PualCallback& callback, Team& team);
  std::vector<PualSolution> solve_least_squares(const PualNeighbours& neighbours, const PualPoint& point,
                                                const std::vector<double>& costs, const PualCallback& callback,
                                                Team& team);

 private:
  // The system's factor, with `more` added to its last rows and columns.
  BlasMatrix<const double> factored(const PualNeighbours& neighbours, const PualPoint& point,
                                    BlasMatrix<const double> more, Team& team);

  PualRows rows_;
  const Blas& blas_;
  std::unique_ptr<detail::FeatureRows> features_;
  AlignedBuffer<double> factor_;  // of the last system: allocating a matrix takes as long as copying one
};

}  // namespace fastpu
