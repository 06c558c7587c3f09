// Features whose every threshold is searched, and not only the cuts of their bins.
//
// Dense features are cut at some of their quantiles, and a search looks into those bins that could hold the best
// threshold, by the order of the rows. Sparse features are cut at every boundary between distinct values. In both forms
// a feature with more than BinOptions::most_distinct distinct values has BinOptions::n_quantiles quantiles only.
#pragma once

#include "fastpu/common/parallel.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

struct ExactFeatures {
  BinnedFeatures binned;
  FeatureOrder order;  // of dense features with more boundaries than cuts
};

// Time and memory are those of bin_features. Of the options max_bins is not read. T is float or double.
template <class T>
ExactFeatures bin_exactly(const DenseView<T>& x, BinOptions options, Team& team);
template <class T>
ExactFeatures bin_exactly(const CsrView<T>& x, BinOptions options, Team& team);

}  // namespace fastpu
