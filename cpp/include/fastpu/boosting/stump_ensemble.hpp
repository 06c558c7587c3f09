// Scores of an ensemble of decision stumps, f(x) = sum_t alpha_t h_t(x): h_t(x) = 1 where the stump fires
// (x_e > theta_t for polarity +1, not x_e > theta_t for polarity -1), else `low`. On a categorical feature, "x_e in set
// theta_t" stands for x_e > theta_t. NaN and -inf are above theta_t where the stump says so of missing values.
//
// The stumps of a feature add up to a step function, so the score of a row takes one search among the thresholds of
// each feature, not a comparison for each stump.
#pragma once

#include <cstdint>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

struct StumpEnsembleView {
  const std::int32_t* features = nullptr;
  const double* thresholds = nullptr;
  const std::int8_t* polarity = nullptr;
  const double* alphas = nullptr;
  index_t n_stumps = 0;
  index_t n_features = 0;
  double low = 0;
  const std::uint8_t* categorical = nullptr;  // for every feature whether it is categorical, or null
  const CategorySet* sets = nullptr;          // of codes: code 0 is missing, v + 1 category v
  index_t n_sets = 0;
  const std::int8_t* missing_above = nullptr;  // null: missing values are above no threshold
};

// Writes n_rows scores. Throws std::invalid_argument for a stump or matrix with the wrong features, and for a set that
// does not exist; with binned features also for a threshold that is not one of their cuts; with a CSR matrix if a stump
// is on a categorical feature.
template <class T>
void stump_scores(const StumpEnsembleView& ensemble, const DenseView<T>& x, double* scores, Team& team);
template <class T>
void stump_scores(const StumpEnsembleView& ensemble, const CsrView<T>& x, double* scores, Team& team);
void stump_scores(const StumpEnsembleView& ensemble, const BinnedFeatures& x, double* scores, Team& team);

}  // namespace fastpu
