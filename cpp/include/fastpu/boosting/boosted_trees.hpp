// Boosting of trees for a loss of positive (P), unlabelled (U) and, where it takes them, negative (N) rows.
//
// The scores F of all rows begin at 0. A round takes the derivatives g and h of the loss at F, row by row, grows a tree
// on them whose leaves have the values -rate sum(g) / (sum(h) + l2), and adds its values to F. The losses are in
// tree_loss.hpp, the trees in src/tree/newton_tree.hpp.
//
// Bags: every one of them is boosted by itself, on n_P rows of P drawn with replacement, on all rows of N, and on
// bag_unl rows of U drawn without replacement; the score of a row is the mean over the bags.
//
// Every draw is a function of the seed, the bag and the round. The same trees come from any number of threads, and
// rounds that are added later are those that more rounds at once would have been.
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

// A round that is done, or with bags the last round of a bag, as a callback sees it.
struct BoostedTreesRound {
  index_t bag = 0;
  index_t round = 0;  // from 1; those before the first of this fit count
  index_t n_leaves = 0;
  index_t depth = 0;
  double risk = 0;      // after it
  double eval_auc = 0;  // NaN without an evaluation set
};

// Called on the caller's thread; true stops, with the rounds or bags so far.
using BoostedTreesCallback = std::function<bool(const BoostedTreesRound&)>;

enum class BoostedTreesStatus : std::uint8_t {
  n_rounds,        // all rounds were made
  no_gain,         // no split gains anything, and no draw would change that
  early_stopping,  // the AUC of the evaluation set did not improve for early_stopping_rounds rounds
  callback,        // the caller's callback said stop
};

// The trees of the rounds that are kept, bag after bag, as many for each of them: where a bag had no gain left they are
// single leaves of value 0.
struct BoostedTreesResult {
  std::vector<TreeNode> nodes;
  std::vector<index_t> tree_start;      // one more than there are trees
  std::vector<CategorySet> sets;        // numbered from init.n_sets on
  std::vector<double> tree_risk;        // after each tree, in its bag
  std::vector<double> risk;             // after each round, kept or not: with bags the mean over them
  std::vector<double> eval_auc;         // after each round, kept or not; empty without an evaluation set
  std::vector<double> oob_sum;          // with bags: for every row the sum of its values in those that leave it out
  std::vector<std::int32_t> oob_count;  // and the number of these bags
  index_t n_bags = 1;                   // that are done
  index_t best_round = 0;  // the new rounds that are kept: all, or with early stopping the first best of eval_auc
  BoostedTreesStatus status = BoostedTreesStatus::n_rounds;
};

// Time O(n d depth) a tree in steps of adding a word to a bin, and O(max_leaves bins) for the search. Memory beside the
// features and the result: 45 bytes a row, and max_leaves histograms of 8 bytes a bin, at most 128 MB; for a worker
// another one, or with bags all of this, with a copy of the bag's codes.
// Bags are judged by `eval` (or null) when all of them are done. Throws std::invalid_argument for options out of range
// and labels that the loss does not take.
BoostedTreesResult boost_trees(const BoostedTreesTrainingSet& train, const BoostEvalSet* eval,
                               const BoostedTreesOptions& options, const BoostedTreesCallback& callback, Team& team);

// The same for rows that are held elsewhere, without bags: of `features` the cuts and the width are read alone. The
// rows' scores begin at those of options.init.
BoostedTreesResult boost_trees(const BinnedFeatures& features, const std::uint8_t* categorical, BoostedRows& rows,
                               const BoostEvalSet* eval, const BoostedTreesOptions& options,
                               const BoostedTreesCallback& callback, Team& team);

}  // namespace fastpu
