// The rows of a bag of positive and unlabelled rows, as a tree is grown on them: which rows are in a node, and what
// their codes are. The rows of a node lie together in a list, those of P apart from those of U.
#pragma once

#include <algorithm>
#include <array>
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
  // The value of a bin, as Cuts has it.
  double bin_value(index_t feature, std::uint32_t code) const { return grids_[at(feature)].values[code]; }
  // How many bins of the feature have a value of at most x.
  std::uint32_t bins_at_most(index_t feature, double x) const {
    const Grid& grid = grids_[at(feature)];
    const std::uint32_t* start = grid.cell_start + grid.cell(x);
    std::uint32_t found = start[0];
    for (std::uint32_t n = start[1] - start[0]; n > kCounted;) {
      const std::uint32_t half = (n + 1) / 2;
      found += half & (0U - static_cast<std::uint32_t>(grid.values[found + half - 1] <= x));
      n -= half;
    }
    // The values after these are larger.
    std::uint32_t more = 0;
    for (std::uint32_t k = 0; k < kCounted; ++k) more += grid.values[found + k] <= x ? 1U : 0U;
    return found + more;
  }

 private:
  static constexpr std::uint32_t kCounted = 4;  // values that are always compared, even where there are fewer

  // As many cells of equal width as bins, from the value of the first bin to that of the last, and one more. A number
  // that is drawn between two values falls into any cell, where there are few bins to choose from.
  struct Grid {
    const double* values = nullptr;             // and then kCounted infinite ones
    const std::uint32_t* cell_start = nullptr;  // for every cell the bins whose values lie in cells before it
    double first = 0;
    double cells_per_unit = 0;
    std::uint32_t n_cells = 0;

    std::uint32_t cell(double x) const {
      const double where = (x - first) * cells_per_unit;
      return where > 0 ? std::min(static_cast<std::uint32_t>(where), n_cells) : 0;
    }
  };

  void make_grid(index_t feature, double* values, std::uint32_t* cell_start);

  const BinnedFeatures& binned_;
  std::vector<Grid> grids_;
  std::vector<double> values_;
  std::vector<std::uint32_t> cell_start_;
  std::vector<std::uint8_t> missing_;
  std::vector<std::uint8_t> categorical_;
  bool any_missing_ = false;
};

// The places of a node's rows in one of two lists: all rows of one group, then those of the other. The same places in
// the other list are free.
struct PuRange {
  std::uint32_t first = 0;
  std::uint32_t middle = 0;  // the first of the second group
  std::uint32_t end = 0;
  std::uint32_t unl_first = 0;  // 1: U comes first, 0: P
  std::uint32_t list = 0;
  std::uint32_t level = 0;  // of PuDenseRows

  std::uint32_t n_rows() const { return end - first; }
  PuCounts counts() const {
    return unl_first != 0 ? PuCounts{end - middle, middle - first} : PuCounts{middle - first, end - middle};
  }
};

// Rows of a bag as they were drawn: first those of P, then those of U, a row once for every time.
struct Bag {
  std::vector<std::uint32_t> rows;
  std::uint32_t n_pos = 0;

  PuRange range() const { return {.middle = n_pos, .end = static_cast<std::uint32_t>(rows.size())}; }
};

// A feature that was drawn for a node.
struct DrawnFeature {
  std::uint32_t feature = 0;
  double where = 0;       // in [0, 1): where between the smallest and the largest value the random cut lies
  std::uint32_t cut = 0;  // the cut that this makes
  PuCounts at_most;       // rows whose code is at most the cut
  double gain = 0;        // what it gains if these go left
};

// Splits the rows of a node by a function that tells whether a row goes left; so many of them do. `left` may be the
// node. Field by field: to copy at once what was just written in parts would have to wait.
template <class GoesLeft>
void split_range(std::array<std::vector<std::uint32_t>, 2>& lists, const PuRange& node, const PuCounts& n_left,
                 PuRange& left, PuRange& right, GoesLeft&& goes_left) {
  const std::uint32_t first = node.first;
  const std::uint32_t n_first = node.middle - first;
  const std::uint32_t n_first_left = node.unl_first != 0 ? n_left.u : n_left.p;
  const std::uint32_t list = node.list;
  split_list(lists[list].data() + first, node.n_rows(), lists[1 - list].data() + first, goes_left);
  right.first = first + n_left.rows();
  right.middle = node.end - (n_first - n_first_left);
  right.end = node.end;
  right.unl_first = 1 - node.unl_first;
  right.list = 1 - list;
  right.level = node.level;
  left.first = first;
  left.middle = first + n_first_left;
  left.end = right.first;
  left.unl_first = node.unl_first;
  left.list = list;
  left.level = node.level;
}

}  // namespace fastpu::detail
