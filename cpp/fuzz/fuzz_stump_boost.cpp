// stump_boost on whatever features, and the scores of its ensembles.

#include "fastpu/boosting/stump_boost.hpp"
#include "fastpu/boosting/stump_ensemble.hpp"
#include "fastpu/data/binned_features.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::BinnedFeatures;
using fastpu::BinOptions;
using fastpu::BoostEvalSet;
using fastpu::BoostStep;
using fastpu::BoostTrainingSet;
using fastpu::FeatureOrder;
using fastpu::StumpBoostOptions;
using fastpu::StumpBoostResult;
using fastpu::Team;

StumpBoostOptions options_of(Input& input) {
  StumpBoostOptions options;
  options.loss = input.one_of(fastpu::stump_losses()).name;
  options.gamma = input.wrong(input.share());
  options.rho = input.wrong(input.flag() ? 0 : input.share() * 0.5);
  options.n_rounds = input.rarely(64) ? 0 : input.between(1, 6);
  options.step = input.rarely(4) ? BoostStep::line_search : BoostStep::jensen;
  options.stop_tol = input.wrong(input.one_of<double, 3>({0, 1e-9, 0.1}));
  options.early_stopping_rounds = input.rarely(4) ? input.between(1, 3) : 0;
  return options;
}

template <class T>
void check_result(const Matrix<T>& x, const BinnedFeatures& binned, const StumpBoostOptions& options,
                  const std::uint8_t* categorical, const StumpBoostResult& result, Team& team) {
  const auto n_stumps = result.features.size();
  FUZZ_CHECK(static_cast<index_t>(n_stumps) <= options.n_rounds);
  FUZZ_CHECK(result.thresholds.size() == n_stumps && result.alphas.size() == n_stumps);
  FUZZ_CHECK(result.best_round <= static_cast<index_t>(n_stumps));
  for (std::size_t t = 0; t < n_stumps; ++t) {
    FUZZ_CHECK(result.features[t] >= 0 && result.features[t] < x.d);
    FUZZ_CHECK(result.alphas[t] >= 0 && std::isfinite(result.alphas[t]));
    FUZZ_CHECK(!std::isnan(result.thresholds[t]) && !std::isnan(result.deltas[t]) && !std::isnan(result.z[t]));
    FUZZ_CHECK(!std::isnan(result.objective[t]));
    if (t > 0) FUZZ_CHECK(result.objective[t] <= result.objective[t - 1] + 1e-9);
  }
  const fastpu::StumpEnsembleView ensemble{result.features.data(),
                                           result.thresholds.data(),
                                           result.polarity.data(),
                                           result.alphas.data(),
                                           static_cast<index_t>(n_stumps),
                                           x.d,
                                           result.low,
                                           categorical,
                                           result.sets.data(),
                                           static_cast<index_t>(result.sets.size())};
  std::vector<double> dense(at(x.n));
  std::vector<double> sparse(at(x.n));
  stump_scores(ensemble, x.dense_view(), dense.data(), team);
  if (!accepted([&] { stump_scores(ensemble, x.csr_view(), sparse.data(), team); })) {
    FUZZ_CHECK(categorical != nullptr);
    sparse = dense;
  }
  double size = 0;
  for (const double alpha : result.alphas) size += alpha;
  FUZZ_CHECK(all_finite(dense) && all_finite(sparse));
  for (std::size_t i = 0; i < dense.size(); ++i) FUZZ_CHECK(std::fabs(dense[i] - sparse[i]) <= 1e-12 * size);
  std::vector<double> from_codes(at(x.n));
  // Of an exact search, thresholds may lie between the cuts.
  if (accepted([&] { stump_scores(ensemble, binned, from_codes.data(), team); })) {
    for (std::size_t i = 0; i < dense.size(); ++i) FUZZ_CHECK(std::fabs(dense[i] - from_codes[i]) <= 1e-12 * size);
  }
}

template <class T>
void run(Input& input) {
  const index_t n = input.n_rows(2);
  const Matrix<T> x(input, n, input.between(1, 4));
  const auto labels = labels_of(input, n, {1, 0, -1});
  std::vector<double> weights;
  if (input.flag()) {
    for (index_t i = 0; i < n; ++i) {
      weights.push_back(input.rarely(8) ? std::fabs(input.real()) : static_cast<double>(input.between(1, 4)));
      if (!std::isfinite(weights.back())) weights.back() = 0;
    }
  }
  Team team(input.n_threads(), {}, input.isa());
  BinOptions bins;
  bins.max_bins = input.one_of<index_t, 4>({1, 2, 255, 65535});
  bins.sample_weight = weights.empty() ? nullptr : weights.data();
  FeatureOrder order;
  const bool is_dense = input.flag();
  std::vector<std::uint8_t> categorical;
  if (is_dense && input.rarely(3)) {
    for (index_t e = 0; e < x.d; ++e) categorical.push_back(input.flag() ? 1 : 0);
    bins.categorical = categorical.data();
  }
  const bool is_exact = is_dense && input.flag();
  BinnedFeatures binned;
  if (!accepted([&] {
        binned = is_dense ? bin_features(x.dense_view(), bins, team, is_exact ? &order : nullptr)
                          : bin_features(x.csr_view(), bins, team);
      })) {
    return;
  }
  const StumpBoostOptions options = options_of(input);
  BoostTrainingSet train;
  train.features = &binned;
  if (is_exact) {
    train.order = &order;
    train.value = [&x](index_t row, index_t feature) { return static_cast<double>(x.dense[at(row * x.d + feature)]); };
  }
  train.labels = labels.data();
  train.sample_weight = bins.sample_weight;
  train.categorical = bins.categorical;
  BoostEvalSet eval;
  const bool has_eval = input.rarely(3);
  switch (input.below(3)) {
    case 0:
      eval.features = x.dense_view();
      break;
    case 1:
      eval.features = x.csr_view();
      break;
    default:
      eval.features = &binned;
  }
  const auto eval_labels = labels_of(input, n, {1, -1, 0});
  eval.labels = eval_labels.data();
  StumpBoostResult result;
  if (accepted([&] { result = stump_boost(train, has_eval ? &eval : nullptr, options, {}, team); })) {
    check_result(x, binned, options, bins.categorical, result, team);
    if (input.rarely(8)) {
      Team other(2, {}, fastpu::Isa::baseline);
      const auto same = stump_boost(train, has_eval ? &eval : nullptr, options, {}, other);
      FUZZ_CHECK(same.features == result.features && same_bits(same.alphas, result.alphas) &&
                 same_bits(same.objective, result.objective));
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  input.flag() ? run<double>(input) : run<float>(input);
  return 0;
}
