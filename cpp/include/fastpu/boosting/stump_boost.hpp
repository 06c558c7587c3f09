// Boosting of decision stumps for the AUC from positive (P), negative (N) and unlabelled (U) rows.
//
// A loss gives every row a gain g: what the risk falls by, relative to itself, for a small vote of 1 there. A round of
// boosting, for stumps h(x) = 1 where x_e > theta and else low (polarity +1), or the other way round (polarity -1):
//     the stump of largest |gain|, where Delta(e, theta) = sum of g over x_e > theta;
//     its weight alpha, by the loss;   row weights exp(+-f) multiplied, the shares of the loss's terms updated.
// A stump on a categorical feature is 1 where the category is in its set and else low. A sum over a set is largest for
// the categories with positive sums of g, whatever their number: of noise in many categories it is large too. So every
// sum is brought nearer to 0 by its standard error s if the feature told nothing, s^2 = r sum_k share_k^2 / n_k, where
// k are the slots of the loss with their shares in the risk, n_k the rows of their groups, and r is the share of the
// rows that have the category (the mean, weighted by n_k, of its shares in the sums of the slots). With A the sum of
// what is then positive and B of what is negative, the set has the categories of A, for a gain of A + low B, or all but
// those of B, for -B - low A, or for the gain by the sums as they were if that is less: the better of the two is the
// only candidate of its feature. The sign of a sum above 1e-12 counts. Missing entries are a category; categories
// without training rows are where missing entries are.
//
// Rows are weighted by their group, so that this costs O(n), not O(pairs). The losses (the AUC's "auc", AdaBoost's
// "ada") are in src/boosting/*_loss.cpp, with their formulas.
//
// Candidates within 1e-12 of the best are ties; the first in order of feature, then threshold, wins.
//
// Cost of a round: one pass over the codes of the smaller side of the last stump, plus the histograms. Memory: the
// codes, 33 bytes a row, and one histogram per worker. The result does not depend on the number of threads, nor on
// where the rows are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fastpu/boosting/boost_inputs.hpp"
#include "fastpu/boosting/stump_rows.hpp"
#include "fastpu/common/isa.hpp"
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

struct StumpBoostOptions {
  BoostLossOptions loss;
  index_t n_rounds = 200;             // >= 1
  double stop_tol = 1e-9;             // >= 0: stop when max |gain| <= rho + stop_tol
  index_t early_stopping_rounds = 0;  // 0: never; else needs an evaluation set
  Isa isa = Isa::baseline;
};

// One round, as told to the callback.
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
  std::vector<double> thresholds;     // of a stump on a categorical feature: the number of its set
  std::vector<std::int8_t> polarity;  // +1: the stump fires where x > threshold (or in the set); -1: where not
  std::vector<CategorySet> sets;      // of codes: code 0 is missing, v + 1 category v
  std::vector<double> alphas;
  std::vector<double> deltas;     // the gain of each stump on the weights before it (Delta, or the edge)
  std::vector<double> z;          // factor by which the risk R changed
  std::vector<double> objective;  // log J after each round
  std::vector<double> eval_auc;   // empty without an evaluation set
  index_t best_round = 0;         // the rounds to keep: all, or with early stopping the first best of eval_auc
  BoostStatus status = BoostStatus::n_rounds;
  double low = 0;        // the vote of a stump where it does not fire
  double last_gain = 0;  // max |gain| - rho found by the last search: what is left to gain
};

// Called after every round; true stops. Runs on the caller's thread.
using BoostCallback = std::function<bool(const BoostRound&)>;

// How many bins the exact search of a dense matrix works with: it cuts at so many quantiles, and looks into the bins
// between them through their order. Any number gives the same model; this one is fast and bounds the memory of wide
// data.
index_t exact_search_bins(index_t n_rows, index_t n_features);

// Throws std::invalid_argument for an unknown loss, an option out of range, labels of fewer than two groups, a
// categorical feature that is not binned as such, or an evaluation set without both classes.
StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team);

// The same for rows that are somewhere: of the features the cuts matter alone. `made`, if it is not null, has the first
// rounds of the fit, up to one after which weights were set afresh (StumpRows::weigh): the fit goes on from there, and
// ends as if it had made them itself.
StumpBoostResult stump_boost(const BinnedFeatures& features, const std::uint8_t* categorical, StumpRows& rows,
                             const StumpBoostResult* made, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team);

}  // namespace fastpu
