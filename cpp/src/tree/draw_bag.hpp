// Draws rows for the bags of forests and of bagged boosters.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/random.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_options.hpp"
#include "tree/out_of_bag.hpp"

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

  const std::vector<std::uint32_t>& rows() const { return rows_; }

  // The group of those rows alone for which keeps(row) is true.
  template <class Keeps>
  DrawnGroup only(Keeps&& keeps) const {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t row : rows_) {
      if (keeps(row)) kept.push_back(row);
    }
    return {std::move(kept), sample_weight_};
  }

  // Appends n draws of P for a bag to `drawn`, each as often as the options say.
  void draw_pos(index_t n, const BagOptions& options, Random& random, std::vector<std::uint32_t>& drawn) const;

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
  const double* sample_weight_;
};

// What the bags of P and U are drawn from.
//
// Where rows are in clusters, such as those of one customer, a bag leaves whole clusters out: as many clusters as there
// are are drawn with replacement, so that some 37 % are not drawn, and the rows of the bag are drawn from the others
// alone. A bag for which no row of P or of U would be left gets the cluster of one as well.
class PuBags {
 public:
  // `clusters` has a number from 0 on for each of the n_rows rows, or is null. n_clusters is how many clusters there
  // are, if rows that are not among these may be in others, or 0. Throws std::invalid_argument for other numbers.
  PuBags(DrawnGroup positive, DrawnGroup unlabelled, const std::int32_t* clusters, index_t n_rows,
         index_t n_clusters = 0);

  index_t n_positive() const { return positive_.size(); }
  index_t n_unlabelled() const { return unlabelled_.size(); }

  // Appends the rows of bag `number` to `drawn`, those of P first, and returns how many these are. `places` is scratch,
  // as DrawnGroup::draw has it.
  index_t draw(const BagOptions& options, index_t number, Random& random, std::vector<std::uint32_t>& places,
               std::vector<std::uint32_t>& drawn) const;

  // The rows that count as in a bag that holds `drawn`: where there are clusters, all rows of the clusters of these.
  RowSet in_bag(const std::vector<std::uint32_t>& drawn) const;

 private:
  std::vector<bool> draw_clusters(Random& random) const;

  DrawnGroup positive_;
  DrawnGroup unlabelled_;
  const std::int32_t* clusters_;
  index_t n_rows_;
  index_t n_clusters_;
};

// The places in a group of `size` rows of equal weight that draw would take without replacement, in time and memory
// O(n): for groups too large to be listed.
void draw_places(index_t size, index_t n, Random& random, std::vector<std::uint32_t>& drawn);

}  // namespace fastpu::detail
