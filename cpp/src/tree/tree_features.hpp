// What the growing of trees has to know of binned features, the same for all trees of a fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/equal_cells.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu::detail {

class TreeFeatures {
 public:
  // `categorical` says for every feature whether it is categorical, or is null if none is. Throws std::invalid_argument
  // for a categorical feature that was not binned as one.
  TreeFeatures(const BinnedFeatures& binned, const std::uint8_t* categorical);

  const BinnedFeatures& binned() const { return binned_; }
  // Whether code 0 stands for missing values alone.
  bool can_be_missing(index_t feature) const { return missing_[at(feature)] != 0; }
  bool is_categorical(index_t feature) const { return categorical_[at(feature)] != 0; }
  bool any_missing() const { return any_missing_; }
  // Of sparse features: the feature that a bin belongs to, bins being numbered through all features.
  std::uint32_t feature_of(std::uint32_t bin) const { return feature_of_bin_[bin]; }
  // Returns body(BinnedFeatures::row_bins), or of the same numbers in half the bytes where there are few bins.
  template <class Body>
  auto with_row_bins(Body&& body) const {
    return short_row_bins_.empty() ? body(binned_.row_bins) : body(short_row_bins_);
  }
  // The value that stands for a bin (Cuts::bin_value).
  double bin_value(index_t feature, std::uint32_t code) const { return grids_[at(feature)].values[code]; }
  // How many bins of the feature have a value of at most x.
  std::uint32_t bins_at_most(index_t feature, double x) const {
    const Grid& grid = grids_[at(feature)];
    const std::uint32_t* start = grid.cell_start + grid.cells.cell(x);
    std::uint32_t n_bins = start[0];
    for (std::uint32_t n = start[1] - start[0]; n > kCompared;) {
      const std::uint32_t half = (n + 1) / 2;
      n_bins += half & (0U - static_cast<std::uint32_t>(grid.values[n_bins + half - 1] <= x));
      n -= half;
    }
    // The values after the next kCompared ones are larger than x.
    std::uint32_t n_more = 0;
    for (std::uint32_t k = 0; k < kCompared; ++k) n_more += grid.values[n_bins + k] <= x ? 1U : 0U;
    return n_bins + n_more;
  }

 private:
  static constexpr std::uint32_t kCompared = 4;  // the last values of a search are all compared, without branches

  // A grid of equal cells, as many as the feature has bins, from the value of the first bin to that of the last, and
  // one more cell beyond. bins_at_most() searches the cell of its number only, which has few bins on average.
  struct Grid {
    const double* values = nullptr;             // of the bins, followed by kCompared infinite ones
    const std::uint32_t* cell_start = nullptr;  // for every cell the number of bins whose values lie in cells before it
    EqualCells<double> cells;
  };

  void make_grid(index_t feature, double* values, std::uint32_t* cell_start);

  const BinnedFeatures& binned_;
  std::vector<Grid> grids_;
  std::vector<double> values_;
  std::vector<std::uint32_t> cell_start_;
  std::vector<std::uint8_t> missing_;
  std::vector<std::uint8_t> categorical_;
  std::vector<std::uint32_t> feature_of_bin_;
  std::vector<std::uint16_t> short_row_bins_;
  bool any_missing_ = false;
};

}  // namespace fastpu::detail
