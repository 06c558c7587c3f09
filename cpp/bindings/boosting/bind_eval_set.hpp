// How an evaluation set comes from Python.
#pragma once

#include <optional>

#include "common/arguments.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/boost_inputs.hpp"

namespace fastpu {

inline EvalFeatures eval_features(const py::object& features) {
  if (const BinnedFeatures* binned = binned_features(features)) return binned;
  return std::visit([](const auto& x) { return EvalFeatures(x); }, view_matrix(features));
}

// The features, labels and weights (or None) of a set; or None for no set.
inline std::optional<BoostEvalSet> view_eval_set(const py::object& rows) {
  if (rows.is_none()) return std::nullopt;
  const auto parts = rows.cast<py::tuple>();
  BoostEvalSet eval{eval_features(parts[0]), nullptr, nullptr};
  const index_t n_eval = visit_features(eval.features, [](const auto& x) { return x.n_rows; });
  eval.labels = view_1d<std::int8_t>(parts[1], "eval labels", n_eval);
  eval.sample_weight = view_or_null<double>(parts[2], "eval weight", n_eval);
  return eval;
}

}  // namespace fastpu
