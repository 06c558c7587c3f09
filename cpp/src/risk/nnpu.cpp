#include "fastpu/risk/nnpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "risk/net_layers.hpp"

namespace fastpu {

namespace {

using detail::kNetRows;
using detail::NetArrays;
using detail::NetBatch;
using detail::NetLayers;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// A relative decrease of the training risk by less than this is no progress.
constexpr double kStill = 1e-3;

// l(z) and l'(z).
struct LossAt {
  double value;
  double slope;
};

LossAt loss_at(PuLoss loss, double z) {
  if (loss == PuLoss::squared) return {0.25 * (1 - z) * (1 - z), -0.5 * (1 - z)};
  const double small = std::exp(-std::fabs(z));                         // which cannot overflow
  const double share = z >= 0 ? small / (1 + small) : 1 / (1 + small);  // 1 / (1 + e^z)
  if (loss == PuLoss::logistic) return {std::log1p(small) + std::max(-z, 0.0), -share};
  const double slope = small / ((1 + small) * (1 + small));
  return {share, -slope};
}

// The risk of some rows and its two parts.
struct PuRiskValue {
  double positive = 0;  // R+
  double negative = 0;  // R-
  double value = 0;     // R+ + R-, or R+ + max(R-, -beta)
  bool is_reversed = false;
};

// The sums of weighted losses that a block of rows adds to the risk.
struct RiskSums {
  double positive = 0;     // l(f) of positive rows
  double as_negative = 0;  // l(-f) of positive rows
  double unlabeled = 0;    // l(-f) of unlabelled rows
  double mass_positive = 0;
  double mass_unlabeled = 0;

