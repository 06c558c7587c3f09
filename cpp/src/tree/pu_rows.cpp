#include "tree/pu_rows.hpp"

#include <stdexcept>
#include <string>

namespace fastpu::detail {

TreeFeatures::TreeFeatures(const BinnedFeatures& binned, const std::uint8_t* categorical)
    : binned_(binned),
      bin_values_(make_vector<const double*>(binned.n_features, "where the values of the bins are")),
      missing_(make_vector<std::uint8_t>(binned.n_features, "which features have missing values")),
      categorical_(make_vector<std::uint8_t>(binned.n_features, "which features are categorical")) {
  for (index_t f = 0; f < binned.n_features; ++f) {
    bin_values_[at(f)] = binned.cuts->bin_values_of(f);
    missing_[at(f)] = binned.cuts->has_missing(f) ? 1 : 0;
    any_missing_ = any_missing_ || missing_[at(f)] != 0;
    if (categorical == nullptr || categorical[f] == 0) continue;
    categorical_[at(f)] = 1;
    if (!binned.cuts->are_of_categories(f) || binned.is_sparse()) {
      throw std::invalid_argument("feature " + std::to_string(f) + " was not binned as a categorical one");
    }
  }
}

}  // namespace fastpu::detail
