#include "fastpu/risk/nnpu.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "common/check_option.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/early_stopping.hpp"
#include "fastpu/common/random.hpp"
#include "risk/net_layers.hpp"
#include "risk/risk_of_rows.hpp"

namespace fastpu {

namespace {

using detail::check_option;
using detail::kNetRows;
using detail::NetArrays;
using detail::NetBatch;
using detail::NetLayers;
using detail::PuRiskValue;
using detail::RiskOfRows;

// Of Adam's moving means of gradients and of their squares.
constexpr double kMeanDecay = 0.9;
constexpr double kSquareDecay = 0.999;
// A smaller decrease of the training risk, relative to it, is no progress: it goes on falling for ever.
constexpr double kLeastProgress = 1e-3;

void check(const NnpuOptions& options) {
  check_option(options.prior >= 0 && options.prior <= 1, "prior", "in [0, 1]", options.prior);
  check_option(options.beta >= 0 && std::isfinite(options.beta), "beta", "finite and >= 0", options.beta);
  check_option(options.gamma_nn >= 0 && options.gamma_nn <= 1, "gamma_nn", "in [0, 1]", options.gamma_nn);
  check_option(options.lam >= 0 && std::isfinite(options.lam), "lam", "finite and >= 0", options.lam);
  check_option(options.learning_rate > 0 && std::isfinite(options.learning_rate), "learning_rate", "finite and > 0",
               options.learning_rate);
  check_option(options.scale > 0 && std::isfinite(options.scale), "scale", "finite and > 0", options.scale);
  check_option(options.eps > 0, "eps", "> 0", options.eps);
  check_option(options.n_epochs >= 1, "n_epochs", ">= 1", static_cast<double>(options.n_epochs));
  check_option(options.batch_size >= 0, "batch_size", ">= 0", static_cast<double>(options.batch_size));
  check_option(options.early_stopping_rounds >= 0, "early_stopping_rounds", ">= 0",
               static_cast<double>(options.early_stopping_rounds));
}

void check_features(index_t n_cols, index_t n_features) {
  if (n_cols == n_features) return;
  throw std::invalid_argument("rows must have " + std::to_string(n_features) + " features, got " +
                              std::to_string(n_cols));
}

template <class View>
void check(const PuRows<View>& rows, const PuNet<typename View::Value>& net) {
  check_features(rows.x.n_cols, net.n_features);
  index_t n_positive = 0;
  for (index_t k = 0; k < rows.n(); ++k) {
    const index_t i = rows.chosen == nullptr ? k : rows.chosen[k];
    if (i < 0 || i >= rows.x.n_rows) {
      throw std::invalid_argument("chosen must be numbers of rows, from 0 to " + std::to_string(rows.x.n_rows - 1) +
                                  ", got " + std::to_string(i));
    }
    check_option(rows.labels[i] == 0 || rows.labels[i] == 1, "labels", "1 or 0", rows.labels[i]);
    n_positive += rows.labels[i];
    const double weight = rows.weights == nullptr ? 1.0 : rows.weights[i];
    check_option(weight > 0 && std::isfinite(weight), "weights", "> 0 and finite", weight);
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

// Of a net or its arrays.
template <class Net>
bool is_finite(const Net& net) {
  const auto all_finite = [](const auto& values) {
    return std::all_of(values.data(), values.data() + values.size(), [](auto value) { return std::isfinite(value); });
  };
  return all_finite(net.hidden_coef) && all_finite(net.hidden_intercept) && all_finite(net.coef) &&
         std::isfinite(net.intercept);
}

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
    mean_power_ *= kMeanDecay;
    square_power_ *= kSquareDecay;
    detail::AdamStep step{};
    step.rate = options_.learning_rate / (1 - mean_power_);
    step.per_root = 1 / std::sqrt(1 - square_power_);
    step.mean_decay = kMeanDecay;
    step.square_decay = kSquareDecay;
    step.eps = options_.eps;
    // The weights that x meets: w of x is w s of x / s, whose gradient is that of w divided by s.
    detail::AdamStep first = step;
    first.rate = step.rate / options_.scale;
    first.unit = 1 / options_.scale;
    const bool is_linear = net.hidden_coef.size() == 0;
    first.decay = is_linear ? options_.lam / options_.scale : options_.lam * options_.scale;
    step.decay = is_linear ? 0 : options_.lam;
    update(first, gradient.hidden_coef, net.hidden_coef, mean_.hidden_coef, square_.hidden_coef);
    update(is_linear ? first : step, gradient.coef, net.coef, mean_.coef, square_.coef);
    update(step, gradient.hidden_intercept, net.hidden_intercept, mean_.hidden_intercept, square_.hidden_intercept);
    layers_.kernels().adam(step, &gradient.intercept, 1, &net.intercept, &mean_.intercept, &square_.intercept);
  }

 private:
  void update(const detail::AdamStep& step, const AlignedBuffer<T>& gradient, AlignedBuffer<T>& value,
              AlignedBuffer<T>& mean, AlignedBuffer<T>& square) {
    constexpr index_t kChunk = 1 << 14;
    Team& team = layers_.team();
    team.for_blocks(value.size(), kChunk, team.n_threads(), [&](index_t first, index_t end, int) {
      layers_.kernels().adam(step, gradient.data() + first, end - first, value.data() + first, mean.data() + first,
                             square.data() + first);
    });
  }

  const NetLayers<View>& layers_;
  const NnpuOptions& options_;
  NetArrays<T> mean_;
  NetArrays<T> square_;
  double mean_power_ = 1;
  double square_power_ = 1;
};

// What lam adds to a risk.
template <class T>
double penalty(const NetArrays<T>& net, const NnpuOptions& options) {
  const auto squares = [](const AlignedBuffer<T>& values, double factor) {
    double sum = 0;
    for (index_t k = 0; k < values.size(); ++k) {
      const double value = factor * static_cast<double>(values[k]);
      sum += value * value;
    }
    return sum;
  };
  if (net.hidden_coef.size() == 0) {
    return 0.5 * (options.lam / options.scale / options.scale * squares(net.coef, options.scale));
  }
  const auto intercept = static_cast<double>(net.intercept);
  const double of_intercepts = squares(net.hidden_intercept, 1) + intercept * intercept;
  return 0.5 * (options.lam * (squares(net.hidden_coef, options.scale) + squares(net.coef, 1) + of_intercepts));
}

// The numbers of the rows in the order of their batches; empty for all rows in their own order.
template <class View>
std::vector<index_t> order_of(const PuRows<View>& rows, const NnpuOptions& options) {
  std::vector<index_t> order;
  if (options.batch_size == 0 && rows.chosen == nullptr) return order;
  order = make_vector<index_t>(rows.n(), "the order of rows");
  for (index_t i = 0; i < rows.n(); ++i) order[at(i)] = rows.chosen == nullptr ? i : rows.chosen[i];
  return order;
}

void refuse_overflow(const NnpuEpoch& seen, bool has_eval) {
  const bool is_of_training = !std::isfinite(seen.risk);
  if (!is_of_training && (!has_eval || std::isfinite(seen.eval_risk))) return;
  throw std::invalid_argument(std::string("scores overflow: the risk of ") +
                              (is_of_training ? "epoch " : "eval_set in epoch ") + std::to_string(seen.epoch) + " is " +
                              (std::isnan(is_of_training ? seen.risk : seen.eval_risk) ? "nan" : "inf") +
                              "; scale X, or choose a smaller learning_rate or lam");
}

}  // namespace

template <class View>
NnpuResult fit_nnpu(const PuRows<View>& rows, const PuRows<View>* eval, const NnpuOptions& options,
                    const NnpuCallback& callback, Team& team, PuNet<typename View::Value>& net) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  check(options);
  check(net);
  check(rows, net);
  if (eval != nullptr) check(*eval, net);
  const index_t n = rows.n();
  const index_t batch_size = options.batch_size == 0 ? n : std::min(options.batch_size, n);
  const index_t n_batches = count_blocks(n, batch_size);
  const bool keeps_best = eval != nullptr && options.early_stopping_rounds > 0;

