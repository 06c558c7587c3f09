#include "fastpu/boosting/exact_features.hpp"

#include <algorithm>
#include <cmath>

namespace fastpu {

namespace {

// The bins of a dense feature whose every threshold is searched. Any number gives the same model; this one is fast and
// bounds the memory of wide data.
index_t exact_search_bins(index_t n_rows, index_t n_features) {
  constexpr double kOfRoot = 3;  // more bins take longer to sum up, fewer have more rows to be looked into
  constexpr double kOneByte = 255;
  constexpr index_t kFewest = 15;
  constexpr index_t kMostBins = 1 << 21;  // 64 MB of histograms, and as much for a thread
  const auto wanted = static_cast<index_t>(std::min(kOneByte, kOfRoot * std::sqrt(static_cast<double>(n_rows))));
  return std::max(kFewest, std::min(wanted, kMostBins / n_features));
}

}  // namespace

template <class T>
ExactFeatures bin_exactly(const DenseView<T>& x, BinOptions options, Team& team) {
  const bool may_have_more = x.n_rows > options.most_distinct;
  options.max_bins = may_have_more ? options.n_quantiles : exact_search_bins(x.n_rows, x.n_cols);
  ExactFeatures features;
  features.binned = bin_features(x, options, team, &features.order);
  return features;
}

template <class T>
ExactFeatures bin_exactly(const CsrView<T>& x, BinOptions options, Team& team) {
  options.max_bins = 0;
  ExactFeatures features;
  features.binned = bin_features(x, options, team);
  return features;
}

template ExactFeatures bin_exactly(const DenseView<float>&, BinOptions, Team&);
template ExactFeatures bin_exactly(const DenseView<double>&, BinOptions, Team&);
template ExactFeatures bin_exactly(const CsrView<float>&, BinOptions, Team&);
template ExactFeatures bin_exactly(const CsrView<double>&, BinOptions, Team&);

}  // namespace fastpu
