// Features cut into bins: what the boosting methods search for stumps on.
//
// A feature e has cuts theta_0 < theta_1 < ...; the code of a value x is the number of cuts below it,
//     code(x) = #{k : x > theta_k},
// so that cut k separates exactly the rows with code > k. NaN counts as -inf. A cut lies midway between two
// neighbouring values of the training rows. With N rows and at most K cuts, a feature with no more than K
// boundaries between distinct values takes all of them; otherwise cut k = 1..K is the smallest boundary with
//     (rows on the low side) * (K + 1) >= k * N,
// repetitions removed. Row weights count as repetitions; a row of weight 0 counts as absent. A feature with values
// that count as -inf is always cut above them, so that they have a bin of their own: where there are K cuts without
// that one, it takes the place of the lowest.
//
// A categorical feature has the categories 0 to 254, and whatever else it holds counts as NaN. Its cuts are -inf and
// then every v + 1/2 below its largest category: category v has the code v + 1.
//
// Dense matrices are kept as codes twice: row by row for the histograms, column by column for the question
// which rows lie above a cut. Sparse matrices keep the entries whose code differs from the code of zero.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/code_width.hpp"

namespace fastpu {

// The cuts of all features, ascending within a feature. Cuts of feature e: value[start[e]] .. value[start[e+1]-1].
struct Cuts {
  std::vector<index_t> start;
  std::vector<double> value;
  // A finite value that stands for each bin, in the order of BinnedFeatures::first_bin; within a feature the values do
  // not descend. It is the smallest value of the lowest bin, the largest of the highest, and midway between the
  // smallest and the largest value of any other bin.
  std::vector<double> bin_value;

  index_t count(index_t feature) const { return start[at(feature) + 1] - start[at(feature)]; }
  const double* of(index_t feature) const { return value.data() + start[at(feature)]; }
  const double* bin_values_of(index_t feature) const { return bin_value.data() + start[at(feature)] + feature; }
  // Whether the cuts are those of a categorical feature.
  bool are_of_categories(index_t feature) const;
  // Whether the lowest bin holds the values that count as -inf and no others.
  bool has_missing(index_t feature) const { return count(feature) > 0 && of(feature)[0] == -kInfinity; }
};

// Read-only after construction; shared freely between fits and threads.
struct BinnedFeatures {
  index_t n_rows = 0;
  index_t n_features = 0;
  std::shared_ptr<const Cuts> cuts;
  CodeWidth width = CodeWidth::one_byte;

  // Dense: codes as bytes or pairs of bytes (native order), padded with zero codes.
  index_t row_stride = 0;     // codes from one row to the next in by_row
  index_t column_stride = 0;  // codes from one feature to the next in by_column, a multiple of 64
  AlignedBuffer<std::uint8_t> by_row;
  AlignedBuffer<std::uint8_t> by_column;

  // Sparse: per row the flat bins (cuts before the feature + features before it + code) of the entries whose
  // code is not zero_code; per feature the rows of these entries and their codes.
  std::vector<index_t> row_start;
  std::vector<std::uint32_t> row_bins;
  std::vector<index_t> column_start;
  std::vector<std::uint32_t> column_rows;
  std::vector<std::uint32_t> column_codes;
  std::vector<std::uint32_t> zero_code;  // per feature

  bool is_sparse() const { return width == CodeWidth::sparse; }
  index_t n_bins(index_t feature) const { return cuts->count(feature) + 1; }
  index_t first_bin(index_t feature) const { return cuts->start[at(feature)] + feature; }
  index_t total_bins() const { return static_cast<index_t>(cuts->value.size()) + n_features; }
  // Bytes of the codes and cuts.
  index_t n_bytes() const;
  // Fills what is kept column by column from what is kept row by row.
  void fill_columns(Team& team);
};

// The rows of each feature with more boundaries than cuts, in ascending order of its values, so that the boundaries
// inside its bins can be searched too. kRunStart marks the first row of each run of equal values.
struct FeatureOrder {
  static constexpr std::uint32_t kRunStart = 0x80000000U;
  static constexpr std::uint32_t kRow = 0x7fffffffU;

