#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>

#include "common/arguments.hpp"
#include "fastpu/data/fingerprint.hpp"

namespace fastpu {

namespace {

py::array_t<std::uint64_t> fingerprint_of(const BinnedFeatures& features, const py::object& labels,
                                          const py::object& weights, index_t first_row, int n_threads) {
  const auto* of_rows = view_1d<std::int8_t>(labels, "labels", features.n_rows);
  const auto* mass = view_or_null<double>(weights, "weights", features.n_rows);
  Team team = team_of_call(n_threads);
  return to_array(unlocked([&] { return fingerprint(features, of_rows, mass, first_row, team); }));
}

py::array_t<std::uint64_t> hashes_of(const BinnedFeatures& features, const py::object& rows, int n_threads) {
  const auto n = static_cast<index_t>(py::len(rows));
  const auto* positions = view_1d<index_t>(rows, "rows", n);
  if (std::any_of(positions, positions + n, [&](index_t row) { return row < 0 || row >= features.n_rows; })) {
    throw py::index_error("rows must be from 0 to " + std::to_string(features.n_rows - 1));
  }
  Team team = team_of_call(n_threads);
  return to_array(unlocked([&] { return row_hashes(features, positions, n, team); }));
}

}  // namespace

void bind_fingerprint(py::module_& module) {
  module.def("fingerprint", &fingerprint_of, py::arg("features"), py::arg("labels"), py::arg("weights"), py::kw_only(),
             py::arg("first_row"), py::arg("n_threads"));
  module.def("row_hashes", &hashes_of, py::arg("features"), py::arg("rows"), py::kw_only(), py::arg("n_threads"));
}

}  // namespace fastpu