  NetLayers<View> layers(net.n_features, net.n_hidden, team);
  NetArrays<T> now = layers.zeros("parameters");
  NetArrays<T> gradient = layers.zeros("the gradient");
  Adam<View> adam(layers, options);
  RiskOfRows<View> training(layers, rows, options, batch_size);
  RiskOfRows<View> judging(layers, eval == nullptr ? rows : *eval, options, 0);
  std::vector<index_t> order = order_of(rows, options);
  Random random(options.seed);
  layers.read(net, now);

  NnpuResult result;
  EarlyStopping stopping(options.early_stopping_rounds, eval != nullptr ? 0 : kLeastProgress);
  for (index_t epoch = 1; epoch <= options.n_epochs; ++epoch) {
    NnpuEpoch seen;
    seen.epoch = epoch;
    if (options.batch_size > 0) random.shuffle(order);
    const double penalties = penalty(now, options);
    for (index_t b = 0; b < n_batches; ++b) {
      const index_t first = b * batch_size;
      const NetBatch batch{order.empty() ? nullptr : order.data() + first, std::min(batch_size, n - first)};
      const PuRiskValue risk = training.forward(batch, now);
      training.backward(batch, risk, now, gradient);
      adam.step(gradient, now);
      const double share = 1 / static_cast<double>(n_batches);
      seen.risk += share * risk.value;
      seen.positive += share * risk.positive;
      seen.negative += share * risk.negative;
      if (risk.is_reversed) ++seen.n_reversed;
    }
    if (eval != nullptr) seen.eval_risk = judging.forward({eval->chosen, eval->n()}, now).value;
    refuse_overflow(seen, eval != nullptr);
    result.epochs.push_back(seen);
    stopping.add(-(eval != nullptr ? seen.eval_risk : seen.risk + penalties));
    if (keeps_best && stopping.best_round() == epoch) layers.write(now, net);
    result.best_epoch = keeps_best ? stopping.best_round() : epoch;
    if (callback && callback(seen)) {
      result.status = NnpuStatus::callback;
      break;
    }
    if (stopping.is_over()) {
      result.status = NnpuStatus::early_stopping;
      break;
    }
  }
  if (!keeps_best) layers.write(now, net);
  if (!is_finite(net) || !adam.is_sound()) {
    throw std::invalid_argument(
        "squares of gradients or parameters overflow; scale X, or choose a smaller learning_rate or lam");
  }
  return result;
}

