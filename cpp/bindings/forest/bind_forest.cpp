#include <pybind11/pybind11.h>

#include <string>

#include "common/arguments.hpp"
#include "fastpu/forest/forest.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

ForestCriterion forest_criterion(const std::string& name) {
  if (name == "gini") return ForestCriterion::gini;
  if (name == "nnpu") return ForestCriterion::nnpu;
  if (name == "upu") return ForestCriterion::upu;
  throw py::value_error("criterion has no value '" + name + "'");
}

ForestCallback make_tree_callback(const py::object& callback) {
  if (callback.is_none()) return {};
  return [&callback](const ForestTree& tree) {
    const py::gil_scoped_acquire gil;
    return callback(tree.tree, tree.n_leaves, tree.depth).template cast<bool>();
  };
}

ForestResult grow_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                        const py::object& categorical, const std::string& criterion, double prior,
                        const std::string& splitter, index_t n_trees, index_t first_tree, index_t first_set,
                        std::uint64_t seed, index_t bag_unl, bool replace_unl, index_t max_features,
                        index_t min_leaf_rows, index_t max_depth, index_t max_leaves, const py::object& oob_sum,
                        const py::object& oob_count, const py::object& callback, int n_threads,
                        const std::string& isa) {
  ForestOptions options;
  options.criterion = forest_criterion(criterion);
  options.prior = prior;
  if (splitter != "random" && splitter != "best") throw py::value_error("splitter has no value '" + splitter + "'");
  options.random_cuts = splitter == "random";
  options.n_trees = n_trees;
  options.first_tree = first_tree;
  options.first_set = first_set;
  options.seed = seed;
  options.bag_unl = bag_unl;
  options.replace_unl = replace_unl;
  options.max_features = max_features;
  options.min_leaf_rows = min_leaf_rows;
  options.max_depth = max_depth;
  options.max_leaves = max_leaves;
  options.isa = isa_from_name(isa);
  if (!oob_sum.is_none()) options.oob_sum = view_1d<double>(oob_sum, "oob_sum", features.n_rows);
  if (!oob_count.is_none()) options.oob_count = view_1d<std::int32_t>(oob_count, "oob_count", features.n_rows);
  ForestTrainingSet train;
  train.features = &features;
  train.labels = view_1d<std::int8_t>(labels, "labels", features.n_rows);
  if (!sample_weight.is_none()) train.sample_weight = view_1d<double>(sample_weight, "sample_weight", features.n_rows);
  if (!categorical.is_none()) {
    train.categorical = view_1d<std::uint8_t>(categorical, "categorical", features.n_features);
  }
  const ForestCallback on_tree = make_tree_callback(callback);
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  return grow_forest(train, options, on_tree, team);
}

// The nodes without a copy: a read-only array that keeps the result alive.
py::array_t<TreeNode> view_nodes(const py::object& result) {
  const auto& nodes = result.cast<const ForestResult&>().nodes;
  py::array_t<TreeNode> view(static_cast<py::ssize_t>(nodes.size()), nodes.data(), result);
  view.attr("setflags")(false);
  return view;
}

}  // namespace

void bind_forest(py::module_& module) {
  using Result = ForestResult;
  py::class_<Result>(module, "ForestResult")
      .def_property_readonly("nodes", &view_nodes)
      .def_property_readonly("tree_start", [](const Result& result) { return to_array(result.tree_start); })
      .def_property_readonly("category_sets", [](const Result& result) { return sets_to_array(result.sets); })
      .def_property_readonly("oob_sum", [](const Result& result) { return to_array(result.oob_sum); })
      .def_property_readonly("oob_count", [](const Result& result) { return to_array(result.oob_count); })
      .def_property_readonly("status", [](const Result& result) { return result.stopped ? "callback" : "n_trees"; });
  module.def("grow_forest", &grow_trees, py::arg("features"), py::arg("labels"), py::arg("sample_weight").none(true),
             py::kw_only(), py::arg("categorical").none(true), py::arg("criterion"), py::arg("prior"),
             py::arg("splitter"), py::arg("n_trees"), py::arg("first_tree"), py::arg("first_set"), py::arg("seed"),
             py::arg("bag_unl"), py::arg("replace_unl"), py::arg("max_features"), py::arg("min_leaf_rows"),
             py::arg("max_depth"), py::arg("max_leaves"), py::arg("oob_sum").none(true),
             py::arg("oob_count").none(true), py::arg("callback").none(true), py::arg("n_threads"),
             py::arg("isa") = "");
}

}  // namespace fastpu