  void add(const RiskSums& other) {
    positive += other.positive;
    as_negative += other.as_negative;
    unlabeled += other.unlabeled;
    mass_positive += other.mass_positive;
    mass_unlabeled += other.mass_unlabeled;
  }
  PuRiskValue risk(const PuRisk& risk) const {
    PuRiskValue found;
    const double per_positive = mass_positive > 0 ? risk.prior / mass_positive : 0.0;
    found.positive = per_positive * positive;
    found.negative = (mass_unlabeled > 0 ? unlabeled / mass_unlabeled : 0.0) - per_positive * as_negative;
    found.is_reversed = risk.non_negative && found.negative < -risk.beta;
    found.value = found.positive + (found.is_reversed ? -risk.beta : found.negative);
    return found;
  }
};

// l'(f) and l'(-f) of a row, times its weight.
struct RowSlopes {
  double at;
  double at_negative;
};

void require(bool holds, const char* name, const char* expected, double value) {
  if (!holds)
    throw std::invalid_argument(std::string(name) + " must be " + expected + ", got " + std::to_string(value));
}

void check(const PuRisk& risk) {
  require(risk.prior >= 0 && risk.prior <= 1, "prior", "in [0, 1]", risk.prior);
  require(risk.beta >= 0 && std::isfinite(risk.beta), "beta", "finite and >= 0", risk.beta);
  require(risk.gamma_nn >= 0 && risk.gamma_nn <= 1, "gamma_nn", "in [0, 1]", risk.gamma_nn);
}

void check(const NnpuOptions& options) {
  check(options.risk);
  const auto is_decay = [](double value) { return value >= 0 && std::isfinite(value); };
  require(is_decay(options.lam), "lam", "finite and >= 0", options.lam);
  require(is_decay(options.weight_decay), "weight_decay", "finite and >= 0", options.weight_decay);
  require(options.learning_rate > 0 && std::isfinite(options.learning_rate), "learning_rate", "finite and > 0",
          options.learning_rate);
  require(options.mean_decay >= 0 && options.mean_decay < 1, "mean_decay", "in [0, 1)", options.mean_decay);
  require(options.square_decay >= 0 && options.square_decay < 1, "square_decay", "in [0, 1)", options.square_decay);
  require(options.eps > 0, "eps", "> 0", options.eps);
  require(options.n_epochs >= 1, "n_epochs", ">= 1", static_cast<double>(options.n_epochs));
  require(options.batch_size >= 0, "batch_size", ">= 0", static_cast<double>(options.batch_size));
  require(options.early_stopping_rounds >= 0, "early_stopping_rounds", ">= 0",
          static_cast<double>(options.early_stopping_rounds));
}

template <class View>
void check(const PuRows<View>& rows, const PuNet<typename View::Value>& net) {
  if (rows.x.n_cols != net.n_features) {
    throw std::invalid_argument("rows must have " + std::to_string(net.n_features) + " features, got " +
                                std::to_string(rows.x.n_cols));
  }
  index_t n_positive = 0;
  for (index_t k = 0; k < rows.n(); ++k) {
    const index_t i = rows.chosen == nullptr ? k : rows.chosen[k];
    if (i < 0 || i >= rows.x.n_rows) {
      throw std::invalid_argument("chosen must be numbers of rows, from 0 to " + std::to_string(rows.x.n_rows - 1) +
                                  ", got " + std::to_string(i));
    }
    if (rows.labels[i] != 0 && rows.labels[i] != 1) {
      throw std::invalid_argument("labels must be 1 or 0, got " + std::to_string(rows.labels[i]));
    }
    n_positive += rows.labels[i];
    if (rows.weights != nullptr && !(rows.weights[i] > 0 && std::isfinite(rows.weights[i]))) {
      throw std::invalid_argument("weights must be > 0 and finite, got " + std::to_string(rows.weights[i]));
    }
  }
  if (n_positive == 0 || n_positive == rows.n()) {
    throw std::invalid_argument("there must be positive and unlabelled rows, got " + std::to_string(n_positive) +
                                " and " + std::to_string(rows.n() - n_positive));
  }
}

template <class T>
void check(const PuNet<T>& net) {
  const bool fits = net.n_features >= 1 && net.n_hidden >= 0 &&
                    net.hidden_coef.size() == at(net.n_features) * at(net.n_hidden) &&
                    net.hidden_intercept.size() == at(net.n_hidden) &&
                    net.coef.size() == at(net.n_hidden > 0 ? net.n_hidden : net.n_features);
  if (!fits) throw std::invalid_argument("the parameters must have the sizes of a net");
}

// Copies parameters into arrays of the same shapes, so that nothing is allocated.
template <class T>
void copy(const NetArrays<T>& from, NetArrays<T>& to) {
  std::copy_n(from.hidden_coef.data(), from.hidden_coef.size(), to.hidden_coef.data());
  std::copy_n(from.hidden_intercept.data(), from.hidden_intercept.size(), to.hidden_intercept.data());
  std::copy_n(from.coef.data(), from.coef.size(), to.coef.data());
  to.intercept = from.intercept;
}

template <class T>
bool is_finite(const NetArrays<T>& net) {
  const auto all_finite = [](const AlignedBuffer<T>& values) {
    return std::all_of(values.data(), values.data() + values.size(), [](T value) { return std::isfinite(value); });
  };
  return all_finite(net.hidden_coef) && all_finite(net.hidden_intercept) && all_finite(net.coef) &&
         std::isfinite(net.intercept);
}

// The risk of batches of rows, and its gradient.
template <class View>
class RiskOfRows {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  // Prepares for gradients of batches of at most `most` rows; `most` = 0 allows batches of any size, without
  // gradients.
  RiskOfRows(NetLayers<View>& layers, const PuRows<View>& rows, const PuRisk& risk, index_t most)
      : layers_(layers),
        rows_(rows),
        risk_(risk),
        keeps_hidden_(most > 0),
        hidden_(most * layers.stride(), "hidden values"),
        slopes_(most, "slopes of the loss"),
        g_(most, "the gradient of each row"),
        sums_(static_cast<std::size_t>(layers.n_blocks(std::max(most, rows.n())))),
        scratch_(static_cast<std::size_t>(layers.team().n_threads())) {}

