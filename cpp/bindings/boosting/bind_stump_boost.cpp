#include <pybind11/pybind11.h>

#include <optional>

#include "boosting/bind_eval_set.hpp"
#include "boosting/bind_stump_rows.hpp"
#include "common/arguments.hpp"
#include "common/bind_options.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/stump_boost.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

// By BoostStatus.
constexpr const char* kStumpStatus[] = {"n_rounds", "no_gain", "perfect", "early_stopping", "callback"};

// The training set, and what it points to if the features are binned here: the bins, and the order of the rows if every
// threshold is searched.
struct Training {
  std::optional<BinnedFeatures> binned;
  FeatureOrder order;
  BoostTrainingSet set;
};

// With max_bins = 0 every threshold of a feature is searched that has at most most_distinct values.
BinnedFeatures bin_training(const MatrixView& view, index_t max_bins, index_t most_distinct, Team& team,
                            Training& training) {
  BinOptions options;
  options.max_bins = max_bins;
  options.most_distinct = most_distinct;
  options.sample_weight = training.set.sample_weight;
  return std::visit(
      [&](const auto& x) {
        if constexpr (requires { x.data; }) {
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

// The first rounds of a fit, which an earlier call has made, and their sets of categories.
StumpBoostResult made_rounds(const py::tuple& arrays) {
  if (arrays.size() != 8) throw py::value_error("made must have 8 arrays");
  const auto n = static_cast<index_t>(py::len(arrays[0]));
  const auto copied = [&]<class T>(std::vector<T>& to, std::size_t k) {
    const T* from = view_1d<T>(arrays[k], "made", n);
    to.assign(from, from + n);
  };
  StumpBoostResult made;
  copied(made.features, 0);
  copied(made.thresholds, 1);
  copied(made.polarity, 2);
  copied(made.alphas, 3);
  copied(made.deltas, 4);
  copied(made.z, 5);
  copied(made.objective, 6);
  const CategorySet* sets = nullptr;
  const index_t n_sets = view_sets(arrays[7], sets);
  made.sets.assign(sets, sets + n_sets);
  return made;
}

StumpBoostResult boost(const py::object& features, const py::object& labels, const py::object& sample_weight,
                       const py::object& categorical, StumpBoostOptions options, index_t max_bins,
                       index_t most_distinct, const py::object& eval_set, const py::object& callback, int n_threads,
                       const py::object& rows, const py::object& made) {
  Training training;
  std::optional<MatrixView> raw;
  index_t n_rows = 0;
  index_t n_features = 0;
  if (const BinnedFeatures* binned = binned_features(features)) {
    training.set.features = binned;
    n_rows = binned->n_rows;
    n_features = binned->n_features;
  } else {
    raw = view_matrix(features);
    n_rows = std::visit([](const auto& x) { return x.n_rows; }, *raw);
    n_features = std::visit([](const auto& x) { return x.n_cols; }, *raw);
  }
  training.set.categorical = view_or_null<std::uint8_t>(categorical, "categorical", n_features);
  if (rows.is_none()) training.set.labels = view_1d<std::int8_t>(labels, "labels", n_rows);
  training.set.sample_weight = view_or_null<double>(sample_weight, "sample_weight", n_rows);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  using Round = BoostRound;
  const BoostCallback on_round =
      callback_of<Round>(callback, &Round::round, &Round::feature, &Round::threshold, &Round::polarity, &Round::delta,
                         &Round::alpha, &Round::z, &Round::objective, &Round::eval_auc);
  Team team = team_of_call(n_threads);

  if (!rows.is_none() && raw) throw py::value_error("features must be binned where rows are elsewhere");
  const std::unique_ptr<StumpRows> elsewhere =
      rows.is_none() ? nullptr : stump_rows_of_python(rows, *training.set.features);
  std::optional<StumpBoostResult> before;
  if (!made.is_none()) before = made_rounds(made.cast<py::tuple>());

  const py::gil_scoped_release nogil;
  if (elsewhere != nullptr) {
    return stump_boost(*training.set.features, training.set.categorical, *elsewhere, before ? &*before : nullptr,
                       eval ? &*eval : nullptr, options, on_round, team);
  }
  if (raw) {
    training.set.features = &training.binned.emplace(bin_training(*raw, max_bins, most_distinct, team, training));
  }
  return stump_boost(training.set, eval ? &*eval : nullptr, options, on_round, team);
}

}  // namespace

void bind_stump_boost(py::module_& module) {
  using Options = StumpBoostOptions;
  OptionsBinding<Options>(module, "StumpBoostOptions")
      .choice("loss", &Options::loss, {{"auc", BoostLossKind::auc}, {"ada", BoostLossKind::ada}})
      .field("gamma", &Options::gamma)
      .field("rho", &Options::rho)
      .choice("step", &Options::step, {{"jensen", BoostStep::jensen}, {"line_search", BoostStep::line_search}})
      .field("n_rounds", &Options::n_rounds)
      .field("stop_tol", &Options::stop_tol)
      .field("early_stopping_rounds", &Options::early_stopping_rounds);
  using Result = StumpBoostResult;
  py::class_<Result> result(module, "StumpBoostResult");
  add_array(result, "features", &Result::features);
  add_array(result, "thresholds", &Result::thresholds);
  add_array(result, "polarity", &Result::polarity);
  add_array(result, "alphas", &Result::alphas);
  add_array(result, "deltas", &Result::deltas);
  add_array(result, "z", &Result::z);
  add_array(result, "objective", &Result::objective);
  add_array(result, "eval_auc", &Result::eval_auc);
  result.def_property_readonly("category_sets", [](const Result& made) { return sets_to_array(made.sets); })
      .def_readonly("best_round", &Result::best_round)
      .def_property_readonly("status", [](const Result& made) { return kStumpStatus[static_cast<int>(made.status)]; })
      .def_readonly("low", &Result::low)
      .def_readonly("last_gain", &Result::last_gain);
  module.def("stump_boost", &boost, py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("max_bins"), py::arg("most_distinct"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"), py::arg("rows"), py::arg("made"));
}

}  // namespace fastpu
