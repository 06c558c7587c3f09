#include <pybind11/functional.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "boosting/bind_eval_set.hpp"
#include "boosting/bind_stump_rows.hpp"
#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/stump_boost.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

BoostStep step_from_name(const std::string& name) {
  if (name == "jensen") return BoostStep::jensen;
  if (name == "line_search") return BoostStep::line_search;
  throw py::value_error("step has no value '" + name + "'");
}

const char* status_name(BoostStatus status) {
  switch (status) {
    case BoostStatus::n_rounds:
      return "n_rounds";
    case BoostStatus::no_gain:
      return "no_gain";
    case BoostStatus::perfect:
      return "perfect";
    case BoostStatus::early_stopping:
      return "early_stopping";
    case BoostStatus::callback:
      return "callback";
  }
  return "";
}

// Calls Python after every round.
BoostCallback make_callback(const py::object& callback) {
  if (callback.is_none()) return {};
  return [&callback](const BoostRound& r) {
    const py::gil_scoped_acquire gil;
    return callback(r.round, r.feature, r.threshold, r.polarity, r.delta, r.alpha, r.z, r.objective, r.eval_auc)
        .template cast<bool>();
  };
}

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
                       const std::string& loss, double gamma, double rho, index_t n_rounds, const std::string& step,
                       double stop_tol, index_t max_bins, index_t most_distinct, const py::object& eval_matrix,
                       const py::object& eval_labels, const py::object& eval_weight, index_t early_stopping_rounds,
                       const py::object& callback, int n_threads, const py::object& categorical, const py::object& rows,
                       const py::object& made) {
  StumpBoostOptions options;
  options.loss = {loss, gamma, rho, step_from_name(step)};
  options.n_rounds = n_rounds;
  options.stop_tol = stop_tol;
  options.early_stopping_rounds = early_stopping_rounds;
  options.isa = isa_of_call();

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
  std::optional<BoostEvalSet> eval;
  if (!eval_matrix.is_none()) eval = view_eval_set(eval_matrix, eval_labels, eval_weight);
  const BoostCallback on_round = make_callback(callback);
  Team team(n_threads, interrupt_poll());

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

template <auto kMember>
auto array(const StumpBoostResult& result) {
  return to_array(result.*kMember);
}

}  // namespace

void bind_stump_boost(py::module_& module) {
  using Result = StumpBoostResult;
  py::class_<Result>(module, "StumpBoostResult")
      .def_property_readonly("features", &array<&Result::features>)
      .def_property_readonly("thresholds", &array<&Result::thresholds>)
      .def_property_readonly("polarity", &array<&Result::polarity>)
      .def_property_readonly("category_sets", [](const Result& result) { return sets_to_array(result.sets); })
      .def_property_readonly("alphas", &array<&Result::alphas>)
      .def_property_readonly("deltas", &array<&Result::deltas>)
      .def_property_readonly("z", &array<&Result::z>)
      .def_property_readonly("objective", &array<&Result::objective>)
      .def_property_readonly("eval_auc", &array<&Result::eval_auc>)
      .def_readonly("best_round", &Result::best_round)
      .def_property_readonly("status", [](const Result& result) { return status_name(result.status); })
      .def_readonly("low", &Result::low)
      .def_readonly("last_gain", &Result::last_gain);
  module.def("stump_boost", &boost, py::arg("features"), py::arg("labels").none(true),
             py::arg("sample_weight").none(true), py::kw_only(), py::arg("loss"), py::arg("gamma"), py::arg("rho"),
             py::arg("n_rounds"), py::arg("step"), py::arg("stop_tol"), py::arg("max_bins"), py::arg("most_distinct"),
             py::arg("eval_features").none(true), py::arg("eval_labels").none(true), py::arg("eval_weight").none(true),
             py::arg("early_stopping_rounds"), py::arg("callback").none(true), py::arg("n_threads"),
             py::arg("categorical").none(true) = py::none(), py::arg("rows").none(true) = py::none(),
             py::arg("made").none(true) = py::none());
}

}  // namespace fastpu
