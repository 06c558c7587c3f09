#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/forest/forest.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

FASTPU_WORDS(ForestLoss, "gini", "nnpu", "upu")
FASTPU_WORDS(ForestStatus, "n_trees", "callback")
FASTPU_FIELDS(ForestOptions, loss, prior, random_cuts, n_trees, first_tree, first_set, seed, repeats_pos, bag_unl,
              replace_unl, max_features, min_leaf_rows, max_depth, max_leaves)
FASTPU_FIELDS(ForestTree, tree, n_leaves, depth)
FASTPU_FIELDS(ForestResult, tree_start, oob_sum, oob_count, status)

namespace {

using BoundResult = Fields<ForestResult>;

BoundResult grow_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                       const py::object& categorical, ForestOptions options, const py::object& clusters,
                       const py::object& oob_sum, const py::object& oob_count, const py::object& callback,
                       int n_threads) {
  options.oob_sum = view_or_null<double>(oob_sum, "oob_sum", features.n_rows);
  options.oob_count = view_or_null<std::int32_t>(oob_count, "oob_count", features.n_rows);
  const auto train = view_training_set<ForestTrainingSet>(features, labels, sample_weight, categorical, clusters);
  const ForestCallback on_tree = callback_of<ForestTree>(callback);
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return {grow_forest(train, options, on_tree, team)};
}

py::tuple draw_forest_bags(index_t n_pos, index_t n_unl, const py::object& sample_weight, const py::object& clusters,
                           index_t n_clusters, const ForestOptions& options, int n_threads) {
  const BagGroups groups{n_pos, n_unl, view_or_null<double>(sample_weight, "sample_weight", n_pos + n_unl),
                         view_or_null<std::int32_t>(clusters, "clusters", n_pos + n_unl), n_clusters};
  Team team = team_of_call(n_threads);
  const ForestBags bags = unlocked([&] { return draw_bags(groups, options, team); });
  return py::make_tuple(to_array(bags.rows), to_array(bags.start));
}

BoundResult grow_drawn(const BinnedFeatures& features, const py::object& rows, const py::object& start, index_t n_pos,
                       const py::object& categorical, ForestOptions options, int n_threads) {
  ForestBags drawn;
  drawn.n_pos = n_pos;
  drawn.start = vector_of<index_t>(start, "start");
  drawn.rows = vector_of<std::uint32_t>(rows, "rows");
  options.n_trees = std::ssize(drawn.start) - 1;
  const auto* flags = view_or_null<std::uint8_t>(categorical, "categorical", features.n_features);
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return {grow_on_bags(features, flags, drawn, options, team)};
}

}  // namespace

void bind_forest(py::module_& module) {
  bind_options<ForestOptions>(module, "ForestOptions");
  bind_tree_result<ForestResult>(module, "ForestResult");
  module.def("grow_forest", &grow_trees, py::arg("features"), py::arg("labels").none(false), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("clusters"), py::arg("oob_sum"),
             py::arg("oob_count"), py::arg("callback"), py::arg("n_threads"));
  module.def("draw_forest_bags", &draw_forest_bags, py::kw_only(), py::arg("n_pos"), py::arg("n_unl"),
             py::arg("sample_weight"), py::arg("clusters"), py::arg("n_clusters"), py::arg("options"),
             py::arg("n_threads"));
  module.def("grow_on_bags", &grow_drawn, py::arg("features"), py::arg("rows"), py::arg("start"), py::kw_only(),
             py::arg("n_pos"), py::arg("categorical"), py::arg("options"), py::arg("n_threads"));
}

}  // namespace fastpu
