// Training of linear functions and networks by the risk of nnPU.

#include "fastpu/risk/nnpu.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::NnpuOptions;
using fastpu::NnpuResult;
using fastpu::PuLoss;
using fastpu::PuNet;
using fastpu::PuRows;
using fastpu::Team;

NnpuOptions options_of(Input& input) {
  NnpuOptions options;
  options.loss = input.one_of<PuLoss, 3>({PuLoss::sigmoid, PuLoss::logistic, PuLoss::squared});
  options.prior = input.wrong(input.share());
  options.beta = input.wrong(input.flag() ? 0 : input.positive());
  options.gamma_nn = input.wrong(input.flag() ? 1 : input.share());
  options.lam = input.wrong(input.flag() ? 0 : input.positive());
  options.learning_rate = input.wrong(input.flag() ? 1e-2 : input.positive());
  options.scale = input.wrong(input.flag() ? 1 : input.positive());
  options.n_epochs = input.rarely(32) ? 0 : input.between(1, 4);
  options.batch_size = input.flag() ? 0 : input.below(6);
  options.seed = input.byte();
  options.early_stopping_rounds = input.rarely(8) ? input.between(1, 2) : 0;
  return options;
}

template <class T>
PuNet<T> net_of(Input& input, index_t d) {
  PuNet<T> net;
  net.n_features = d;
  net.n_hidden = input.flag() ? 0 : input.between(1, 5);
  net.hidden_coef.resize(at(d * net.n_hidden));
  net.hidden_intercept.resize(at(net.n_hidden));
  net.coef.resize(at(net.n_hidden == 0 ? d : net.n_hidden));
  if (input.flag()) {
    for (auto* values : {&net.hidden_coef, &net.hidden_intercept, &net.coef}) {
      for (T& value : *values) value = narrowed<T>(input.real());
    }
  }
  if (input.rarely(64)) net.coef.pop_back();
  return net;
}

template <class T>
bool is_finite(const PuNet<T>& net) {
  return all_finite(net.hidden_coef) && all_finite(net.hidden_intercept) && all_finite(net.coef) &&
         std::isfinite(net.intercept);
}

template <class View>
void fit(Input& input, const View& view) {
  using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
  const index_t n = view.n_rows;
  const auto labels = labels_of(input, n, {1, 0});
  std::vector<double> weights;
  if (input.flag()) {
    for (index_t i = 0; i < n; ++i) weights.push_back(input.wrong(input.positive()));
  }
  const PuRows<View> rows{view, labels.data(), weights.empty() ? nullptr : weights.data()};
  const NnpuOptions options = options_of(input);
  const PuNet<T> start = net_of<T>(input, view.n_cols);
  PuNet<T> net = start;
  const bool has_eval = input.rarely(4);
  const fastpu::Isa isa = input.isa();
  Team team(input.n_threads(), {}, isa);
  NnpuResult result;
  if (!accepted([&] { result = fit_nnpu(rows, has_eval ? &rows : nullptr, options, {}, team, net); })) {
    return;
  }
  FUZZ_CHECK(is_finite(net));
  FUZZ_CHECK(static_cast<index_t>(result.epochs.size()) <= options.n_epochs);
  for (const auto& epoch : result.epochs) {
    FUZZ_CHECK(std::isfinite(epoch.risk));
    FUZZ_CHECK(has_eval == !std::isnan(epoch.eval_risk));
  }
  PuNet<T> other = start;
  Team two(input.rarely(16) ? 2 : 1, {}, fastpu::Isa::baseline);
  fit_nnpu(rows, has_eval ? &rows : nullptr, options, {}, two, other);
  FUZZ_CHECK(same_bits(other.coef, net.coef) && same_bits(other.hidden_coef, net.hidden_coef));
  std::vector<double> scores(at(n));
  nnpu_scores(view, net, team, scores.data());
}

template <class T>
void run(Input& input) {
  const Matrix<T> x(input, input.n_rows(0), input.between(1, 5));
  input.flag() ? fit(input, x.dense_view()) : fit(input, x.csr_view());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
