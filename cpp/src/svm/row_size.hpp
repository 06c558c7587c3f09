// The mean number of entries of a row, those that are stored.
#pragma once

#include <algorithm>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

template <class T>
double mean_row_size(const DenseView<T>& x) {
  return static_cast<double>(x.n_cols);
}
template <class T>
double mean_row_size(const CsrView<T>& x) {
  return static_cast<double>(x.row_start[x.n_rows]) / static_cast<double>(std::max<index_t>(1, x.n_rows));
}

}  // namespace fastpu::detail