  PuRiskValue forward(const NetBatch& batch, const NetArrays<T>& net) {
    const index_t blocks = layers_.n_blocks(batch.n);
    layers_.team().for_each(blocks, layers_.workers(rows_.x, batch.n), [&](index_t block, int worker) {
      const index_t first = block * kNetRows;
      const index_t n = std::min(kNetRows, batch.n - first);
      T scores[kNetRows];
      layers_.forward(rows_.x, batch, first, n, net, hidden_of(first, worker), scores);
      RiskSums sums;
      for (index_t i = 0; i < n; ++i) add_row(batch.row(first + i), first + i, static_cast<double>(scores[i]), sums);
      sums_[static_cast<std::size_t>(block)] = sums;
    });
    total_ = {};
    for (index_t block = 0; block < blocks; ++block) total_.add(sums_[static_cast<std::size_t>(block)]);
    return total_.risk(risk_);
  }

  // To be called after forward() with the same batch. Computes the gradient of the risk, or, if R- < -beta, of
  // -gamma_nn R-.
  void backward(const NetBatch& batch, const PuRiskValue& found, const NetArrays<T>& net, NetArrays<T>& gradient) {
    const double per_positive = total_.mass_positive > 0 ? risk_.prior / total_.mass_positive : 0.0;
    const double per_unlabeled = total_.mass_unlabeled > 0 ? 1 / total_.mass_unlabeled : 0.0;
    for (index_t i = 0; i < batch.n; ++i) {
      const RowSlopes slopes = slopes_[i];
      const bool is_positive = rows_.labels[batch.row(i)] > 0;
      // In R-, l(-f) of an unlabelled row has the derivative -l'(-f) by f.
      const double of_negative = (is_positive ? per_positive : -per_unlabeled) * slopes.at_negative;
      const double of_positive = is_positive ? per_positive * slopes.at : 0.0;
      g_[i] = static_cast<T>(found.is_reversed ? -risk_.gamma_nn * of_negative : of_positive + of_negative);
    }
    layers_.backward(rows_.x, batch, g_.data(), hidden_.data(), net, gradient);
  }

 private:
  T* hidden_of(index_t first, int worker) {
    if (keeps_hidden_) return hidden_.data() + first * layers_.stride();
    AlignedBuffer<T>& scratch = scratch_[static_cast<std::size_t>(worker)];
    if (scratch.empty()) scratch = AlignedBuffer<T>(kNetRows * layers_.stride(), "hidden values");
    return scratch.data();
  }

  void add_row(index_t row, index_t i, double score, RiskSums& sums) {
    const double weight = rows_.weights == nullptr ? 1.0 : rows_.weights[row];
    const LossAt as_negative = loss_at(risk_.loss, -score);
    double slope = 0;
    if (rows_.labels[row] > 0) {
      const LossAt as_positive = loss_at(risk_.loss, score);
      sums.positive += weight * as_positive.value;
      sums.as_negative += weight * as_negative.value;
      sums.mass_positive += weight;
      slope = as_positive.slope;
    } else {
      sums.unlabeled += weight * as_negative.value;
      sums.mass_unlabeled += weight;
    }
    if (keeps_hidden_) slopes_[i] = {weight * slope, weight * as_negative.slope};
  }

  NetLayers<View>& layers_;
  PuRows<View> rows_;
  PuRisk risk_;
  bool keeps_hidden_;
  AlignedBuffer<T> hidden_;
  AlignedBuffer<RowSlopes> slopes_;
  AlignedBuffer<T> g_;
  std::vector<RiskSums> sums_;             // one for each block
  std::vector<AlignedBuffer<T>> scratch_;  // one for each worker
  RiskSums total_;
};

// Adam over all parameters.
template <class View>
class Adam {
 public:
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it

  Adam(const NetLayers<View>& layers, const NnpuOptions& options)
      : layers_(layers),
        options_(options),
        mean_(layers.zeros("Adam's means")),
        square_(layers.zeros("Adam's squares")) {}

  // Returns false once the square of a gradient has overflowed, since its parameter can never move again.
  bool is_sound() const { return is_finite(square_); }

