#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu {

namespace {

using Shared = std::shared_ptr<BinnedFeatures>;

// The cuts in the arrays cut_starts, cut_values and bin_values, whose entries are not checked here.
std::shared_ptr<const Cuts> read_cuts(const py::handle& start, const py::handle& value, const py::handle& bin_value) {
  auto cuts = std::make_shared<Cuts>();
  cuts->start = vector_of<index_t>(start, "start");
  cuts->value = vector_of<double>(value, "value");
  cuts->bin_value = vector_of<double>(bin_value, "bin_value");
  return cuts;
}

Shared bin(const py::object& matrix, index_t max_bins, const py::object& sample_weight, int n_threads,
           const py::object& categorical, const py::object& cuts) {
  const RowsView view = view_matrix(matrix);
  BinOptions options;
  options.max_bins = max_bins;
  options.sample_weight = view_or_null<double>(sample_weight, "sample_weight", n_rows(view));
  options.categorical = view_or_null<std::uint8_t>(categorical, "categorical", n_columns(view));
  if (!cuts.is_none()) {
    const auto arrays = cuts.cast<py::tuple>();
    options.cuts = read_cuts(arrays[0], arrays[1], arrays[2]);
  }
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return std::visit([&](const auto& x) { return std::make_shared<BinnedFeatures>(bin_features(x, options, team)); },
                    view);
}

Shared take(const BinnedFeatures& all, const py::object& rows, int n_threads) {
  const auto n = static_cast<index_t>(py::len(rows));
  const auto* positions = view_1d<index_t>(rows, "rows", n);
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return std::make_shared<BinnedFeatures>(take_rows(all, positions, n, team));
}

Shared stack(const std::vector<const BinnedFeatures*>& parts, int n_threads) {
  if (std::ranges::find(parts, nullptr) != parts.end()) throw py::type_error("parts must be binned features, got None");
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return std::make_shared<BinnedFeatures>(stack_rows(parts, team));
}

// The state has the codes by row only, since those by column follow from them.
py::tuple get_state(const BinnedFeatures& b) {
  return py::make_tuple(b.n_rows, b.n_features, static_cast<int>(b.width), to_array(b.cuts->start),
                        to_array(b.cuts->value), to_array(b.cuts->bin_value), b.row_stride, b.column_stride,
                        to_array(b.by_row), to_array(b.row_start), to_array(b.row_bins), to_array(b.zero_code));
}

// The members as they stand in the state, whose values are not checked here.
Shared read_state(const py::tuple& state) {
  auto b = std::make_shared<BinnedFeatures>();
  b->n_rows = state[0].cast<index_t>();
  b->n_features = state[1].cast<index_t>();
  b->width = static_cast<CodeWidth>(state[2].cast<std::uint8_t>());
  b->cuts = read_cuts(state[3], state[4], state[5]);
  b->row_stride = state[6].cast<index_t>();
  b->column_stride = state[7].cast<index_t>();
  const auto* codes = view_1d<std::uint8_t>(state[8], "codes");
  b->by_row = AlignedBuffer<std::uint8_t>(static_cast<index_t>(py::len(state[8])), "the codes by row");
  if (!b->by_row.empty()) std::memcpy(b->by_row.data(), codes, b->by_row.bytes());
  b->row_start = vector_of<index_t>(state[9], "row_start");
  b->row_bins = vector_of<std::uint32_t>(state[10], "row_bins");
  b->zero_code = vector_of<std::uint32_t>(state[11], "zero_code");
  return b;
}

Shared set_state(const py::tuple& state) {
  constexpr const char* kForeign = "not the state of binned features";
  if (state.size() != 12) throw py::value_error(kForeign);
  Shared b;
  try {
    b = read_state(state);
  } catch (const py::cast_error&) {  // not a number, or one that is too large
    throw py::value_error(kForeign);
  } catch (const py::type_error& error) {  // an array of another dtype
    throw py::value_error(std::string(kForeign) + ": " + error.what());
  }
  Team team = team_of_call(1);
  const py::gil_scoped_release nogil;
  check_binned(*b, team);
  b->fill_columns(team);
  return b;
}

// Codes of one feature, dense whatever the form.
py::array_t<std::uint32_t> column(const BinnedFeatures& b, index_t feature) {
  if (feature < 0 || feature >= b.n_features) throw py::index_error("feature " + std::to_string(feature));
  py::array_t<std::uint32_t> out(b.n_rows);
  std::uint32_t* to = out.mutable_data();
  if (b.is_sparse()) {
    std::fill(to, to + b.n_rows, b.zero_code[at(feature)]);
    for (index_t p = b.column_start[at(feature)]; p < b.column_start[at(feature) + 1]; ++p) {
      to[b.column_rows[at(p)]] = b.column_codes[at(p)];
    }
  } else {
    with_code_type(b.width, [&]<class Code>(Code) {
      std::copy_n(reinterpret_cast<const Code*>(b.by_column.data()) + feature * b.column_stride, b.n_rows, to);
    });
  }
  return out;
}

}  // namespace

void bind_binned_features(py::module_& module) {
  module.attr("MOST_CUTS") = kMaxDenseCuts;
  module.attr("MOST_CATEGORIES_IN_SETS") = kMostCategories;
  py::class_<BinnedFeatures, Shared>(module, "BinnedFeatures")
      .def_readonly("n_rows", &BinnedFeatures::n_rows)
      .def_readonly("n_features", &BinnedFeatures::n_features)
      .def_property_readonly("is_sparse", &BinnedFeatures::is_sparse)
      .def_property_readonly("n_bytes", &BinnedFeatures::n_bytes)
      .def_property_readonly("cut_starts", [](const BinnedFeatures& b) { return to_array(b.cuts->start); })
      .def_property_readonly("cut_values", [](const BinnedFeatures& b) { return to_array(b.cuts->value); })
      .def_property_readonly("bin_values", [](const BinnedFeatures& b) { return to_array(b.cuts->bin_value); })
      .def("column", &column, py::arg("feature"))
      .def("take", &take, py::arg("rows"), py::arg("n_threads"))
      .def("same_cuts", &same_cuts, py::arg("other"))
      .def(py::pickle(&get_state, &set_state));
  module.def("bin_features", &bin, py::arg("matrix"), py::arg("max_bins"), py::arg("sample_weight"),
             py::arg("n_threads"), py::arg("categorical") = py::none(), py::arg("cuts") = py::none());
  module.def("stack_binned", &stack, py::arg("parts"), py::arg("n_threads"));
}

}  // namespace fastpu
