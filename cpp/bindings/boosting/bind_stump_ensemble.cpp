#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/stump_ensemble.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

py::array_t<double> score_stumps(const py::object& features, const py::object& stump_features,
                                 const py::object& thresholds, const py::object& polarity, const py::object& alphas,
                                 index_t n_features, double low, const py::object& categorical,
                                 const py::object& category_sets, const py::object& missing_above, int n_threads) {
  StumpEnsembleView ensemble;
  ensemble.n_stumps = static_cast<index_t>(py::len(stump_features));
  ensemble.n_features = n_features;
  ensemble.low = low;
  ensemble.features = view_1d<std::int32_t>(stump_features, "features", ensemble.n_stumps);
  ensemble.thresholds = view_1d<double>(thresholds, "thresholds", ensemble.n_stumps);
  ensemble.polarity = view_1d<std::int8_t>(polarity, "polarity", ensemble.n_stumps);
  ensemble.alphas = view_1d<double>(alphas, "alphas", ensemble.n_stumps);
  if (!categorical.is_none()) {
    ensemble.categorical = view_1d<std::uint8_t>(categorical, "categorical", n_features);
    ensemble.n_sets = view_sets(category_sets, ensemble.sets);
  }
  if (!missing_above.is_none()) {
    ensemble.missing_above = view_1d<std::int8_t>(missing_above, "missing_above", ensemble.n_stumps);
  }
  return scores_of(features, n_threads,
                   [&](const auto& x, double* to, Team& team) { stump_scores(ensemble, x, to, team); });
}

}  // namespace

void bind_stump_ensemble(py::module_& module) {
  module.def("stump_scores", &score_stumps, py::arg("matrix"), py::arg("features"), py::arg("thresholds"),
             py::arg("polarity"), py::arg("alphas"), py::kw_only(), py::arg("n_features"), py::arg("low"),
             py::arg("categorical") = py::none(), py::arg("category_sets") = py::none(),
             py::arg("missing_above") = py::none(), py::arg("n_threads"));
}

}  // namespace fastpu
