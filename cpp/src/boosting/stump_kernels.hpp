// The hot loops of stump boosting, compiled once per instruction-set level.
//
// The bins of a histogram have pairs of weights as rows do (row_weights.hpp), in one set of bins for unlabelled and one
// for labelled rows. The weights of the rows that a stump changes are summed in fixed point.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// The gain g of an unlabelled row, or of those of a bin, is unlabelled_plus * exp(-f) - unlabelled_minus * exp(f); that
// of a labelled one likewise.
struct GainCoefs {
  double unlabelled_minus = 0;
  double unlabelled_plus = 0;
  double labelled_minus = 0;
  double labelled_plus = 0;
};

// The bins of one kind of rows and the next are a few bins further apart than there are bins, say 260 and not 256.
// Otherwise equal codes of different features would share one set of the first-level cache.
inline constexpr index_t kBinPadding = 4;

template <class Code>
struct DenseCodes {
  const Code* by_row;
  index_t row_stride;
  index_t n_features;
  index_t bin_stride;  // bins from the first unlabelled to the first labelled one of a feature
};

// Most rows in one call of the functions that add rows: their codes stay in the second-level cache.
inline constexpr index_t kMostRows = 1024;

// Adds the weights of the listed rows to the histogram, and changes the rows. `histogram` points at the first bin of
// their kind in the layout [feature][kind][bin][pair]. Returns the sums of the weights.
template <class Code>
using AddWeights = PairSums (*)(const DenseCodes<Code>&, RowState*, const std::uint32_t* rows, index_t n,
                                const RowChange&, std::int64_t* histogram);

struct StumpKernels {
  AddWeights<std::uint8_t> add_byte_rows;
  AddWeights<std::uint16_t> add_two_byte_rows;
  // Adds factor * added to the histogram, pair by pair, and sets `added` to 0.
  void (*merge_bins)(double* histogram, std::int64_t* added, index_t n_bins, double minus_factor, double plus_factor);
  // Writes the gain of each bin.
  void (*bin_gains)(const double* unlabelled, const double* labelled, index_t n_bins, const GainCoefs&, double* gain);
  // Writes prefix[b] = gain[0] + ... + gain[b], and returns the sum of all. The order of additions is the same at every
  // level.
  double (*prefix_sums)(const double* gain, index_t n, double* prefix);
  // The largest |slope * (total - prefix[k]) + center| of first <= k < end, or -1 if there is none.
  double (*largest_score)(const double* prefix, index_t first, index_t end, double total, double slope, double center);

  template <class Code>
  AddWeights<Code> add_rows() const {
    return for_type<Code>(add_byte_rows, add_two_byte_rows);
  }
};

FASTPU_KERNEL_LEVELS(StumpKernels, kStumpKernels, stump_kernels)

}  // namespace fastpu::detail
