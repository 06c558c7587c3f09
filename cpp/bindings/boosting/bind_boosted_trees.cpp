#include <pybind11/pybind11.h>

#include <memory>
#include <optional>

#include "boosting/bind_boosted_rows.hpp"
#include "boosting/bind_eval_set.hpp"
#include "common/arguments.hpp"
#include "common/bind_options.hpp"
#include "fastpu/boosting/boosted_trees.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

// By BoostedTreesStatus.
constexpr const char* kTreesStatus[] = {"n_rounds", "no_gain", "early_stopping", "callback"};

// `init` has the nodes, starts and sets of trees, or is None.
BoostedTreesResult fit_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                             const py::object& categorical, BoostedTreesOptions options, const py::object& init,
                             const py::object& init_oob_sum, const py::object& eval_set, const py::object& callback,
                             int n_threads, const py::object& rows) {
  if (!init.is_none()) {
    const auto trees = init.cast<py::tuple>();
    if (trees.size() != 3) throw py::value_error("init must have 3 parts");
    options.init = view_trees(trees[0], trees[1], trees[2], features.n_features);
  }
  options.init_oob_sum = view_or_null<double>(init_oob_sum, "init_oob_sum", features.n_rows);
  const auto train = view_training_set<BoostedTreesTrainingSet>(features, labels, sample_weight, categorical);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  using Round = BoostedTreesRound;
  const BoostedTreesCallback on_round = callback_of<Round>(callback, &Round::bag, &Round::round, &Round::n_leaves,
                                                           &Round::depth, &Round::risk, &Round::eval_auc);
  Team team = team_of_call(n_threads);
  if (rows.is_none() && labels.is_none()) throw py::value_error("labels must be given where rows are");
  const std::unique_ptr<BoostedRows> elsewhere = rows.is_none() ? nullptr : rows_of_python(rows, features, options);
  const py::gil_scoped_release nogil;
  if (elsewhere != nullptr) {
    return boost_trees(features, train.categorical, *elsewhere, eval ? &*eval : nullptr, options, on_round, team);
  }
  return boost_trees(train, eval ? &*eval : nullptr, options, on_round, team);
}

}  // namespace

void bind_boosted_trees(py::module_& module) {
  using Options = BoostedTreesOptions;
  OptionsBinding<Options>(module, "BoostedTreesOptions")
      .field("loss", &Options::loss)
      .field("gamma", &Options::gamma)
      .field("prior", &Options::prior)
      .field("n_rounds", &Options::n_rounds)
      .field("learning_rate", &Options::learning_rate)
      .field("max_leaves", &Options::max_leaves)
      .field("max_depth", &Options::max_depth)
      .field("min_leaf_rows", &Options::min_leaf_rows)
      .field("min_leaf_hessian", &Options::min_leaf_hessian)
      .field("lam", &Options::lam)
      .field("subsample_unl", &Options::subsample_unl)
      .field("max_features", &Options::max_features)
      .field("n_bags", &Options::n_bags)
      .field("bag_unl", &Options::bag_unl)
      .field("replace_unl", &Options::replace_unl)
      .field("seed", &Options::seed)
      .field("early_stopping_rounds", &Options::early_stopping_rounds);
  using Result = BoostedTreesResult;
  auto result = bind_tree_result<Result>(module, "BoostedTreesResult");
  add_array(result, "tree_risk", &Result::tree_risk);
  add_array(result, "risk", &Result::risk);
  add_array(result, "eval_auc", &Result::eval_auc);
  result.def_readonly("n_bags", &Result::n_bags)
      .def_readonly("best_round", &Result::best_round)
      .def_property_readonly("status", [](const Result& made) { return kTreesStatus[static_cast<int>(made.status)]; });
  module.def("boost_trees", &fit_trees, py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("init"), py::arg("init_oob_sum"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"), py::arg("rows"));
}

}  // namespace fastpu
