// The sums of the values that trees give to the rows that their bags leave out.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"
#include "tree/grown_tree.hpp"

namespace fastpu::detail {

// A bit for every row.
class RowSet {
 public:
  explicit RowSet(index_t n_rows) : words_(make_vector<std::uint64_t>(count_blocks(n_rows, 64), "the rows of a bag")) {}
  void add(std::uint32_t row) { words_[row >> 6U] |= std::uint64_t{1} << (row & 63U); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(64 * w + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }
  // Writes the set of those of the n rows from `first`, a multiple of 64, that are not in this one.
  void copy_others(index_t first, index_t n, std::uint64_t* words) const {
    for (index_t w = 0; w < count_blocks(n, 64); ++w) words[w] = ~words_[at(first / 64 + w)];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// A tree, and the rows of its bag.
struct LeftOutRows {
  const GrownTree* tree = nullptr;
  const RowSet* in_bag = nullptr;
};

// Adds to sums[row] the values of the trees whose bags do not have the row, in the order of the trees.
void add_out_of_bag(const BinnedFeatures& x, const std::vector<LeftOutRows>& trees, double* sums, Team& team);

}  // namespace fastpu::detail
