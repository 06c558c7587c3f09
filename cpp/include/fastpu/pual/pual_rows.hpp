// The training rows of PUAL, GLLC and the biased LS-SVM as features z (pual_solver.hpp).
#pragma once

#include <variant>

#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"

namespace fastpu {

// The training rows. Without a triangle z = x - mean. With one, of r x r, z has r values: those of the rows `pivots`
// are the rows of the triangle L with their columns in reverse order, and those of the others follow from
// z_i'z_j = (x_i - mean)'(x_j - mean). This is for rows with more columns than there are rows.
struct PualRows {
  std::variant<DenseView<double>, CsrView<double>> x;
  // Of the columns of the data; null where x are features that a kernel made, which need no shift.
  const double* mean = nullptr;
  BlasMatrix<const double> triangle{nullptr, 0, 0};
  const index_t* pivots = nullptr;

  BlasMatrix<const double> gram_unl{nullptr, 0, 0};   // Z_u'Z_u, each row times its weight
  BlasMatrix<const double> positives{nullptr, 0, 0};  // the last columns of Z_p, whose other columns are 0
  const index_t* pos = nullptr;                       // the numbers of the positives
  const double* shares_pos = nullptr;                 // of each positive in the weight of all positives
  const double* shares_unl = nullptr;  // of each row in the weight of the unlabelled rows; 0 for positives
  double mass_pos = 0;                 // the weight of all positives
  double mass_unl = 0;                 // the weight of all unlabelled rows
};

}  // namespace fastpu
