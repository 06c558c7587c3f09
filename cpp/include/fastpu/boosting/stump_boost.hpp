// Boosting of decision stumps for the AUC from positive (P), negative (N) and unlabelled (U) rows.
//
// Loss `auc` (PNUAUCBoost; RankBoost when there is no U): with E_G the weighted mean over group G, minimises
//     J(f) = R(f) exp(rho sum_t alpha_t),
//     R(f) = l_PN E_P[e^-f] E_N[e^f] + l_PU E_P[e^-f] E_U[e^f] + l_UN E_U[e^-f] E_N[e^f],
//     (l_PN, l_PU, l_UN) = (gamma, (1-gamma)/2, (1-gamma)/2), or 1 for the only pair that has both its groups,
// over f = sum_t alpha_t h_t, h_t(x) = [x_e > theta] (polarity +1) or 1 - [x_e > theta] (polarity -1), alpha_t > 0.
// A round keeps group-normalised weights (a over P of e^-f, b over U of e^f, c over U of e^-f, d over N of e^f) and
// the shares pi of the three terms of R, so it costs O(n), not O(pairs):
//     g = (pi_PN + pi_PU) a on P,  pi_UN c - pi_PU b on U,  -(pi_PN + pi_UN) d on N,     Delta(e, theta) = sum of g
//     over x_e > theta the stump of largest |Delta|;   alpha = atanh(Delta) - atanh(rho);   weights multiplied,
//     renormalised, pi updated.
//
// Loss `ada` (PNU-AdaBoost): AdaBoost with h in {-1, +1} on P, N and U taken twice, as positives and as negatives, of
// total weights (1-gamma)/2, gamma/2, gamma/2 (U as positive) and (1-gamma)/2 (U as negative); alpha = atanh(edge).
//
// Candidates within 1e-12 of the best are ties; the first in order of feature, then threshold, wins.
//
// Cost of a round: one pass over the codes of the smaller side of the last stump, plus the histograms. Memory: the
// codes, 33 bytes a row, and one histogram per worker. The result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

enum class BoostLoss : std::uint8_t { auc, ada };

enum class BoostStep : std::uint8_t {
  jensen,       // atanh(Delta) - atanh(rho), the minimiser of an upper bound of J along the stump
  line_search,  // the minimiser of J itself along the stump (loss auc only)
};

enum class BoostStatus : std::uint8_t {
  n_rounds,        // all rounds were made
  no_gain,         // no stump has |Delta| above rho + stop_tol: converged
  perfect,         // the last stump separates the weighted groups; the same stump would repeat for ever
  early_stopping,  // the AUC of the evaluation set did not improve for early_stopping_rounds rounds
  callback,        // the caller's callback said stop
};

struct StumpBoostOptions {
  BoostLoss loss = BoostLoss::auc;
  double gamma = 0.5;      // in [0, 1]: weight of the labelled pairs
  double rho = 0.01;       // in [0, 1): L1 penalty on alpha (loss auc)
  index_t n_rounds = 200;  // >= 1
  BoostStep step = BoostStep::jensen;
  double stop_tol = 1e-9;             // >= 0: stop when max |Delta| <= rho + stop_tol
  index_t early_stopping_rounds = 0;  // 0: never; else needs an evaluation set
  Isa isa = Isa::baseline;
};

// What is learned from. All pointers are to n_rows values.
struct BoostTrainingSet {
  const BinnedFeatures* features = nullptr;
  const FeatureOrder* order = nullptr;  // searches every boundary of the features in it; null: cuts only
  std::function<double(index_t row, index_t feature)> value;  // of the matrix behind `order`
  const std::int8_t* labels = nullptr;                        // +1, 0, -1
  const double* sample_weight = nullptr;                      // or null for 1
};

using EvalFeatures =
    std::variant<DenseView<float>, DenseView<double>, CsrView<float>, CsrView<double>, const BinnedFeatures*>;

// Judged by the AUC after each round: +1 against -1, or against 0 where there is no -1.
struct BoostEvalSet {
  EvalFeatures features;  // binned features need the cuts of the training features
  const std::int8_t* labels = nullptr;
  const double* sample_weight = nullptr;  // or null for 1; rows of weight 0 are not judged
};

// One round, as told to the callback.
struct BoostRound {
  index_t round = 0;  // from 1
  index_t feature = 0;
  double threshold = 0;
  int polarity = 1;
  double delta = 0;
  double alpha = 0;
  double z = 0;
  double objective = 0;
  double eval_auc = 0;  // NaN without an evaluation set
};

struct StumpBoostResult {
  std::vector<std::int32_t> features;
  std::vector<double> thresholds;
  std::vector<std::int8_t> polarity;  // +1: the stump fires where x > threshold; -1: where not
  std::vector<double> alphas;
  std::vector<double> deltas;     // Delta (loss auc) or the edge (loss ada) of each stump, on the weights before it
  std::vector<double> z;          // factor by which R (auc) or the exponential loss (ada) changed
  std::vector<double> objective;  // log J after each round
  std::vector<double> eval_auc;   // empty without an evaluation set
  index_t best_round = 0;         // the rounds to keep: all, or with early stopping the first best of eval_auc
  BoostStatus status = BoostStatus::n_rounds;
  double last_gain = 0;  // max |Delta| - rho found by the last search: what is left to gain
};

// Called after every round; true stops. Runs on the caller's thread.
using BoostCallback = std::function<bool(const BoostRound&)>;

// How many bins the exact search of a dense matrix works with: it cuts at so many quantiles, and looks into the bins
// between them through their order. Any number gives the same model; this one is fast and bounds the memory of wide
// data.
index_t exact_search_bins(index_t n_rows, index_t n_features);

// Throws std::invalid_argument for an option out of range, labels of fewer than two groups, or an evaluation set
// without both classes.
StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team);

}  // namespace fastpu
