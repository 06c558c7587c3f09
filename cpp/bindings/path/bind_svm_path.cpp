#include <pybind11/pybind11.h>

#include <memory>
#include <variant>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/svm_path.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

FASTPU_WORDS(PathStatus, "zero", "trivial", "lam_min", "max_events", "precision", "stalled", "indefinite", "callback")
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

py::dict path(const py::object& data, const py::object& rows, const py::object& labels, const py::object& costs,
              const KernelParams* kernel, const py::object& function, double lam_min, index_t max_events,
              index_t cache_bytes, int n_threads, const py::object& callback) {
  SvmPathProblem problem;
  const RowsView view = view_matrix(data);
  Team team = team_of_call(n_threads);
  const auto values = kernel_of(view, kernel, function, team);
  problem.rows = view_rows(rows, "rows", values->n_rows(), problem.n);
  problem.labels = view_1d<std::int8_t>(labels, "labels", problem.n);
  problem.costs = view_1d<double>(costs, "costs", problem.n);
  SvmPathOptions options;
  options.lam_min = lam_min;
  options.max_events = max_events;
  const bool is_linear = kernel != nullptr && kernel->kind == KernelKind::linear;
  if (is_linear) options.linear = std::get_if<DenseView<double>>(&view);
  const PathCallback on_round = callback_of<PathRound>(callback);
  return to_dict(unlocked([&] {
    KernelCache<double> cache(*values, cache_bytes);
    return svm_path(cache, problem, options, on_round, team);
  }));
}

}  // namespace

void bind_svm_path(py::module_& module) {
  module.def("svm_path", &path, py::arg("data"), py::arg("rows"), py::arg("labels"), py::arg("costs"), py::kw_only(),
             py::arg("kernel"), py::arg("function"), py::arg("lam_min"), py::arg("max_events"), py::arg("cache_bytes"),
             py::arg("n_threads"), py::arg("callback"));
}

}  // namespace fastpu
