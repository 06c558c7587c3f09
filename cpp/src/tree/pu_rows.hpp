// The rows of a bag of positive and unlabelled rows, as a tree is grown on them: which rows are in a node, and what
// their codes are. The rows of a node lie together in a list, those of P apart from those of U.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "tree/pu_criterion.hpp"
#include "tree/split_list.hpp"
#include "tree/split_search.hpp"

namespace fastpu::detail {

// What a search needs to know of the features, for all trees of a fit.
class TreeFeatures {
 public:
  // `categorical`: for every feature whether it is categorical, or null. Throws std::invalid_argument where such a
  // feature was not binned as one.
  TreeFeatures(const BinnedFeatures& binned, const std::uint8_t* categorical);

  const BinnedFeatures& binned() const { return binned_; }
  // Whether code 0 stands for missing values alone.
  bool can_be_missing(index_t feature) const { return missing_[at(feature)] != 0; }
  bool is_categorical(index_t feature) const { return categorical_[at(feature)] != 0; }
  bool any_missing() const { return any_missing_; }
  // Cuts::bin_values_of.
  const double* bin_values(index_t feature) const { return bin_values_[at(feature)]; }

 private:
  const BinnedFeatures& binned_;
  std::vector<const double*> bin_values_;
  std::vector<std::uint8_t> missing_;
  std::vector<std::uint8_t> categorical_;
  bool any_missing_ = false;
};

// Rows of a bag as they were drawn: first those of P, then those of U, a row once for every time.
struct Bag {
  std::vector<std::uint32_t> rows;
  std::uint32_t n_pos = 0;

  PuCounts counts() const { return {n_pos, static_cast<std::uint32_t>(rows.size()) - n_pos}; }
};

// The places of a node's rows in a list, of P and of U.
struct PuRange {
  std::uint32_t p = 0;
  std::uint32_t p_end = 0;
  std::uint32_t u = 0;
  std::uint32_t u_end = 0;
  int level = 0;  // of the lists of PuDenseRows

  PuCounts counts() const { return {p_end - p, u_end - u}; }
};

// A feature that was drawn for a node.
struct DrawnFeature {
  std::uint32_t feature = 0;
  double where = 0;       // in [0, 1): where between the smallest and the largest value the random cut lies
  std::uint32_t cut = 0;  // the cut that this makes
  PuCounts at_most;       // rows whose code is at most the cut
};

// Splits the rows of a node, in their list, by a function that tells whether a row goes left.
template <class GoesLeft>
void split_range(std::uint32_t* list, const PuRange& node, PuRange& left, PuRange& right, GoesLeft&& goes_left) {
  left = right = node;
  left.p_end = right.p = node.p + split_list(list + node.p, node.p_end - node.p, goes_left);
  left.u_end = right.u = node.u + split_list(list + node.u, node.u_end - node.u, goes_left);
}

}  // namespace fastpu::detail
