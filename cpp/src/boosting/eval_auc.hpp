// The AUC of an evaluation set, round after round.
//
// A stump moves two groups of rows by one constant each, so each group stays sorted: merging the two sorts all rows
// again in O(n), where sorting afresh would cost O(n log n) a round.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/parallel.hpp"

namespace fastpu::detail {

// Writes above[i] = whether row i is above the boundary of a stump, which is the threshold where the features are not
// binned.
using FindAbove = std::function<void(const StumpBoundary& stump, double threshold, std::vector<char>& above)>;

class EvalAuc {
 public:
  EvalAuc(const BoostEvalSet& eval, const BinnedFeatures& training, Team& team);
  // Adds alpha to the rows where the stump fires and alpha * low to the others; returns the AUC.
  double add_stump(const StumpBoundary& stump, double threshold, bool fires_above, double alpha, double low);
  index_t n_rows() const { return static_cast<index_t>(score_.size()); }
  // Adds values[row] to every row.
  void add_scores(const double* values);
  // Sorts the rows afresh, in O(n log n), and returns the AUC.
  double rank();

 private:
  template <bool kWeighted>
  double merge_and_judge();

  FindAbove find_above_;
  std::vector<std::int8_t> side_;  // +1 or -1, of the rows that are judged
  std::vector<double> weight_;     // empty where all are 1
  std::vector<double> score_;
  std::vector<std::uint32_t> order_;  // the rows that are judged, by ascending scores
  std::vector<std::uint32_t> firing_;
  std::vector<std::uint32_t> others_;
  std::vector<char> above_;
  double n_pairs_ = 0;  // by weight
};

}  // namespace fastpu::detail
