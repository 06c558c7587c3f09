// Classifiers from positive and unlabelled rows by the gradient of an estimated risk (uPU and nnPU). f is linear,
// f(x) = coef'x + intercept, or a network with one hidden layer of n_hidden units,
//
//     f(x) = sum_j coef_j max(0, hidden_intercept_j + sum_f x_f hidden_coef_fj) + intercept.
//
// With the loss l, the share `prior` of positives among unlabelled rows, and means over positive rows (p) and
// unlabelled ones (u), weighted by the weights of the rows,
//
//     R+ = prior mean_p l(f),    R- = mean_u l(-f) - prior mean_p l(-f),
//
// where R- estimates the risk of the negatives without having any. R+ + R- is the risk of uPU, which a flexible f
// drives below 0. nnPU minimises R+ + max(R-, -beta): if R- < -beta, a step follows the gradient of -gamma_nn R- alone,
// which undoes that. The losses are
//
//     sigmoid   1 / (1 + e^z)        logistic  log(1 + e^-z)        squared  (1 - z)^2 / 4.
//
// Each step is one of Adam (Kingma and Ba 2015, algorithm 1, with decays 0.9 and 0.999) on a batch of rows: all of
// them, or the next ones of a random order that is drawn anew for each epoch. The last batch may be smaller; if a batch
// has no row of a group, the means over that group are 0. Training ends after n_epochs, or earlier if the risk of the
// evaluation rows stops decreasing; without evaluation rows, if the training risk with its penalty does. The gradient
// includes that of the penalty: lam coef for a linear f, and lam theta for all parameters theta of a network. The
// reported risk does not include it.
//
// Adam's steps have one length for all parameters, so they depend on the scale of x. Given a scale s, they are those
// for the rows x / s, whose first weights are w s (w the weights that x meets first). The lam of a network is for
// these; that of a linear f is for w itself. Nothing is divided but gradients, so x needs no copy, and a power of 2
// gives the same bits.
//
// A batch of b rows takes time O(b d h), and memory O(b h) besides X and four times the parameters. All sums are over
// fixed blocks, so the parameters are bitwise the same for every number of threads and every instruction-set level.
//
// Sources: du Plessis, Niu and Sugiyama 2015 (uPU); Kiryo, Niu, du Plessis and Sugiyama 2017 (nnPU, algorithm 1).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/risk/nnpu_problem.hpp"

namespace fastpu {

struct NnpuOptions : PuRisk {
  double lam = 0;  // >= 0
  double learning_rate = 1e-3;
  double scale = 1;   // > 0; the steps are those for rows x / scale
  double eps = 1e-8;  // of Adam, > 0
  index_t n_epochs = 100;
  index_t batch_size = 0;  // 0 stands for all rows
  std::uint64_t seed = 0;  // of the order of rows
  // Training stops after so many epochs in which the risk of the evaluation rows did not decrease, and the best
  // parameters are kept; without evaluation rows, after so many in which the training risk with its penalty
  // decreased by a share of less than 1e-3. 0 stands for never.
  index_t early_stopping_rounds = 0;
};

// The record of an epoch: means over its batches, each computed before its step, and the risk of the evaluation rows
// after the last step.
struct NnpuEpoch {
  index_t epoch = 0;  // from 1
  double risk = 0;
  double positive = 0;
  double negative = 0;
  index_t n_reversed = 0;                                       // number of batches with R- < -beta
  double eval_risk = std::numeric_limits<double>::quiet_NaN();  // without evaluation rows NaN
};
using NnpuCallback = std::function<bool(const NnpuEpoch&)>;  // returns true to stop the fit

enum class NnpuStatus { n_epochs, early_stopping, callback };

struct NnpuResult {
  std::vector<NnpuEpoch> epochs;
  index_t best_epoch = 0;  // the epoch whose parameters were kept: the last one, or with early stopping the best
  NnpuStatus status = NnpuStatus::n_epochs;
};

// Trains `net`, which holds the start. `eval` may be null. Throws std::invalid_argument for options out of range, rows
// of one kind only, or numbers that overflow, after which `net` is of no use.
template <class View>
NnpuResult fit_nnpu(const PuRows<View>& rows, const PuRows<View>* eval, const NnpuOptions& options,
                    const NnpuCallback& callback, Team& team, PuNet<typename View::Value>& net);

// scores[i] = f(x_i)
template <class View>
void nnpu_scores(const View& x, const PuNet<typename View::Value>& net, Team& team, double* scores);

}  // namespace fastpu
