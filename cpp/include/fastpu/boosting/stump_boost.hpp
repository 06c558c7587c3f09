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

#include "fastpu/boosting/boost_problem.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

// How many bins the exact search of a dense matrix works with: it cuts at so many quantiles, and looks into the bins
// between them through their order. Any number gives the same model; this one is fast and bounds the memory of wide
// data.
index_t exact_search_bins(index_t n_rows, index_t n_features);

// Throws std::invalid_argument for an option out of range, labels of fewer than two groups, or an evaluation set
// without both classes.
StumpBoostResult stump_boost(const BoostTrainingSet& train, const BoostEvalSet* eval, const StumpBoostOptions& options,
                             const BoostCallback& callback, Team& team);

}  // namespace fastpu
