#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>

#include "boosting/bind_eval_set.hpp"
#include "boosting/python_exchange.hpp"
#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/stump_boost.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

FASTPU_WORDS(BoostLossKind, "auc", "ada")
FASTPU_WORDS(BoostStep, "jensen", "line_search")
FASTPU_WORDS(BoostStatus, "n_rounds", "no_gain", "perfect", "early_stopping", "callback")
FASTPU_FIELDS(StumpBoostOptions, loss, gamma, rho, step, n_rounds, stop_tol, early_stopping_rounds)
FASTPU_FIELDS(BoostRound, round, feature, threshold, polarity, delta, alpha, z, objective, eval_auc)
FASTPU_FIELDS(StumpBoostResult, features, thresholds, polarity, missing_above, alphas, deltas, z, objective, eval_auc,
              best_round, status, low, last_gain)

namespace {

// The training set, and what it points to if the features are binned here: the bins, and the order of the rows if every
// threshold is searched.
struct Training {
  std::optional<BinnedFeatures> binned;
  FeatureOrder order;
  BoostTrainingSet set;
};

// With max_bins = 0 every threshold of a feature is searched that has at most most_distinct values.
BinnedFeatures bin_training(const RowsView& view, index_t max_bins, index_t most_distinct, Team& team,
                            Training& training) {
  BinOptions options;
  options.max_bins = max_bins;
  options.most_distinct = most_distinct;
  options.sample_weight = training.set.sample_weight;
  return std::visit(
      [&](const auto& x) {
        if constexpr (std::decay_t<decltype(x)>::kIsDense) {
          options.categorical = training.set.categorical;
          if (max_bins == 0) {
            options.max_bins = x.n_rows > most_distinct ? kQuantiles : exact_search_bins(x.n_rows, x.n_cols);
            training.set.order = &training.order;
            training.set.value = [x](index_t row, index_t feature) { return static_cast<double>(x.row(row)[feature]); };
            return bin_features(x, options, team, &training.order);
          }
        }
        return bin_features(x, options, team);
      },
      view);
}

// `exchange` is None, or where the rows are those of a member of a fit on several machines the function that
// PythonExchange calls. Such a member may have no rows: then the labels are None, and the features have the cuts alone.
Fields<StumpBoostResult> boost(const py::object& features, const py::object& labels, const py::object& sample_weight,
                               const py::object& categorical, StumpBoostOptions options, index_t max_bins,
                               index_t most_distinct, const py::object& eval_set, const py::object& callback,
                               int n_threads, const py::object& exchange) {
  Training training;
  const BinnedFeatures* const binned = binned_features(features);
  const RowsView raw = binned == nullptr ? view_matrix(features) : RowsView();
  const index_t n_rows = binned == nullptr ? fastpu::n_rows(raw) : binned->n_rows;
  training.set.features = binned;
  training.set.categorical =
      view_or_null<std::uint8_t>(categorical, "categorical", binned == nullptr ? n_columns(raw) : binned->n_features);
  const bool is_whole = exchange.is_none();
  if (is_whole || !labels.is_none()) training.set.labels = view_1d<std::int8_t>(labels, "labels", n_rows);
  training.set.sample_weight = view_or_null<double>(sample_weight, "sample_weight", n_rows);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  const BoostCallback on_round = callback_of<BoostRound>(callback);
  Team team = team_of_call(n_threads);

  if (!is_whole && binned == nullptr) throw py::value_error("features must be binned where rows are those of a member");
  PythonExchange members(exchange, training.set.labels != nullptr);
  const py::gil_scoped_release nogil;
  if (!is_whole) {
    auto own = training.set.labels == nullptr ? nullptr : make_stump_rows(training.set, team);
    const auto rows = join_stump_rows(std::move(own), *training.set.features, members);
    return {stump_boost(*training.set.features, training.set.categorical, *rows, eval ? &*eval : nullptr, options,
                        on_round, team)};
  }
  if (binned == nullptr) {
    training.set.features = &training.binned.emplace(bin_training(raw, max_bins, most_distinct, team, training));
  }
  return {stump_boost(training.set, eval ? &*eval : nullptr, options, on_round, team)};
}

}  // namespace

void bind_stump_boost(py::module_& module) {
  bind_options<StumpBoostOptions>(module, "StumpBoostOptions");
  bind_result<StumpBoostResult>(module, "StumpBoostResult")
      .def_property_readonly("category_sets",
                             [](const Fields<StumpBoostResult>& result) { return sets_to_array(result.sets); });
  module.def("stump_boost", &boost, py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("max_bins"), py::arg("most_distinct"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"), py::arg("exchange"));
}

}  // namespace fastpu
