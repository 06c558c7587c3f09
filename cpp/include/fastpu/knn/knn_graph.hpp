// The K nearest neighbours of every row, exactly.
//
//     d2(i, j) = sum_f (x_if - x_jf)^2      by differences in double, never by |x|^2 - 2 x'z + |z|^2
//
// Feature f is added to partial sum f mod 8, in ascending order, and the result is
// ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)). Neighbours are sorted by (d2, index). A row is excluded from its
// own neighbours by its index, so that its duplicates are neighbours at distance 0. The result has the same bits for
// every method, instruction-set level and number of threads, and CSR rows give the same bits as the dense matrix of the
// same values.
//
// Dense rows have two methods. The k-d tree takes time O(n log n) in low dimensions, and 12 n d bytes. Blocks compare
// every two rows once, by products in float32 of centred and scaled rows with a bound on their rounding error; exact
// distances are computed for the pairs that may be among the nearest by that bound. Rows that are near each other share
// a block, and near blocks meet first, so that few pairs remain. This takes time O(n^2 d) and 4 n d + 40 n bytes. If
// the bound excludes too few pairs (tight clusters far from each other, many duplicates), the tree takes over: it uses
// exact distances and settles ties by index without visiting all of them.
//
// CSR rows are compared through the columns that they share, in time O(n^2 + sum of squared column counts), with a
// transposed copy of X and 8 n bytes for each thread.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

enum class KnnMethod { automatic, tree, blocks };

struct KnnOptions {
  index_t n_neighbors = 5;                  // of each row; 0 <= n_neighbors <= n - 1
  KnnMethod method = KnnMethod::automatic;  // for dense rows; `blocks` may still hand over to the tree
};

// Writes the neighbours of row i to places i n_neighbors and on of both arrays. Throws std::invalid_argument if
// n_neighbors is out of range or squared distances could overflow: entries must be finite, and the squared ranges of
// the columns (of CSR rows, four times the largest squared length) must have a finite sum.
template <class T>
void knn_search(const DenseView<T>& x, const KnnOptions& options, Team& team, index_t* indices, double* squared);
template <class T>
void knn_search(const CsrView<T>& x, const KnnOptions& options, Team& team, index_t* indices, double* squared);

}  // namespace fastpu
