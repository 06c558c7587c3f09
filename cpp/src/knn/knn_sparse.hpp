// Nearest neighbours of CSR rows.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "knn/nearest_rows.hpp"

namespace fastpu::detail {

// Fills in and sorts the neighbours of all rows; 1 <= nearest.n_neighbors() < x.n_rows. Throws std::invalid_argument if
// a row is too large to be squared.
template <class T>
void search_sparse(const CsrView<T>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