  std::vector<index_t> features;                      // the features that have an order, ascending
  std::vector<AlignedBuffer<std::uint32_t>> rows;     // of each of these; rows of weight 0 are absent
  std::vector<std::vector<std::uint32_t>> bin_start;  // of each: position of the first row of each bin, and the end
};

// Rows are numbered in 31 bits, sparse bins in 32.
inline constexpr index_t kMaxRows = 0x7fffffff;
inline constexpr index_t kMaxSparseBins = 0xffffffff;
// Most categories of a categorical feature.
inline constexpr int kMostCategories = 255;

struct BinOptions {
  index_t max_bins = 255;                     // at most so many cuts a feature; 0 means every boundary (sparse only)
  const double* sample_weight = nullptr;      // one a row, or null for 1
  const std::uint8_t* categorical = nullptr;  // dense only: for every feature whether it is categorical, or null
  // Cuts that were found for other rows, to be used for these, or null to find cuts for these rows. With given cuts,
  // `max_bins` must be what they were found with, and `categorical` and `sample_weight` have no effect.
  std::shared_ptr<const Cuts> cuts = nullptr;
  // Where every boundary is searched: a feature with more than most_distinct distinct values has n_quantiles cuts.
  index_t most_distinct = kMaxRows;
  index_t n_quantiles = 255;
};

// T is float or double, of t = 4 or 8 bytes. Time O(n d (radix passes + log K)) for dense, O(nnz log nnz) for sparse.
// Peak memory beside x in bytes, with p = 2 t the bytes of a key beside its row and all scratch freed at the end:
//   dense    n d c + max(n d c, n min(64, d t) + n W s) + n d_o o     c = 1 or 2, the bytes of a code, n d c twice
//            being the result (rows padded to 8, 16, 32 bytes or whole lines of 64, columns to 64 codes); a strip of
//            columns one cache line wide; W <= min(threads, d, 64 / t) workers, each with the scratch to sort a column,
//            s = 8 + 2 t bytes a row, or 8 + t + 2 p with unequal weights or `order`, or 8 + 2 t + 2 p with `order` and
//            more rows than most_distinct; o = 4 for the d_o features that `order` lists, which stay.
//   sparse   nnz (t + 8) + W m (8 + t + 2 p)  while the columns are cut, m entries being in the longest of them;
//            the result is 12 bytes for each entry out of the bin of zero, 8 a row and 12 a feature; beside it, while
//            it is made, 4 a bin and 32 a feature.
// `order` (dense only), unless it is null, receives the orders of the features that have more than max_bins boundaries,
// but at most most_distinct values.
// Throws std::invalid_argument for max_bins or sizes out of range, and for given cuts that bin_features could not have
// found for so many features.
template <class T>
BinnedFeatures bin_features(const DenseView<T>& x, const BinOptions& options, Team& team,
                            FeatureOrder* order = nullptr);
template <class T>
BinnedFeatures bin_features(const CsrView<T>& x, const BinOptions& options, Team& team);

// The given rows, in the given order, with the same cuts. Throws std::invalid_argument for a row out of range, or no
// row.
BinnedFeatures take_rows(const BinnedFeatures& all, const index_t* rows, index_t n, Team& team);

// The rows of all parts, one below the other. Throws std::invalid_argument unless all have the same cuts and the same
// form, and there is a part.
BinnedFeatures stack_rows(const std::vector<const BinnedFeatures*>& parts, Team& team);

// Throws std::invalid_argument, saying what is wrong, unless the cuts are as bin_features would leave them for codes of
// this width and so many features; reads nothing else.
void check_cuts(const BinnedFeatures& binned, Team& team);

// For binned features that were read from a pickle, before fill_columns: throws std::invalid_argument, saying what is
// wrong, unless cuts and row-wise codes are as bin_features would have left them. It reads nothing out of bounds,
// whatever the members hold.
void check_binned(const BinnedFeatures& binned, Team& team);

// Whether both were cut at the same places.
bool same_cuts(const BinnedFeatures& a, const BinnedFeatures& b);

}  // namespace fastpu
