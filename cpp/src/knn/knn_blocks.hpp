// Nearest neighbours by comparing every two rows once: a filter in float32 with a bound on its error, then exact
// distances of what it lets through.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "knn/nearest_rows.hpp"

namespace fastpu::detail {

// Fills in and sorts the neighbours of all rows; 1 <= nearest.n_neighbors() < x.n_rows. Returns false, with `nearest`
// in no defined state, if so many pairs pass the filter that the tree is faster.
template <class T>
bool search_blocks(const DenseView<T>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
