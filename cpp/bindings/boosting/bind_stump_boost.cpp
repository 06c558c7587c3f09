#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>

#include "boosting/bind_eval_set.hpp"
#include "boosting/python_exchange.hpp"
#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/exact_features.hpp"
#include "fastpu/boosting/stump_boost.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

FASTPU_WORDS(BoostStep, "jensen", "line_search")
FASTPU_WORDS(BoostStatus, "n_rounds", "no_gain", "perfect", "early_stopping", "callback")
FASTPU_FIELDS(StumpLossInfo, name, low, only_ranks)
FASTPU_FIELDS(StumpBoostOptions, loss, gamma, rho, step, n_rounds, stop_tol, early_stopping_rounds)
FASTPU_FIELDS(BoostRound, round, feature, threshold, polarity, delta, alpha, z, objective, eval_auc)
FASTPU_FIELDS(StumpBoostResult, features, thresholds, polarity, missing_above, alphas, deltas, z, objective, eval_auc,
              best_round, status, low, last_gain)

namespace {

// Features that are searched at every threshold, with the matrix that they were made of: the values between which a
// threshold lies are read from it.
struct SearchedFeatures {
  py::object matrix;
  RowsView view;
  ExactFeatures exact;
};

std::unique_ptr<SearchedFeatures> bin_at_every_threshold(const py::object& matrix, const py::object& sample_weight,
                                                         const py::object& categorical, index_t most_distinct,
                                                         index_t n_quantiles, int n_threads) {
  auto features = std::make_unique<SearchedFeatures>();
  features->matrix = matrix;
  features->view = view_matrix(matrix);
  BinOptions options;
  options.sample_weight = view_or_null<double>(sample_weight, "sample_weight", n_rows(features->view));
  options.categorical = view_or_null<std::uint8_t>(categorical, "categorical", n_columns(features->view));
  options.most_distinct = most_distinct;
  options.n_quantiles = n_quantiles;
  Team team = team_of_call(n_threads);
  unlocked(
      [&] { std::visit([&](const auto& x) { features->exact = bin_exactly(x, options, team); }, features->view); });
  return features;
}

void search_every_threshold(const SearchedFeatures& features, BoostTrainingSet& train) {
  train.features = &features.exact.binned;
  std::visit(
      [&](const auto& x) {
        if constexpr (std::decay_t<decltype(x)>::kIsDense) {
          train.order = &features.exact.order;
          train.value = [x](index_t row, index_t feature) { return static_cast<double>(x.row(row)[feature]); };
        }
      },
      features.view);
}

BoostTrainingSet view_training(const py::object& features, const py::object& labels, const py::object& sample_weight,
                               const py::object& categorical) {
  BoostTrainingSet train;
  if (py::isinstance<SearchedFeatures>(features)) {
    search_every_threshold(features.cast<const SearchedFeatures&>(), train);
  } else {
    train.features = &features.cast<const BinnedFeatures&>();
  }
  const index_t n_rows = train.features->n_rows;
  train.labels = view_or_null<std::int8_t>(labels, "labels", n_rows);
  train.sample_weight = view_or_null<double>(sample_weight, "sample_weight", n_rows);
  train.categorical = view_or_null<std::uint8_t>(categorical, "categorical", train.features->n_features);
  return train;
}

Fields<StumpBoostResult> boost(const py::object& features, const py::object& labels, const py::object& sample_weight,
                               const py::object& categorical, const StumpBoostOptions& options,
                               const py::object& eval_set, const py::object& callback, int n_threads) {
  const BoostTrainingSet train = view_training(features, labels, sample_weight, categorical);
  if (train.labels == nullptr) throw py::value_error("labels must be given");
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  const BoostCallback on_round = callback_of<BoostRound>(callback);
  Team team = team_of_call(n_threads);
  return unlocked(
      [&] { return Fields<StumpBoostResult>{stump_boost(train, eval ? &*eval : nullptr, options, on_round, team)}; });
}

Fields<StumpBoostResult> boost_as_member(const py::object& features, const py::object& labels,
                                         const py::object& sample_weight, const py::object& categorical,
                                         const StumpBoostOptions& options, const py::object& exchange,
                                         const py::object& eval_set, const py::object& callback, int n_threads) {
  const BoostTrainingSet own = view_training(features, labels, sample_weight, categorical);
  PythonExchange members(exchange, own.labels != nullptr);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  const BoostCallback on_round = callback_of<BoostRound>(callback);
  Team team = team_of_call(n_threads);
  return unlocked([&] {
    return Fields<StumpBoostResult>{
        stump_boost_as_member(own, members, eval ? &*eval : nullptr, options, on_round, team)};
  });
}

py::list list_losses_of_stumps() {
  py::list losses;
  for (const StumpLossInfo& info : stump_losses()) losses.append(Fields<StumpLossInfo>{{info}});
  return losses;
}

}  // namespace

void bind_stump_boost(py::module_& module) {
  bind_result<StumpLossInfo>(module, "StumpLossInfo");
  module.def("stump_losses", &list_losses_of_stumps);
  bind_options<StumpBoostOptions>(module, "StumpBoostOptions");
  bind_result<StumpBoostResult>(module, "StumpBoostResult")
      .def_property_readonly("category_sets",
                             [](const Fields<StumpBoostResult>& result) { return sets_to_array(result.sets); });
  const py::class_<SearchedFeatures> searched(module, "SearchedFeatures");
  module.def("bin_at_every_threshold", &bin_at_every_threshold, py::arg("matrix"), py::arg("sample_weight"),
             py::arg("categorical"), py::kw_only(), py::arg("most_distinct"), py::arg("n_quantiles"),
             py::arg("n_threads"));
  module.def("stump_boost", &boost, py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("eval_set"), py::arg("callback"),
             py::arg("n_threads"));
  module.def("stump_boost_as_member", &boost_as_member, py::arg("features"), py::arg("labels"),
             py::arg("sample_weight"), py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("exchange"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"));
}

}  // namespace fastpu
