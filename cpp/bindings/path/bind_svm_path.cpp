#include <pybind11/pybind11.h>

#include <memory>
#include <variant>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/path/svm_path.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

FASTPU_WORDS(PathStatus, "zero", "trivial", "lam_min", "max_events", "precision", "stalled", "indefinite", "callback")
FASTPU_FIELDS(SvmPathOptions, lam_min, max_events, cache_bytes)
FASTPU_FIELDS(PathRound, n_breakpoints, n_events, lam, n_margin, objective)
FASTPU_FIELDS(SvmPathResult, status, heavier, start_alpha, knots, offsets, weights, objective, norm, n_margin,
              change_start, change_row, change_alpha, event_knot, event_kind, event_row, violation)

namespace {

// The kernel in double; data of other types are converted in Python.
std::unique_ptr<Kernel<double>> kernel_of(const RowsView& data, const KernelParams* kernel, const py::object& function,
                                          const Team& team) {
  if (!function.is_none()) return make_function_kernel(n_rows(data), kernel_function(function));
  if (kernel == nullptr) return make_precomputed_kernel(std::get<DenseView<double>>(data));
  if (const auto* dense = std::get_if<DenseView<double>>(&data)) return make_kernel(*dense, *kernel, team);
  return make_kernel(std::get<CsrView<double>>(data), *kernel, team);
}

LinearRows linear_rows(const RowsView& data) {
  if (const auto* dense = std::get_if<DenseView<double>>(&data)) return *dense;
  return std::get<CsrView<double>>(data);
}

Fields<SvmPathResult> path(const py::object& data, const py::object& rows, const py::object& labels,
                           const py::object& costs, const SvmPathOptions& options, const KernelParams* kernel,
                           const py::object& function, int n_threads, const py::object& callback) {
  SvmPathProblem problem;
  const RowsView view = view_matrix(data);
  problem.rows = view_rows(rows, "rows", n_rows(view), problem.n);
  problem.labels = view_1d<std::int8_t>(labels, "labels", problem.n);
  problem.costs = view_1d<double>(costs, "costs", problem.n);
  Team team = team_of_call(n_threads);
  const PathCallback on_round = callback_of<PathRound>(callback);
  if (kernel != nullptr && kernel->kind == KernelKind::linear) {
    return {unlocked([&] { return linear_svm_path(linear_rows(view), problem, options, on_round, team); })};
  }
  const auto values = kernel_of(view, kernel, function, team);
  return {unlocked([&] { return svm_path(*values, problem, options, on_round, team); })};
}

}  // namespace

void bind_svm_path(py::module_& module) {
  module.attr("LEAST_PATH_COST") = kLeastPathCost;
  module.attr("MOST_PATH_COST") = kMostPathCost;
  bind_options<SvmPathOptions>(module, "SvmPathOptions");
  bind_result<SvmPathResult>(module, "SvmPathResult");
  module.def("svm_path", &path, py::arg("data"), py::arg("rows"), py::arg("labels"), py::arg("costs"),
             py::arg("options"), py::kw_only(), py::arg("kernel"), py::arg("function"), py::arg("n_threads"),
             py::arg("callback"));
}

}  // namespace fastpu
