// Products of one row of dense or sparse data, for loops that go from row to row, and how long rows are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// The mean number of entries of a row that are stored.
template <class T>
double mean_row_size(const DenseView<T>& x) {
  return static_cast<double>(x.n_cols);
}
template <class T>
double mean_row_size(const CsrView<T>& x) {
  return static_cast<double>(x.row_start[x.n_rows]) / static_cast<double>(std::max<index_t>(1, x.n_rows));
}

// sum_k term(k) for k from `first` to `end`, in as many sums as there are lanes: each addition would have to wait for
// the one before.
template <unsigned kLanes, class Term>
inline double sum_in_lanes(index_t first, index_t end, Term&& term) {
  double lanes[kLanes] = {};
  index_t k = first;
  for (; k + index_t{kLanes} <= end; k += kLanes) {
    for (unsigned l = 0; l < kLanes; ++l) lanes[l] += term(k + l);
  }
  double sum = 0;
  for (; k < end; ++k) sum += term(k);
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class T>
inline double dot(const T* a, const double* b, index_t n) {
  return sum_in_lanes<8>(0, n, [&](index_t k) { return static_cast<double>(a[k]) * b[k]; });
}

template <class T>
inline double dot(const DenseView<T>& x, index_t row, const double* w) {
  return dot(x.row(row), w, x.n_cols);
}

template <class T>
inline double dot(const CsrView<T>& x, index_t row, const double* w) {
  return sum_in_lanes<4>(x.row_start[row], x.row_start[row + 1],
                         [&](index_t e) { return static_cast<double>(x.values[e]) * w[x.columns[e]]; });
}

// Entries in ascending order of the column, as in every product of sparse rows: |x|^2 - 2 x'z + |z|^2 is then exactly
// zero for equal rows.
template <class T>
inline double squared_norm(const CsrView<T>& x, index_t row) {
  double sum = 0;
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    const auto value = static_cast<double>(x.values[e]);
    sum += value * value;
  }
  return sum;
}

template <class T>
inline double squared_norm(const DenseView<T>& x, index_t row) {
  const T* const values = x.row(row);
  return sum_in_lanes<8>(0, x.n_cols, [&](index_t f) {
    const auto value = static_cast<double>(values[f]);
    return value * value;
  });
}

// The squared distance of two rows, to the last bits however far from the origin they lie: exactly 0 for equal rows,
// and the same for both orders. Feature f goes to sum f mod 8, as for dense rows (knn_graph.hpp).
template <class T>
double squared_distance(const CsrView<T>& x, index_t i, const CsrView<T>& z, index_t j) {
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  double sum[8] = {};
  index_t a = x.row_start[i];
  index_t b = z.row_start[j];
  const index_t end_a = x.row_start[i + 1];
  const index_t end_b = z.row_start[j + 1];
  while (a < end_a || b < end_b) {
    const std::int32_t at_a = a < end_a ? x.columns[a] : kNone;
    const std::int32_t at_b = b < end_b ? z.columns[b] : kNone;
    const std::int32_t column = std::min(at_a, at_b);
    const double left = at_a == column ? static_cast<double>(x.values[a++]) : 0.0;
    const double right = at_b == column ? static_cast<double>(z.values[b++]) : 0.0;
    const double apart = left - right;
    sum[column % 8] += apart * apart;
  }
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

// w += factor x_row
template <class T>
inline void add_row(const CsrView<T>& x, index_t row, double factor, double* w) {
  for (index_t e = x.row_start[row]; e < x.row_start[row + 1]; ++e) {
    w[x.columns[e]] += factor * static_cast<double>(x.values[e]);
  }
}

template <class T>
inline void add_row(const DenseView<T>& x, index_t row, double factor, double* w) {
  const T* values = x.row(row);
  for (index_t f = 0; f < x.n_cols; ++f) w[f] += factor * static_cast<double>(values[f]);
}

}  // namespace fastpu::detail
