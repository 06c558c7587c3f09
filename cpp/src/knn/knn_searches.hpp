// The three ways to find the nearest rows of every row (fastpu/knn/knn_graph.hpp). Each fills in and sorts the
// neighbours of all rows; 1 <= nearest.n_neighbors() < x.n_rows.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "knn/nearest_rows.hpp"

namespace fastpu::detail {

// By a k-d tree, for dense rows of few columns. Equal rows are split by index, and a node knows the lowest index below
// it, so that many duplicates do not slow the search down.
template <class T>
void search_tree(const DenseView<T>& x, Team& team, NearestRows& nearest);

// By comparing every two dense rows once: a filter in float32 with a bound on its error, then exact distances of what
// it lets through. Returns false, with `nearest` in no defined state, if that is so much that the tree is faster.
template <class T>
bool search_blocks(const DenseView<T>& x, Team& team, NearestRows& nearest);

// By the columns that sparse rows share. Throws std::invalid_argument if squared distances could overflow.
template <class T>
void search_sparse(const CsrView<T>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
