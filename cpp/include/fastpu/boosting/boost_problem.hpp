// What stump_boost.hpp learns from, its options and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "fastpu/common/isa.hpp"
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

}  // namespace fastpu
