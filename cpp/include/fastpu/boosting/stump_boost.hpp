// Boosting of decision stumps for the AUC from positive (P), negative (N) and unlabelled (U) rows.
//
// A loss gives every row a gain g: by how much the risk falls, relative to itself, for a small vote of 1 there. A stump
// of polarity +1 votes h(x) = 1 where x_e > theta and `low` elsewhere, one of polarity -1 the other way round. A round
//     finds the stump of largest |gain|, where Delta(e, theta) is the sum of g over x_e > theta,
//     takes its weight alpha from the loss,
//     multiplies the row weights exp(+-f), and updates the shares that the terms of the loss have in the risk.
//
// A stump on a categorical feature votes 1 where the category is in its set and `low` elsewhere. The sum of g over a
// set is largest for all categories with positive sums, and if there are many categories it is large even for noise. So
// the sum of every category is brought nearer to 0 by the standard error s that it would have if the feature told
// nothing, s^2 = r sum_k share_k^2 / n_k. Here k are the slots of the loss with their shares in the risk, n_k the
// numbers of rows of their groups, and r is the share of the rows that have the category (the mean, weighted by n_k, of
// its shares in the sums of the slots). Let A be the sum of what is then positive, and B that of what is negative.
// There are two candidates: the categories of A, with the gain A + low B, and all but those of B, with the gain -B -
// low A; each has its gain by the plain sums instead if that is less. The better one is the candidate of the feature.
// Sums within 1e-12 of 0 have no sign. Missing entries count as a category, and categories without training rows are
// on the side of the larger part of the training rows. Of a numeric feature missing entries are below every threshold
// where training rows have some, else on the side of the larger part too.
//
// Rows are weighted by their group, so a round takes O(n), not O(pairs). The losses, for the AUC and for AdaBoost,
// are in src/boosting/boost_loss.hpp with their formulas.
//
// Candidates within 1e-12 of the best are ties; the first in order of feature, then threshold, wins.
//
// A round takes one pass over the codes of the smaller side of the last stump, and one over the histograms. Memory: the
// codes, 33 bytes a row, and one histogram for each worker. The result does not depend on the number of threads, nor on
// where the rows are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/member_exchange.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/tree/tree_nodes.hpp"

namespace fastpu {

enum class BoostStatus : std::uint8_t {
  n_rounds,        // all rounds were made
  no_gain,         // no stump has |gain| above rho + stop_tol: converged
  perfect,         // the last stump separates the weighted groups; the same stump would repeat for ever
  early_stopping,  // the AUC of the evaluation set did not improve for early_stopping_rounds rounds
  callback,        // the caller's callback said stop
};

struct StumpBoostOptions : BoostLossOptions {
  index_t n_rounds = 200;             // >= 1
  double stop_tol = 1e-9;             // >= 0: stop when max |gain| <= rho + stop_tol
  index_t early_stopping_rounds = 0;  // 0: never; else needs an evaluation set
};

// What a callback is told after a round.
struct BoostRound {
  index_t round = 0;  // from 1
  index_t feature = 0;
  double threshold = 0;  // of a categorical feature: the number of its set
  int polarity = 1;
  double delta = 0;
  double alpha = 0;
  double z = 0;
  double objective = 0;
  double eval_auc = 0;  // NaN without an evaluation set
};

struct StumpBoostResult {
  std::vector<std::int32_t> features;
  std::vector<double> thresholds;          // of a stump on a categorical feature: the number of its set
  std::vector<std::int8_t> polarity;       // +1: the stump fires where x > threshold (or in the set); -1: where not
  std::vector<std::int8_t> missing_above;  // of a numeric feature: 1 where missing values are above the threshold
  std::vector<CategorySet> sets;           // of codes: code 0 is missing, v + 1 category v
  std::vector<double> alphas;
  std::vector<double> deltas;     // the gain of each stump on the weights before it (Delta, or the edge)
  std::vector<double> z;          // factor by which the risk R changed
  std::vector<double> objective;  // log J after each round
  std::vector<double> eval_auc;   // empty without an evaluation set
  index_t best_round = 0;         // the rounds to keep: all, or with early stopping the first best of eval_auc
  BoostStatus status = BoostStatus::n_rounds;
  double low = 0;        // the vote of a stump where it does not fire
  double last_gain = 0;  // max |gain| - rho in the last search: what is left to gain
};

// Called after every round; true stops. Runs on the caller's thread.
using BoostCallback = std::function<bool(const BoostRound&)>;

// Boosts stumps on rows in memory. Throws std::invalid_argument for an option out of range, labels of fewer than two
// groups, a categorical feature that is not binned as such, or an evaluation set without both classes.
StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team);

// The same for a member of a fit on several machines, each of which calls this on the rows that it holds, with the same
// options, and gets the stumps that one machine would make of all rows. A member whose `own` set has no labels has no
// rows: it follows the others, and only the cuts of its features are read.
StumpBoostResult stump_boost_as_member(const BoostTrainingSet& own, MemberExchange& exchange, const BoostEvalSet* eval,
                                       const StumpBoostOptions& options, const BoostCallback& callback, Team& team);

}  // namespace fastpu
