// The hot loops of stump boosting, compiled once per instruction-set level.
//
// Histograms hold pairs of weights as rows do (row_weights.hpp), one set for unlabelled and one for labelled rows. The
// rows that a stump changes are summed as whole numbers (the weights in fixed point).
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// g of a bin or row: unlabelled_plus * exp(-f) - unlabelled_minus * exp(f), likewise labelled.
struct GainCoefs {
  double unlabelled_minus = 0;
  double unlabelled_plus = 0;
  double labelled_minus = 0;
  double labelled_plus = 0;
};

// The histograms of two features lie a few bins more apart than they have bins: 260 and not 256, say, or equal codes of
// different features would all meet in one set of the first-level cache.
inline constexpr index_t kBinPadding = 4;
inline constexpr index_t kByteBinStride = 256 + kBinPadding;  // the common case, compiled as a constant

template <class Code>
struct DenseCodes {
  const Code* by_row;
  index_t row_stride;
  index_t n_features;
  index_t bin_stride;  // bins from one kind of a feature to the next
};

// Most rows of one call of the functions that add rows: their codes stay in the second-level cache.
inline constexpr index_t kMostRows = 1024;

struct StumpKernels {
  // Adds the listed rows to the histogram (feature-major: [feature][kind][bin][pair], `histogram` pointing at the
  // kind's first bin) and changes them. Returns the sums of what was added to one feature.
  PairSums (*add_byte_rows)(const DenseCodes<std::uint8_t>&, RowState*, const std::uint32_t* rows, index_t n,
                            const RowChange&, std::int64_t* histogram);
  PairSums (*add_two_byte_rows)(const DenseCodes<std::uint16_t>&, RowState*, const std::uint32_t* rows, index_t n,
                                const RowChange&, std::int64_t* histogram);
  // The same for few rows: straight to the histogram of weights, each weight times its factor. There the order
  // counts. Sums in fixed point would need one more pass over all bins, which would cost more than the rows do.
  PairSums (*add_byte_rows_directly)(const DenseCodes<std::uint8_t>&, RowState*, const std::uint32_t* rows, index_t n,
                                     const RowChange&, double* histogram);
  PairSums (*add_two_byte_rows_directly)(const DenseCodes<std::uint16_t>&, RowState*, const std::uint32_t* rows,
                                         index_t n, const RowChange&, double* histogram);
  // Bit i of words[i / 64] says whether codes[i] > cut, for n_words * 64 codes.
  void (*bytes_above)(const std::uint8_t* codes, std::uint8_t cut, index_t n_words, std::uint64_t* words);
  void (*two_bytes_above)(const std::uint16_t* codes, std::uint16_t cut, index_t n_words, std::uint64_t* words);
  // histogram += factor * added for each pair; added becomes zero.
  void (*merge_bins)(double* histogram, std::int64_t* added, index_t n_bins, double minus_factor, double plus_factor);
  // gain[bin] = g of the bin.
  void (*bin_gains)(const double* unlabelled, const double* labelled, index_t n_bins, const GainCoefs&, double* gain);
  // prefix[b] = gain[0] + ... + gain[b]; returns the sum of all. Summed in blocks of four, the same at every level.
  double (*prefix_sums)(const double* gain, index_t n, double* prefix);
  // The largest |slope * (total - prefix[k]) + center| of first <= k < end, or -1 if there is none.
  double (*largest_score)(const double* prefix, index_t first, index_t end, double total, double slope, double center);
};

FASTPU_KERNEL_LEVELS(StumpKernels, kStumpKernels, stump_kernels)

}  // namespace fastpu::detail