template <class View>
void nnpu_scores(const View& x, const PuNet<typename View::Value>& net, Team& team, double* scores) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  check(net);
  check_features(x.n_cols, net.n_features);
  NetLayers<View> layers(net.n_features, net.n_hidden, team);
  auto arrays = layers.zeros("parameters");
  layers.read(net, arrays);
  const NetBatch batch{nullptr, x.n_rows};
  team.for_blocks(batch.n, kNetRows, layers.workers(x, batch.n), [&](index_t first, index_t end, int worker) {
    T of_block[kNetRows] = {};
    layers.forward(x, batch, first, end - first, arrays, layers.hidden_of(worker), of_block);
    for (index_t i = first; i < end; ++i) scores[i] = static_cast<double>(of_block[i - first]);
  });
}

#define FASTPU_NNPU_OF(View)                                                                                      \
  template NnpuResult fit_nnpu(const PuRows<View>&, const PuRows<View>*, const NnpuOptions&, const NnpuCallback&, \
                               Team&, PuNet<View::Value>&);                                                       \
  template void nnpu_scores(const View&, const PuNet<View::Value>&, Team&, double*)

FASTPU_NNPU_OF(DenseView<float>);
FASTPU_NNPU_OF(DenseView<double>);
FASTPU_NNPU_OF(CsrView<float>);
FASTPU_NNPU_OF(CsrView<double>);
#undef FASTPU_NNPU_OF

}  // namespace fastpu
