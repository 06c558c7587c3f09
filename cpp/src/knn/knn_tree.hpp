// Nearest neighbours by a k-d tree with a bounding box at every node.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "knn/nearest_rows.hpp"

namespace fastpu::detail {

// Fills in and sorts the neighbours of all rows; 1 <= nearest.n_neighbors() < x.n_rows. Equal rows are split by index,
// and a node knows the lowest index below it, so that many duplicates do not slow the search down.
template <class T>
void search_tree(const DenseView<T>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
