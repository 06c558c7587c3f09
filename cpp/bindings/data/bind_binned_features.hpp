#pragma once

#include <variant>

#include "common/arguments.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

// What a fastpu.models.BinnedFeatures of Python, or the object of the core in it, holds; null for anything else. The
// caller keeps the object alive.
inline const BinnedFeatures* binned_features(const py::handle& features) {
  const py::object native = py::getattr(features, "_native", features);
  return py::isinstance<BinnedFeatures>(native) ? &native.cast<const BinnedFeatures&>() : nullptr;
}

// The scores of rows, binned or not, which score(rows, scores, team) writes.
template <class Score>
py::array_t<double> scores_of(const py::object& features, int n_threads, Score&& score) {
  Team team = team_of_call(n_threads);
  const auto write = [&](const auto& rows) {
    py::array_t<double> out(rows.n_rows);
    double* const to = out.mutable_data();
    unlocked([&] { score(rows, to, team); });
    return out;
  };
  if (const BinnedFeatures* binned = binned_features(features)) return write(*binned);
  return std::visit(write, view_matrix(features));
}

}  // namespace fastpu
