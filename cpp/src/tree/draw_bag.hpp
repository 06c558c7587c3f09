// Draws rows for the bags of forests and of bagged boosters.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_options.hpp"

namespace fastpu::detail {

// Throws std::invalid_argument unless every bag draws a row of U or more.
void check_bag_options(const BagOptions& options);

// The draws of U for bag `number`.
inline index_t draws_of_bag(const BagOptions& options, index_t number) {
  return options.bag_unl[static_cast<std::size_t>(number) % options.bag_unl.size()];
}

// The rows of one group, with their chances to be drawn.
class DrawnGroup {
 public:
  // `rows` are ascending. sample_weight has the weights of all rows of the data, or is null; rows of weight 0 count as
  // absent, and if all others of the group have the same weight, it is as if it was null.
  DrawnGroup(std::vector<std::uint32_t> rows, const double* sample_weight);

  index_t size() const { return static_cast<index_t>(rows_.size()); }

  // Appends the draws of P for a bag to `drawn`.
  void draw_pos(const BagOptions& options, Random& random, std::vector<std::uint32_t>& drawn) const;

  // Appends n rows to `drawn`, each drawn from all rows.
  void draw_with_replacement(index_t n, Random& random, std::vector<std::uint32_t>& drawn) const;

  // As it does with `replaces`; without, appends n different rows, or all of them if these are fewer. `places` is
  // scratch: empty at the first call, and then as the last call left it. Weighted rows are drawn one after the other,
  // with chances proportional to the weights of those that are left: they are the rows of the n smallest E_i / w_i with
  // exponential E_i (Efraimidis and Spirakis 2006).
  void draw(index_t n, bool replaces, Random& random, std::vector<std::uint32_t>& places,
            std::vector<std::uint32_t>& drawn) const;

 private:
  std::vector<std::uint32_t> rows_;
  std::vector<double> weight_;      // empty where all are the same
  std::vector<double> cumulative_;  // sums of the weights up to each row
};

// The places in a group of `size` rows of equal weight that draw would take without replacement, in time and memory
// O(n): for groups too large to be listed.
void draw_places(index_t size, index_t n, Random& random, std::vector<std::uint32_t>& drawn);

}  // namespace fastpu::detail
