// What a LargeMarginEngine computes from X alone, once for all problems.
#pragma once

#include <mutex>

#include "fastpu/common/aligned_buffer.hpp"
#include "linalg/row_pass.hpp"

namespace fastpu::detail {

class MarginData {
 public:
  MarginData(const RowsView& x, Team& team);

  const RowsView& x() const { return x_; }
  index_t n_rows() const { return fastpu::n_rows(x_); }
  index_t n_features() const { return n_columns(x_); }
  // The mean of each column.
  const double* centre() const { return centre_.data(); }
  // The standard deviation of each column; 1 where all values are equal.
  const double* deviation() const { return deviation_.data(); }
  // The mean of |x - centre|^2 over the rows; 1 where all rows are equal.
  double size() const { return size_; }

  // sum_i (x_i - centre, 1) (x_i - centre, 1)' over all rows, in the layout of RowPass::gram; computed once.
  const double* gram(Team& team) const;

 private:
  RowsView x_;
  AlignedBuffer<double> centre_;
  AlignedBuffer<double> deviation_;
  double size_ = 1;
  mutable std::mutex gram_lock_;
  mutable AlignedBuffer<double> gram_;
};

// Copies the rows `rows` of X less the centre, in double, one after the other.
void gather_rows(const RowsView& x, const index_t* rows, index_t n, const double* centre, double* out);

}  // namespace fastpu::detail
