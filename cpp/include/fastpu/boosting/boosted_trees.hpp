// Boosting of trees for a loss of positive (P), unlabelled (U) and, where it takes them, negative (N) rows.
//
// The scores F of all rows begin at 0. A round takes the derivatives g and h of the loss by the F of each row, grows a
// tree on them whose leaves have the values -rate sum(g) / (sum(h) + lam), and adds its values to F. The losses are in
// tree_loss.hpp, the trees in src/tree/newton_tree.hpp.
//
// With bags, each bag is boosted by itself on n_P rows of P drawn with replacement, some rows of U (BagOptions) drawn
// without replacement or with it, and all rows of N; the score of a row is the mean over the bags.
//
// Every draw is a function of the seed, the bag and the round. So the same trees come from any number of threads, and
// from a fit that goes on with further rounds as from one with all rounds at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/boosted_rows.hpp"
#include "fastpu/boosting/tree_inputs.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

// What a callback is told after a round, or with bags after the last round of a bag. With bags and early stopping,
// which makes rounds in steps, it is told after the last round of each step of each bag.
struct BoostedTreesRound {
  index_t bag = 0;
  index_t round = 0;  // from 1; the rounds of BoostedTreesOptions::init count
  index_t n_leaves = 0;
  index_t depth = 0;
  double risk = 0;      // after the round
  double eval_auc = 0;  // NaN without an evaluation set
};

// Called on the caller's thread; true ends the fit with the rounds or bags so far.
using BoostedTreesCallback = std::function<bool(const BoostedTreesRound&)>;

enum class BoostedTreesStatus : std::uint8_t {
  n_rounds,        // all rounds were made
  no_gain,         // no split gains anything, and nothing is drawn that could change that
  early_stopping,  // the AUC of the evaluation set did not improve for early_stopping_rounds rounds
  callback,        // the caller's callback said stop
};

// The trees of the rounds that are kept, bag after bag, with equally many trees in each: where a bag had no gain left,
// its trees are single leaves of value 0. Their sets of categories are numbered from init.n_sets on.
struct BoostedTreesResult : Trees {
  std::vector<double> tree_risk;        // after each tree, in its bag
  std::vector<double> risk;             // after each round that is kept: with bags the mean over them
  std::vector<double> eval_auc;         // after each round, kept or not; empty without an evaluation set
  std::vector<double> oob_sum;          // with bags: for every row the sum of its scores in the bags that leave it out
  std::vector<std::int32_t> oob_count;  // with bags: for every row the number of these bags
  index_t n_bags = 1;                   // how many are done
  index_t best_round = 0;  // how many new rounds are kept: all, or with early stopping up to the first best AUC
  BoostedTreesStatus status = BoostedTreesStatus::n_rounds;
};

// Time of a tree: O(n d depth) additions of a word to a bin, and O(max_leaves bins) for the search. Memory beside the
// features and the result: 45 bytes a row, and max_leaves histograms of 8 bytes a bin, at most 128 MB; another
// histogram for each worker, or with bags all of this and a copy of the bag's codes for each worker. `eval` may be
// null; bags are judged together. With early stopping they get rounds in steps, and at most early_stopping_rounds or a
// quarter of the rounds are made for nothing; 8 bytes for each row of each bag are kept between steps. Throws
// std::invalid_argument for options out of range and labels that the loss does not take.
BoostedTreesResult boost_trees(const BoostedTreesTrainingSet& train, const BoostEvalSet* eval,
                               const BoostedTreesOptions& options, const BoostedTreesCallback& callback, Team& team);

// The same for a member of a fit on several machines, without bags. `rows` are those of all members
// (join_boosted_rows), whose scores begin at those of options.init. Of `features` only the cuts and the width are read.
BoostedTreesResult boost_member_trees(const BinnedFeatures& features, const std::uint8_t* categorical,
                                      BoostedRows& rows, const BoostEvalSet* eval, const BoostedTreesOptions& options,
                                      const BoostedTreesCallback& callback, Team& team);

}  // namespace fastpu
