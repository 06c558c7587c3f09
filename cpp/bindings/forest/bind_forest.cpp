#include <pybind11/pybind11.h>

#include <string>

#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
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

// The options that say how trees are grown; the others are left at their defaults.
ForestOptions growth_options(const std::string& criterion, double prior, const std::string& splitter,
                             index_t max_features, index_t min_leaf_rows, index_t max_depth, index_t max_leaves) {
  ForestOptions options;
  options.criterion = forest_criterion(criterion);
  options.prior = prior;
  if (splitter != "random" && splitter != "best") throw py::value_error("splitter has no value '" + splitter + "'");
  options.random_cuts = splitter == "random";
  options.max_features = max_features;
  options.min_leaf_rows = min_leaf_rows;
  options.max_depth = max_depth;
  options.max_leaves = max_leaves;
  options.isa = isa_of_call();
  return options;
}

ForestResult grow_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                        const py::object& categorical, const std::string& criterion, double prior,
                        const std::string& splitter, index_t n_trees, index_t first_tree, index_t first_set,
                        std::uint64_t seed, index_t bag_unl, bool replace_unl, index_t max_features,
                        index_t min_leaf_rows, index_t max_depth, index_t max_leaves, const py::object& oob_sum,
                        const py::object& oob_count, const py::object& callback, int n_threads) {
  ForestOptions options =
      growth_options(criterion, prior, splitter, max_features, min_leaf_rows, max_depth, max_leaves);
  options.n_trees = n_trees;
  options.first_tree = first_tree;
  options.first_set = first_set;
  options.seed = seed;
  options.bag_unl = bag_unl;
  options.replace_unl = replace_unl;
  options.oob_sum = view_or_null<double>(oob_sum, "oob_sum", features.n_rows);
  options.oob_count = view_or_null<std::int32_t>(oob_count, "oob_count", features.n_rows);
  ForestTrainingSet train;
  train.features = &features;
  train.labels = view_1d<std::int8_t>(labels, "labels", features.n_rows);
  train.sample_weight = view_or_null<double>(sample_weight, "sample_weight", features.n_rows);
  train.categorical = view_or_null<std::uint8_t>(categorical, "categorical", features.n_features);
  const ForestCallback on_tree = make_tree_callback(callback);
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  return grow_forest(train, options, on_tree, team);
}

py::array_t<std::uint32_t> draw_forest_bags(index_t n_pos, index_t n_unl, const py::object& weight_pos,
                                            const py::object& weight_unl, std::uint64_t seed, index_t first_tree,
                                            index_t n_trees, index_t bag_unl, bool replace_unl, int n_threads) {
  const BagGroups groups{n_pos, n_unl, view_or_null<double>(weight_pos, "weight_pos", n_pos),
                         view_or_null<double>(weight_unl, "weight_unl", n_unl)};
  ForestOptions options;
  options.seed = seed;
  options.first_tree = first_tree;
  options.n_trees = n_trees;
  options.bag_unl = bag_unl;
  options.replace_unl = replace_unl;
  Team team(n_threads, interrupt_poll());
  const ForestBags bags = unlocked([&] { return draw_bags(groups, options, team); });
  return to_array(bags.rows).reshape({n_trees, bags.n_pos + bags.n_unl});
}

ForestResult grow_drawn(const BinnedFeatures& features, const Array<std::uint32_t>& bags, index_t n_pos,
                        const py::object& categorical, const std::string& criterion, double prior,
                        const std::string& splitter, index_t first_tree, std::uint64_t seed, index_t max_features,
                        index_t min_leaf_rows, index_t max_depth, index_t max_leaves, int n_threads) {
  ForestOptions options =
      growth_options(criterion, prior, splitter, max_features, min_leaf_rows, max_depth, max_leaves);
  if (bags.ndim() != 2) throw py::value_error("bags must be a 2-D array");
  options.n_trees = bags.shape(0);
  options.first_tree = first_tree;
  options.seed = seed;
  ForestBags drawn;
  drawn.n_pos = n_pos;
  drawn.n_unl = bags.shape(1) - n_pos;
  drawn.rows.assign(bags.data(), bags.data() + bags.size());
  const auto* flags = view_or_null<std::uint8_t>(categorical, "categorical", features.n_features);
  Team team(n_threads, interrupt_poll());
  const py::gil_scoped_release nogil;
  return grow_on_bags(features, flags, drawn, options, team);
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
             py::arg("oob_count").none(true), py::arg("callback").none(true), py::arg("n_threads"));
  module.def("draw_forest_bags", &draw_forest_bags, py::kw_only(), py::arg("n_pos"), py::arg("n_unl"),
             py::arg("weight_pos").none(true), py::arg("weight_unl").none(true), py::arg("seed"), py::arg("first_tree"),
             py::arg("n_trees"), py::arg("bag_unl"), py::arg("replace_unl"), py::arg("n_threads"));
  module.def("grow_on_bags", &grow_drawn, py::arg("features"), py::arg("bags").noconvert(), py::kw_only(),
             py::arg("n_pos"), py::arg("categorical").none(true), py::arg("criterion"), py::arg("prior"),
             py::arg("splitter"), py::arg("first_tree"), py::arg("seed"), py::arg("max_features"),
             py::arg("min_leaf_rows"), py::arg("max_depth"), py::arg("max_leaves"), py::arg("n_threads"));
}

}  // namespace fastpu
