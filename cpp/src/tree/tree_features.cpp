#include "tree/tree_features.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu::detail {

TreeFeatures::TreeFeatures(const BinnedFeatures& binned, const std::uint8_t* categorical)
    : binned_(binned),
      grids_(make_vector<Grid>(binned.n_features, "the values of the bins")),
      values_(make_vector<double>(binned.total_bins() + kCompared * binned.n_features, "the values of the bins")),
      cell_start_(make_vector<std::uint32_t>(binned.total_bins() + 2 * binned.n_features, "the values of the bins")),
      missing_(make_vector<std::uint8_t>(binned.n_features, "which features have missing values")),
      categorical_(make_vector<std::uint8_t>(binned.n_features, "which features are categorical")),
      feature_of_bin_(
          make_vector<std::uint32_t>(binned.is_sparse() ? binned.total_bins() : 0, "the features of bins")) {
  for (index_t f = 0; f < binned.n_features; ++f) {
    const index_t first_bin = binned.first_bin(f);
    make_grid(f, values_.data() + first_bin + kCompared * f, cell_start_.data() + first_bin + 2 * f);
    if (binned.is_sparse()) {
      std::fill_n(feature_of_bin_.begin() + first_bin, binned.n_bins(f), static_cast<std::uint32_t>(f));
    }
    missing_[at(f)] = binned.cuts->has_missing(f) ? 1 : 0;
    any_missing_ = any_missing_ || missing_[at(f)] != 0;
    if (categorical == nullptr || categorical[f] == 0) continue;
    categorical_[at(f)] = 1;
    if (!binned.cuts->are_of_categories(f) || binned.is_sparse()) {
      throw std::invalid_argument("feature " + std::to_string(f) + " was not binned as a categorical one");
    }
  }
  if (binned.total_bins() > index_t{1} << 16) return;
  short_row_bins_ = make_vector<std::uint16_t>(static_cast<index_t>(binned.row_bins.size()), "the bins of entries");
  std::ranges::transform(binned.row_bins, short_row_bins_.begin(),
                         [](std::uint32_t bin) { return static_cast<std::uint16_t>(bin); });
}

void TreeFeatures::make_grid(index_t feature, double* values, std::uint32_t* cell_start) {
  const index_t n_bins = binned_.n_bins(feature);
  std::copy_n(binned_.cuts->bin_values_of(feature), n_bins, values);
  std::fill_n(values + n_bins, kCompared, kInfinity);
  Grid& grid = grids_[at(feature)];
  grid.values = values;
  grid.cell_start = cell_start;
  grid.cells = EqualCells<double>(values[0], values[n_bins - 1], static_cast<std::int32_t>(n_bins));
  grid.cells.count(values, n_bins, cell_start);
}

}  // namespace fastpu::detail
