#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>
#include <vector>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/pual/pual_system.hpp"
#include "linalg/bind_blas.hpp"

namespace fastpu {

FASTPU_WORDS(PualStatus, "gap", "max_iter", "precision", "callback")
FASTPU_FIELDS(PualDualOptions, tol, max_iter)
FASTPU_FIELDS(PualRound, cost, n_iter, objective, gap)
FASTPU_FIELDS(PualSolution, alpha, half, objective, gap, n_iter, status, iterations, objectives, gaps)

namespace {

void factor(const py::object& curvature, const py::object& more, const py::object& factor, double cost_unl, double lam,
            int n_threads) {
  const PualSystem system{view_2d(curvature), cost_unl, lam};
  const auto last = view_2d(more);
  const auto out = mutable_view_2d(factor);
  const Blas& functions = blas();
  Team team = team_of_call(n_threads);
  unlocked([&] { factor_system(system, last, out, functions, team); });
}

py::list solve(const py::object& curvature, const py::object& positives, const py::object& factor,
               const std::vector<double>& costs, const PualDualOptions& options, double cost_unl, double lam,
               index_t n_unl, int n_threads, const py::object& callback) {
  const PualSystem system{view_2d(curvature), cost_unl, lam};
  const auto rows = view_2d(positives);
  const auto out = mutable_view_2d(factor);
  const Blas& functions = blas();
  const PualCallback on_round = callback_of<PualRound>(callback);
  Team team = team_of_call(n_threads);
  std::vector<PualSolution> solutions =
      unlocked([&] { return solve_pual(system, rows, n_unl, costs, options, out, functions, on_round, team); });
  py::list found;
  for (PualSolution& solution : solutions) found.append(Fields<PualSolution>{{std::move(solution)}});
  return found;
}

}  // namespace

void bind_pual(py::module_& module) {
  bind_options<PualDualOptions>(module, "PualDualOptions");
  bind_result<PualSolution>(module, "PualSolution");
  module.def("factor_pual_system", &factor, py::arg("curvature"), py::arg("more"), py::arg("factor"), py::kw_only(),
             py::arg("C_unl"), py::arg("lam"), py::arg("n_threads"));
  module.def("solve_pual", &solve, py::arg("curvature"), py::arg("positives"), py::arg("factor"), py::arg("costs"),
             py::arg("options"), py::kw_only(), py::arg("C_unl"), py::arg("lam"), py::arg("n_unl"),
             py::arg("n_threads"), py::arg("callback"));
}

}  // namespace fastpu
