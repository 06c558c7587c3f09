// The rows that trees are boosted on, wherever they are. boost_trees asks for what it needs of them, round after round:
//
//     tops, sums     of the loss at the scores (tree_loss.hpp)
//     start          derives g and h, and begins a tree
//     split, ...     its nodes (node_rows.hpp)
//     leaf_sums, add the values of the leaves, which become part of the scores
//
// The rows of one machine are its own (make_boosted_rows). Of several machines each has a shard, and what they answer
// is added up, the tops by their largest: then boost_trees makes the same trees, bit by bit, as on one machine.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fastpu/boosting/tree_inputs.hpp"
#include "fastpu/boosting/tree_loss.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/tree/node_rows.hpp"

namespace fastpu {

// Of the rows of positive weight, the others being as good as absent.
struct BoostedRowCounts {
  index_t n_rows = 0;
  index_t n_unlabelled = 0;
  index_t n_broken = 0;  // rows whose weight is no whole number
  double weight = 0;     // sum of the weights: exact where all are whole, and of no great sum
};

// What a tree is begun with. Scales are powers of two, by which sums of g and h are whole numbers.
struct TreeStart {
  bool of_drawn = false;  // the tree is grown on the rows that draw() drew, not on all
  TreeLossTops tops;
  TreeLossSums sums;
  double g_scale = 1;
  double h_scale = 1;
  // Of more rows than can be summed in a word, sums of the words of all are halved so many times. What one holder of
  // rows sums is not.
  int halvings = 0;
  bool are_repetitions = false;  // the weights: whole numbers, and a row is rounded as if it was repeated
  CountUnit unit;
  std::vector<std::uint32_t> features;  // that the tree may split, ascending
};

class BoostedRows : public NodeRows {
 public:
  virtual BoostedRowCounts counts() = 0;
  // Draws n of all rows of U; those of the other groups stay.
  virtual void draw(std::uint64_t seed, index_t n) = 0;
  // For every feature of sparse rows the count of those that have an entry, in the given units.
  virtual std::vector<index_t> count_entries(bool of_drawn, const CountUnit& unit) = 0;
  // These two and start() are of the rows that were drawn, or of all.
  virtual TreeLossTops tops(bool of_drawn) = 0;
  virtual TreeLossSums sums(bool of_drawn, const TreeLossTops& tops) = 0;
  // Writes the histogram of the root, unless it is null.
  virtual TreeRoot start(const TreeStart& tree, std::uint64_t* histogram) = 0;
  // Of the leaves whose sums were asked for last. Empty where these scores do not tell the tops after the values of the
  // leaves are added: where rows have weights, or some were not drawn.
  virtual std::vector<LeafScores> leaf_scores() { return {}; }
};

// Where the rows of a shard are among all: the rows of U are drawn by their number.
struct ShardPlace {
  index_t n_unlabelled = 0;  // of all shards
  const std::uint32_t* numbers =
      nullptr;  // of the own rows of U of positive weight, in their order; null if none draws
};

// Rows that are held here, all of them or (with a place) a shard; the training set and the place are used, not copied.
// A shard splits a node also where it has too few rows of it, which may be enough together with those of the others,
// and always writes the histogram of the left child.
// The scores begin at those of the trees `init`, or at 0.
std::unique_ptr<BoostedRows> make_boosted_rows(const BoostedTreesTrainingSet& train, const TreeLossOptions& loss,
                                               const TreesView* init, const ShardPlace* place, Team& team,
                                               int n_workers);

}  // namespace fastpu
