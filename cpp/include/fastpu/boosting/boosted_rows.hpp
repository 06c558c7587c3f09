// The rows that trees are boosted on, wherever they are. In every round boosting calls
//
//     tops, sums      for the loss at the scores (tree_loss.hpp)
//     start           to derive g and h, and begin a tree
//     split, ...      for its nodes (node_rows.hpp)
//     leaf_sums, add  for the values of its leaves, which become part of the scores
//
// Rows on one machine are held by one object (make_boosted_rows). On several machines each holds a shard, and what
// these answer is added up, or for tops the largest is taken (join_boosted_rows). Then the trees are the same, bit by
// bit, as on one machine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fastpu/boosting/member_exchange.hpp"
#include "fastpu/boosting/tree_inputs.hpp"
#include "fastpu/boosting/tree_loss.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/tree/node_rows.hpp"

namespace fastpu {

// Counts of the rows of positive weight; the others are as good as absent.
struct BoostedRowCounts {
  index_t n_rows = 0;
  index_t n_unlabelled = 0;
  double weight = 0;  // the sum of the weights, exact where it is not too many units
  double unit = 0;    // the largest number that all weights are whole multiples of (src/boosting/common_divisor.hpp)
};

// What a tree is begun with.
struct TreeStart {
  bool of_drawn = false;  // whether the tree is grown on the rows that draw() drew, or on all
  TreeLossTops tops;
  TreeLossSums sums;
  double g_scale = 1;  // powers of two: g and h are rounded in units of 1 / scale
  double h_scale = 1;
  int halvings = 0;     // where there are more rows than a word can sum: how often sums over all holders are halved
  double repeated = 0;  // a row of k times this weight is rounded as k rows of this weight; 0: as one row
  CountUnit unit;
  std::vector<std::uint32_t> features;  // those that the tree may split, ascending
};

class BoostedRows : public NodeRows {
 public:
  virtual BoostedRowCounts counts() = 0;
  // Draws n of all rows of U. The drawn rows are these and all rows of the other groups; calls with of_drawn are about
  // them, others about all rows.
  virtual void draw(std::uint64_t seed, index_t n) = 0;
  // For every sparse feature the count of the rows that have an entry.
  virtual std::vector<index_t> count_entries(bool of_drawn, const CountUnit& unit) = 0;
  virtual TreeLossTops tops(bool of_drawn) = 0;
  virtual TreeLossSums sums(bool of_drawn, const TreeLossTops& tops) = 0;
  // Begins a tree, and writes the histogram of the root unless it is null.
  virtual TreeRoot start(const TreeStart& tree, std::uint64_t* histogram) = 0;
};

// Which of all rows of U a shard has: these are drawn by their numbers.
struct ShardPlace {
  index_t n_unlabelled = 0;                // in all shards
  const std::uint32_t* numbers = nullptr;  // of the own rows of U of positive weight, in order; null if none are drawn
};

// Rows that are held here: all of them, or a shard if a place is given. The training set and the place are used, not
// copied. The scores begin at those of the trees `init`, of which there may be none. A shard always writes the
// histogram of the left child, and splits a node even if it has too few of its rows: together with those of other
// shards they may be enough.
std::unique_ptr<BoostedRows> make_boosted_rows(const BoostedTreesTrainingSet& train, const TreeLossOptions& loss,
                                               const TreesView& init, const ShardPlace* place, Team& team,
                                               int n_workers);

// The rows of all members of a fit, which answer with the sums over the members: every member then makes the same
// trees. `own` are the rows of this member, a shard, or null if it has none. `features`, of which only the cuts are
// read, and the exchange must outlive the rows.
std::unique_ptr<BoostedRows> join_boosted_rows(std::unique_ptr<BoostedRows> own, const BinnedFeatures& features,
                                               MemberExchange& exchange);

}  // namespace fastpu