  void step(const NetArrays<T>& gradient, NetArrays<T>& net) {
    mean_power_ *= options_.mean_decay;
    square_power_ *= options_.square_decay;
    detail::AdamStep step{};
    step.rate = options_.learning_rate / (1 - mean_power_);
    step.per_root = 1 / std::sqrt(1 - square_power_);
    step.mean_decay = options_.mean_decay;
    step.square_decay = options_.square_decay;
    step.eps = options_.eps;
    step.decay = options_.weight_decay + options_.lam;
    update(step, gradient.hidden_coef, net.hidden_coef, mean_.hidden_coef, square_.hidden_coef);
    update(step, gradient.coef, net.coef, mean_.coef, square_.coef);
    step.decay = options_.weight_decay;
    update(step, gradient.hidden_intercept, net.hidden_intercept, mean_.hidden_intercept, square_.hidden_intercept);
    layers_.kernels().adam(step, &gradient.intercept, 1, &net.intercept, &mean_.intercept, &square_.intercept);
  }

 private:
  void update(const detail::AdamStep& step, const AlignedBuffer<T>& gradient, AlignedBuffer<T>& value,
              AlignedBuffer<T>& mean, AlignedBuffer<T>& square) {
    constexpr index_t kChunk = 1 << 14;
    const index_t n = value.size();
    const index_t chunks = count_blocks(n, kChunk);
    layers_.team().for_each(chunks, [&](index_t chunk, int) {
      const index_t at = chunk * kChunk;
      layers_.kernels().adam(step, gradient.data() + at, std::min(kChunk, n - at), value.data() + at, mean.data() + at,
                             square.data() + at);
    });
  }

  const NetLayers<View>& layers_;
  const NnpuOptions& options_;
  NetArrays<T> mean_;
  NetArrays<T> square_;
  double mean_power_ = 1;
  double square_power_ = 1;
};

// The terms that lam and weight_decay add to a risk.
template <class T>
double penalty(const NetArrays<T>& net, const NnpuOptions& options) {
  const auto squares = [](const AlignedBuffer<T>& values) {
    double sum = 0;
    for (index_t k = 0; k < values.size(); ++k) sum += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    return sum;
  };
  const double of_weights = squares(net.coef) + squares(net.hidden_coef);
  const auto intercept = static_cast<double>(net.intercept);
  const double of_intercepts = squares(net.hidden_intercept) + intercept * intercept;
  return 0.5 * ((options.lam + options.weight_decay) * of_weights + options.weight_decay * of_intercepts);
}

}  // namespace

template <class View>
NnpuResult fit_nnpu(const PuRows<View>& rows, const PuRows<View>* eval, const NnpuOptions& options,
                    const NnpuCallback& callback, Isa isa, Team& team, PuNet<typename View::Value>& net) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  check(options);
  check(net);
  check(rows, net);
  if (eval != nullptr) check(*eval, net);
  const index_t n = rows.n();
  const index_t batch_size = options.batch_size == 0 ? n : std::min(options.batch_size, n);
  const bool stops_early = options.early_stopping_rounds > 0;
  const bool keeps_best = eval != nullptr && stops_early;

