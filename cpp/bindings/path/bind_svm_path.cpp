#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "fastpu/path/svm_path.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

namespace {

constexpr const char* kPathStatus[] = {"zero",      "trivial", "lam_min",    "max_events",
                                       "precision", "stalled", "indefinite", "callback"};  // as in PathStatus

// Makes the kernel in double; data of other types are converted in Python.
std::unique_ptr<Kernel<double>> make_path_kernel(const MatrixView& view, const std::string& kernel, double gamma,
                                                 int degree, double coef0, const py::object& function,
                                                 const Team& team) {
  if (kernel == "function") {
    return make_function_kernel(std::visit([](const auto& x) { return x.n_rows; }, view), kernel_function(function));
  }
  return std::visit(
      [&]<class View>(const View& x) -> std::unique_ptr<Kernel<double>> {
        if constexpr (!std::is_same_v<typename View::Value, double>) {
          throw py::type_error("the rows of a path must be float64");
        } else {
          if (kernel != "precomputed") {
            return make_kernel(x, kernel_params(kernel, gamma, degree, coef0), team);
          }
          if constexpr (std::is_same_v<View, DenseView<double>>) {
            if (x.n_rows != x.n_cols) throw py::value_error("a precomputed kernel must be square");
            return make_precomputed_kernel(x);
          } else {
            throw py::type_error("a precomputed kernel must be dense");
          }
        }
      },
      view);
}

py::dict to_dict(const SvmPathResult& result) {
  std::vector<std::uint8_t> kinds;
  kinds.reserve(result.event_kind.size());
  for (const PathEvent kind : result.event_kind) kinds.push_back(static_cast<std::uint8_t>(kind));
  py::dict out;
  out["status"] = kPathStatus[static_cast<std::size_t>(result.status)];
  out["heavier"] = result.heavier;
  out["start_alpha"] = to_array(result.start_alpha);
  out["knots"] = to_array(result.knots);
  out["offsets"] = to_array(result.offsets);
  out["weights"] = to_array(result.weights);
  out["objective"] = to_array(result.objective);
  out["norm"] = to_array(result.norm);
  out["n_margin"] = to_array(result.n_margin);
  out["change_start"] = to_array(result.change_start);
  out["change_row"] = to_array(result.change_row);
  out["change_alpha"] = to_array(result.change_alpha);
  out["event_knot"] = to_array(result.event_knot);
  out["event_kind"] = to_array(kinds);
  out["event_row"] = to_array(result.event_row);
  out["violation"] = result.violation;
  return out;
}

py::dict path(const py::object& data, const py::object& rows, const py::object& labels, const py::object& costs,
              const std::string& kernel, double gamma, int degree, double coef0, const py::object& function,
              double lam_min, index_t max_events, index_t cache_bytes, int n_threads, const py::object& callback) {
  SvmPathProblem problem;
  problem.n = static_cast<index_t>(py::len(rows));
  problem.rows = view_1d<index_t>(rows, "rows", problem.n);
  problem.labels = view_1d<std::int8_t>(labels, "labels", problem.n);
  problem.costs = view_1d<double>(costs, "costs", problem.n);
  SvmPathOptions options;
  options.lam_min = lam_min;
  options.max_events = max_events;
  const MatrixView view = view_matrix(data);
  if (kernel == "linear") options.linear = std::get_if<DenseView<double>>(&view);
  Team team = team_of_call(n_threads);
  const auto values = make_path_kernel(view, kernel, gamma, degree, coef0, function, team);
  check_rows(problem.rows, problem.n, "rows", values->n_rows());
  check_distinct(problem.rows, problem.n, values->n_rows());
  const PathCallback on_round = callback_of<PathRound>(callback, &PathRound::n_breakpoints, &PathRound::n_events,
                                                       &PathRound::lam, &PathRound::n_margin, &PathRound::objective);
  return to_dict(unlocked([&] {
    KernelCache<double> cache(*values, cache_bytes);
    return svm_path(cache, problem, options, on_round, team);
  }));
}

}  // namespace

void bind_svm_path(py::module_& module) {
  module.def("svm_path", &path, py::arg("data"), py::arg("rows"), py::arg("labels"), py::arg("costs"), py::kw_only(),
             py::arg("kernel"), py::arg("gamma"), py::arg("degree"), py::arg("coef0"), py::arg("function").none(true),
             py::arg("lam_min"), py::arg("max_events"), py::arg("cache_bytes"), py::arg("n_threads"),
             py::arg("callback").none(true));
}

}  // namespace fastpu
