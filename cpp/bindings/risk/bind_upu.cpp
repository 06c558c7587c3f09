#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/risk/upu.hpp"

namespace fastpu {

FASTPU_WORDS(ConvexPuLoss, "logistic", "squared")
FASTPU_WORDS(UpuStatus, "tol", "max_iter", "precision", "unbounded", "callback")
FASTPU_FIELDS(UpuOptions, loss, prior, lam, tol, max_iter)
FASTPU_FIELDS(UpuStep, n_iter, risk)
FASTPU_FIELDS(UpuResult, coef, intercept, risks, decrement, status)

namespace {

Fields<UpuResult> upu(const py::object& x, const py::object& labels, const py::object& weights,
                      const UpuOptions& options, const py::object& callback, int n_threads) {
  UpuProblem problem;
  problem.x = view_matrix(x);
  const index_t n = n_rows(problem.x);
  problem.labels = view_1d<std::int8_t>(labels, "labels", n);
  problem.weights = view_or_null<double>(weights, "weights", n);
  const UpuCallback on_step = callback_of<UpuStep>(callback);
  Team team = team_of_call(n_threads);
  return {unlocked([&] { return fit_upu(problem, options, on_step, team); })};
}

}  // namespace

void bind_upu(py::module_& module) {
  bind_options<UpuOptions>(module, "UpuOptions");
  bind_result<UpuResult>(module, "UpuResult");
  module.def("fit_upu", &upu, py::arg("x"), py::arg("labels"), py::arg("weights"), py::arg("options"), py::kw_only(),
             py::arg("callback"), py::arg("n_threads"));
}

}  // namespace fastpu
