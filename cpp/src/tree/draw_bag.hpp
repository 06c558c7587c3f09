// The bags of forests and of bagged boosters.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Rows of one group, with their chances to be drawn.
class DrawnGroup {
 public:
  // `rows` ascending. Of weights (of all rows, or null) rows of weight 0 count as absent, and weights that are equal
  // within the rest of the group as none.
  DrawnGroup(std::vector<std::uint32_t> rows, const double* sample_weight);

  index_t size() const { return static_cast<index_t>(rows_.size()); }

  // Adds n rows, drawn independently.
  void draw_with_replacement(index_t n, Random& random, std::vector<std::uint32_t>& drawn) const;

  // Adds n different rows (or all of them, if these are fewer). `places` is scratch that is kept between
  // calls: it is filled at the first, and left as it was found by every other. Weighted rows are drawn one after the
  // other with chances that are proportional to their weights among those left: the rows of the n smallest E_i / w_i,
  // where the E_i are exponential (Efraimidis and Spirakis 2006).
  void draw_without_replacement(index_t n, Random& random, std::vector<std::uint32_t>& places,
                                std::vector<std::uint32_t>& drawn) const;

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<double> weight_;      // empty: all the same
  std::vector<double> cumulative_;  // of the weights
};

// The places in a group of `size` rows of equal weight that draw_without_replacement would take, in time and memory
// O(n): for groups too large to be listed.
void draw_places(index_t size, index_t n, Random& random, std::vector<std::uint32_t>& drawn);

}  // namespace fastpu::detail
