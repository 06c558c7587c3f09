// Products with the features z of the training rows (pual_rows.hpp), for several vectors at once: rows are read from
// memory once for all.
//
// Rows are cut into blocks by their number alone, and sums of blocks are added in order: results have the same bits for
// every number of threads.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/linalg/blas.hpp"
#include "fastpu/pual/pual_rows.hpp"

namespace fastpu::detail {

class FeatureRows {
 public:
  // The views and `blas` must outlive this.
  FeatureRows(const PualRows& rows, const Blas& blas);

  index_t n_rows() const { return n_rows_; }
  index_t n_columns() const { return n_columns_; }    // of x
  index_t n_features() const { return n_features_; }  // of z

  // scores = z_i'beta of all rows, for each row beta of `betas`
  void scores(BlasMatrix<const double> betas, BlasMatrix<double> scores, Team& team) const;

  // along = (X - mean)'o - lam w for each row o of `on_rows`, a number for each training row, and its row of `betas`,
  // where (x - mean)'w = z'beta: a slope along every column of x
  void slopes(BlasMatrix<const double> on_rows, BlasMatrix<const double> betas, double lam, BlasMatrix<double> along,
              Team& team) const;

  // The same slope along the features: Z'o - lam beta
  void to_features(const double* along, double* out) const;

  // The root of the decrease by the best step along one column of the data, for losses of this weight; 0 where there
  // are no columns to check, since z is as accurate as the kernel values.
  double steepest(const double* along, double lam, double weight) const;

 private:
  void to_columns(const double* beta, double* w) const;
  void products(BlasMatrix<const double> w, BlasMatrix<double> out, Team& team) const;
  void sums(BlasMatrix<const double> factors, BlasMatrix<double> out, Team& team) const;
  bool is_wide() const { return rows_.triangle.n_rows > 0; }

  PualRows rows_;
  const Blas& blas_;
  index_t n_rows_;
  index_t n_columns_;
  index_t n_features_;
  std::vector<double> lengths_;  // of the columns of the data
};

}  // namespace fastpu::detail
