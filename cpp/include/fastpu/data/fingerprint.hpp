// A short number by which rows, their labels and their weights are known again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

// Sums modulo 2^64 of a hash of each row and its number: of its codes, of its label and of its weight. Rows are
// numbered from `first_row` on, so the sums over parts of the data are those of all rows. Dense and sparse features
// with the same codes have the same sums. `weights` may be null for 1.
//
// Time O(n d) for dense features, a multiplication a code; O(n + entries) and 8 bytes a row for sparse ones.
std::array<std::uint64_t, 3> fingerprint(const BinnedFeatures& features, const std::int8_t* labels,
                                         const double* weights, index_t first_row, Team& team);

// A hash of the codes of each of these rows, the same for rows with the same codes, whatever data they are in.
//
// Time O(d) a row for dense features; O(n + entries) and 8 bytes for each row of the data for sparse ones.
std::vector<std::uint64_t> row_hashes(const BinnedFeatures& features, const index_t* rows, index_t n, Team& team);

}  // namespace fastpu
