// The values of trees for rows of features.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// Writes for each of n_rows rows the sum over the trees, in their order, of the value of the leaf that the row comes
// to. So the same rows get the same bits in every form: dense or sparse, float or double, raw or binned with the cuts
// that the trees were grown on.
// Throws std::invalid_argument where check_trees does, for a matrix with another number of features than the trees, and
// for binned features that are not cut at the thresholds of the trees.
template <class T>
void tree_scores(const TreesView& trees, const DenseView<T>& x, double* scores, Team& team);
template <class T>
void tree_scores(const TreesView& trees, const CsrView<T>& x, double* scores, Team& team);
void tree_scores(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team);

}  // namespace fastpu