  NetLayers<View> layers(net.n_features, net.n_hidden, isa, team);
  NetArrays<T> now = layers.zeros("parameters");
  NetArrays<T> gradient = layers.zeros("the gradient");
  NetArrays<T> best;
  if (keeps_best) best = layers.zeros("the best parameters");
  Adam<View> adam(layers, options);
  RiskOfRows<View> training(layers, rows, options.risk, batch_size);
  RiskOfRows<View> judging(layers, eval == nullptr ? rows : *eval, options.risk, 0);
  std::vector<index_t> order;  // empty: all rows, in their own order
  if (options.batch_size > 0 || rows.chosen != nullptr) {
    order = make_vector<index_t>(n, "the order of rows");
    for (index_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = rows.chosen == nullptr ? i : rows.chosen[i];
  }
  Random random(options.seed);
  layers.read(net, now);

  NnpuResult result;
  double least = std::numeric_limits<double>::infinity();  // the least risk so far, and its epoch
  index_t least_epoch = 0;
  for (index_t epoch = 1; epoch <= options.n_epochs; ++epoch) {
    NnpuEpoch seen;
    seen.epoch = epoch;
    if (options.batch_size > 0) random.shuffle(order);
    const double penalties = penalty(now, options);
    const index_t n_batches = count_blocks(n, batch_size);
    for (index_t b = 0; b < n_batches; ++b) {
      const index_t first = b * batch_size;
      const NetBatch batch{order.empty() ? nullptr : order.data() + first, std::min(batch_size, n - first)};
      const PuRiskValue found = training.forward(batch, now);
      training.backward(batch, found, now, gradient);
      adam.step(gradient, now);
      const double share = 1 / static_cast<double>(n_batches);
      seen.risk += share * found.value;
      seen.positive += share * found.positive;
      seen.negative += share * found.negative;
      if (found.is_reversed) ++seen.n_reversed;
    }
    seen.eval_risk = eval == nullptr ? kNaN : judging.forward({eval->chosen, eval->n()}, now).value;
    const bool is_overflow = !std::isfinite(seen.risk);
    if (is_overflow || (eval != nullptr && !std::isfinite(seen.eval_risk))) {
      throw std::invalid_argument(
          std::string("X, learning_rate, lam and weight_decay must be such that scores do not overflow, the risk of ") +
          (is_overflow ? "epoch " : "eval_set in epoch ") + std::to_string(epoch) + " is " +
          (std::isnan(is_overflow ? seen.risk : seen.eval_risk) ? "nan" : "inf"));
    }
    result.epochs.push_back(seen);
    const double judged = eval != nullptr ? seen.eval_risk : seen.risk + penalties;
    const double enough = eval != nullptr || epoch == 1 ? 0.0 : kStill * std::fabs(least);
    if (judged < least - enough) {
      least = judged;
      least_epoch = epoch;
      if (keeps_best) copy(now, best);
    }
    result.best_epoch = keeps_best ? least_epoch : epoch;
    if (callback && callback(seen)) {
      result.status = NnpuStatus::callback;
      break;
    }
    if (stops_early && epoch - least_epoch >= options.early_stopping_rounds) {
      result.status = NnpuStatus::early_stopping;
      break;
    }
  }
  const NetArrays<T>& kept = keeps_best ? best : now;
  if (!is_finite(kept) || !adam.is_sound()) {
    throw std::invalid_argument(
        "X, learning_rate, lam and weight_decay must be such that squares of gradients and parameters do not overflow");
  }
  layers.write(kept, net);
  return result;
}

template <class View>
void nnpu_scores(const View& x, const PuNet<typename View::Value>& net, Isa isa, Team& team, double* scores) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  check(net);
  if (x.n_cols != net.n_features) {
    throw std::invalid_argument("rows must have " + std::to_string(net.n_features) + " features, got " +
                                std::to_string(x.n_cols));
  }
  NetLayers<View> layers(net.n_features, net.n_hidden, isa, team);
  auto now = layers.zeros("parameters");
  layers.read(net, now);
  const NetBatch batch{nullptr, x.n_rows};
  std::vector<AlignedBuffer<T>> hidden(static_cast<std::size_t>(team.n_threads()));
  team.for_each(layers.n_blocks(batch.n), layers.workers(x, batch.n), [&](index_t block, int worker) {
    AlignedBuffer<T>& scratch = hidden[static_cast<std::size_t>(worker)];
    if (scratch.empty()) scratch = AlignedBuffer<T>(kNetRows * layers.stride(), "hidden values");
    const index_t first = block * kNetRows;
    const index_t n = std::min(kNetRows, batch.n - first);
    T found[kNetRows];
    layers.forward(x, batch, first, n, now, scratch.data(), found);
    for (index_t i = 0; i < n; ++i) scores[first + i] = static_cast<double>(found[i]);
  });
}

#define FASTPU_NNPU_OF(View)                                                                                           \
  template NnpuResult fit_nnpu(const PuRows<View>&, const PuRows<View>*, const NnpuOptions&, const NnpuCallback&, Isa, \
                               Team&, PuNet<View::Value>&);                                                            \
  template void nnpu_scores(const View&, const PuNet<View::Value>&, Isa, Team&, double*)

FASTPU_NNPU_OF(DenseView<float>);
FASTPU_NNPU_OF(DenseView<double>);
FASTPU_NNPU_OF(CsrView<float>);
FASTPU_NNPU_OF(CsrView<double>);
#undef FASTPU_NNPU_OF

}  // namespace fastpu
