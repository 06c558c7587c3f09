#include <pybind11/functional.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>

#include "boosting/bind_boosted_rows.hpp"
#include "boosting/bind_eval_set.hpp"
#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
#include "fastpu/boosting/boosted_trees.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

const char* status_name(BoostedTreesStatus status) {
  switch (status) {
    case BoostedTreesStatus::n_rounds:
      return "n_rounds";
    case BoostedTreesStatus::no_gain:
      return "no_gain";
    case BoostedTreesStatus::early_stopping:
      return "early_stopping";
    case BoostedTreesStatus::callback:
      return "callback";
  }
  return "";
}

BoostedTreesCallback make_round_callback(const py::object& callback) {
  if (callback.is_none()) return {};
  return [&callback](const BoostedTreesRound& r) {
    const py::gil_scoped_acquire gil;
    return callback(r.bag, r.round, r.n_leaves, r.depth, r.risk, r.eval_auc).template cast<bool>();
  };
}

BoostedTreesResult fit_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                             const py::object& categorical, const std::string& loss, double gamma, double prior,
                             index_t n_rounds, double learning_rate, index_t max_leaves, index_t max_depth,
                             double min_leaf_rows, double min_leaf_hessian, double l2, double subsample_unl,
                             double colsample, index_t n_bags, index_t bag_unl, std::uint64_t seed,
                             index_t early_stopping_rounds, const py::object& init_nodes, const py::object& init_starts,
                             const py::object& init_sets, const py::object& init_oob_sum, const py::object& eval_matrix,
                             const py::object& eval_labels, const py::object& eval_weight, const py::object& callback,
                             int n_threads, const py::object& rows) {
  BoostedTreesOptions options;
  options.loss = {loss, gamma, prior, isa_of_call()};
  options.n_rounds = n_rounds;
  options.learning_rate = learning_rate;
  options.max_leaves = max_leaves;
  options.max_depth = max_depth;
  options.min_leaf_rows = min_leaf_rows;
  options.min_leaf_hessian = min_leaf_hessian;
  options.l2 = l2;
  options.subsample_unl = subsample_unl;
  options.colsample = colsample;
  options.n_bags = n_bags;
  options.bag_unl = bag_unl;
  options.seed = seed;
  options.early_stopping_rounds = early_stopping_rounds;
  if (!init_nodes.is_none()) options.init = view_trees(init_nodes, init_starts, init_sets, features.n_features);
  options.init_oob_sum = view_or_null<double>(init_oob_sum, "init_oob_sum", features.n_rows);
  BoostedTreesTrainingSet train;
  train.features = &features;
  if (rows.is_none()) train.labels = view_1d<std::int8_t>(labels, "labels", features.n_rows);
  train.sample_weight = view_or_null<double>(sample_weight, "sample_weight", features.n_rows);
  train.categorical = view_or_null<std::uint8_t>(categorical, "categorical", features.n_features);
  std::optional<BoostEvalSet> eval;
  if (!eval_matrix.is_none()) eval = view_eval_set(eval_matrix, eval_labels, eval_weight);
  const BoostedTreesCallback on_round = make_round_callback(callback);
  Team team(n_threads, interrupt_poll());
  const std::unique_ptr<BoostedRows> elsewhere =
      rows.is_none() ? nullptr : rows_of_python(rows, features, options.loss);
  const py::gil_scoped_release nogil;
  if (elsewhere != nullptr) {
    return boost_trees(features, train.categorical, *elsewhere, eval ? &*eval : nullptr, options, on_round, team);
  }
  return boost_trees(train, eval ? &*eval : nullptr, options, on_round, team);
}

template <auto kMember>
auto array_of_trees(const BoostedTreesResult& result) {
  return to_array(result.*kMember);
}

}  // namespace

void bind_boosted_trees(py::module_& module) {
  using Result = BoostedTreesResult;
  py::class_<Result>(module, "BoostedTreesResult")
      .def_property_readonly("nodes", &array_of_trees<&Result::nodes>)
      .def_property_readonly("tree_start", &array_of_trees<&Result::tree_start>)
      .def_property_readonly("category_sets", [](const Result& result) { return sets_to_array(result.sets); })
      .def_property_readonly("tree_risk", &array_of_trees<&Result::tree_risk>)
      .def_property_readonly("risk", &array_of_trees<&Result::risk>)
      .def_property_readonly("eval_auc", &array_of_trees<&Result::eval_auc>)
      .def_property_readonly("oob_sum", &array_of_trees<&Result::oob_sum>)
      .def_property_readonly("oob_count", &array_of_trees<&Result::oob_count>)
      .def_readonly("n_bags", &Result::n_bags)
      .def_readonly("best_round", &Result::best_round)
      .def_property_readonly("status", [](const Result& result) { return status_name(result.status); });
  module.def("boost_trees", &fit_trees, py::arg("features"), py::arg("labels").none(true),
             py::arg("sample_weight").none(true), py::kw_only(), py::arg("categorical").none(true), py::arg("loss"),
             py::arg("gamma"), py::arg("prior"), py::arg("n_rounds"), py::arg("learning_rate"), py::arg("max_leaves"),
             py::arg("max_depth"), py::arg("min_leaf_rows"), py::arg("min_leaf_hessian"), py::arg("l2"),
             py::arg("subsample_unl"), py::arg("colsample"), py::arg("n_bags"), py::arg("bag_unl"), py::arg("seed"),
             py::arg("early_stopping_rounds"), py::arg("init_nodes").none(true), py::arg("init_starts").none(true),
             py::arg("init_sets").none(true), py::arg("init_oob_sum").none(true), py::arg("eval_features").none(true),
             py::arg("eval_labels").none(true), py::arg("eval_weight").none(true), py::arg("callback").none(true),
             py::arg("n_threads"), py::arg("rows").none(true) = py::none());
}

}  // namespace fastpu
