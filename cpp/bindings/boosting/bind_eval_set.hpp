// How an evaluation set comes from Python.
#pragma once

#include "common/arguments.hpp"
#include "data/bind_binned_features.hpp"
#include "fastpu/boosting/boost_inputs.hpp"

namespace fastpu {

inline EvalFeatures eval_features(const py::object& features) {
  if (const BinnedFeatures* binned = binned_features(features)) return binned;
  return std::visit([](const auto& x) { return EvalFeatures(x); }, view_matrix(features));
}

inline BoostEvalSet view_eval_set(const py::object& matrix, const py::object& labels, const py::object& weight) {
  BoostEvalSet eval{eval_features(matrix), nullptr, nullptr};
  const index_t n_eval = std::visit(
      [](const auto& x) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(x)>>) {
          return x->n_rows;
        } else {
          return x.n_rows;
        }
      },
      eval.features);
  eval.labels = view_1d<std::int8_t>(labels, "eval labels", n_eval);
  eval.sample_weight = view_or_null<double>(weight, "eval weight", n_eval);
  return eval;
}

}  // namespace fastpu
