// A MarginProblem in the form that the solvers use, and the certificate of a solution.
//
// With s_i = 1 the loss is (m_i - 1)_+ + 1, a hinge that wants y_i f(x_i) <= 1. So every row with a cost has a side t_i
// = y_i (1 - 2 s_i) of the margin, opposite to its label if s_i = 1:
//
//     min  1/2 |w|^2 + sum c_i (t_i (y_i - f(x_i)))_+  + sum c_i s_i
//     max  sum v_i y_i - 1/2 |sum v_i x_i|^2 + sum c_i s_i,   sum v_i = 0,  v_i between 0 and t_i c_i
//
// with v_i = y_i beta_i and w = sum v_i x_i.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/svm/margin_problem.hpp"
#include "linalg/row_pass.hpp"
#include "svm/optimal_intercept.hpp"

namespace fastpu::detail {

class MarginTask {
 public:
  // Throws std::invalid_argument if labels, costs or slopes are out of range or so large that sums overflow. n is the
  // number of rows of X, and `size` is the mean of their squared norms.
  MarginTask(const MarginProblem& problem, index_t n, double size);

  index_t n() const { return n_; }
  // The numbers of the rows that have a cost; null if all rows have one.
  const index_t* rows() const { return rows_.empty() ? nullptr : rows_.data(); }
  index_t row(index_t i) const { return rows_.empty() ? i : rows_[at(i)]; }
  const double* cost() const { return cost_.data(); }
  const double* label() const { return label_.data(); }  // y
  const double* side() const { return side_.data(); }    // t
  // By how much a score of row i falls short of the margin; negative beyond it.
  double lack(index_t i, double score) const { return side_[i] * (label_[i] - score); }
  double cost_of_side(int side) const { return side > 0 ? cost_pos_ : cost_neg_; }
  double constant() const { return constant_; }  // sum c_i s_i

 private:
  index_t n_ = 0;
  std::vector<index_t> rows_;
  AlignedBuffer<double> cost_;
  AlignedBuffer<double> label_;
  AlignedBuffer<double> side_;
  double cost_pos_ = 0;
  double cost_neg_ = 0;
  double constant_ = 0;
};

// Computes the scores of the rows of a pass; w has the width of the pass.
void score_rows(RowPass& pass, const double* w, double* scores);

// Computes sum v_i (x_i, 1) over the rows of a pass, with the width of the pass.
void sum_rows(RowPass& pass, const double* v, double* sum);

// Returns the constants that minimise the losses when they are added to the scores.
InterceptInterval best_intercepts(const MarginTask& task, const double* scores);

// Changes v so that every value is within its bounds and their sum is zero. Rows strictly between their bounds are
// changed first, each in proportion to its distance from the nearer bound; if that is not enough, the values of the
// sign that prevails in the sum shrink in proportion.
void make_feasible(const MarginTask& task, double* v);

// A solution with its objective and duality gap. Vectors of coefficients have the width of the pass, and the intercept
// belongs to centred rows.
struct Certificate {
  AlignedBuffer<double> w;  // with the intercept
  AlignedBuffer<double> f;  // of the rows of the task
  double intercept_low = 0;
  double intercept_high = 0;
  double objective = 0;
  double gap = std::numeric_limits<double>::infinity();
  double violation = std::numeric_limits<double>::infinity();  // the largest of a pair of rows
  // Returns whether the gap is within tol; an infinite gap certifies nothing.
  bool holds(double tol) const { return gap <= tol * objective && gap < std::numeric_limits<double>::infinity(); }
};

// The certificate of a feasible v and of w = sum v_i x_i.
Certificate certify(RowPass& pass, const MarginTask& task, const double* v);
// The certificate of a feasible v and of any w.
Certificate certify(RowPass& pass, const MarginTask& task, const double* v, const double* w);

}  // namespace fastpu::detail
