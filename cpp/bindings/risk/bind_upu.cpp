#include <pybind11/pybind11.h>

#include <string>

#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
#include "fastpu/risk/upu.hpp"

namespace fastpu {

namespace {

const char* name_of(UpuStatus status) {
  switch (status) {
    case UpuStatus::tol:
      return "tol";
    case UpuStatus::max_iter:
      return "max_iter";
    case UpuStatus::precision:
      return "precision";
    case UpuStatus::unbounded:
      return "unbounded";
    case UpuStatus::callback:
      return "callback";
  }
  return "";
}

py::dict upu(const py::object& x, const py::object& labels, const py::object& weights, const std::string& loss,
             double prior, double lam, double tol, index_t max_iter, const py::object& callback, int n_threads) {
  UpuProblem problem;
  problem.x = view_matrix(x);
  const index_t n = std::visit([](const auto& view) { return view.n_rows; }, problem.x);
  problem.labels = view_1d<std::int8_t>(labels, "labels", n);
  if (!weights.is_none()) problem.weights = view_1d<double>(weights, "weights", n);
  problem.prior = prior;
  problem.lam = lam;
  UpuOptions options;
  if (loss != "logistic" && loss != "squared") throw py::value_error("loss has no value '" + loss + "'");
  options.loss = loss == "logistic" ? ConvexPuLoss::logistic : ConvexPuLoss::squared;
  options.tol = tol;
  options.max_iter = max_iter;
  UpuCallback on_step;
  if (!callback.is_none()) {
    on_step = [&callback](const UpuStep& step) {
      const py::gil_scoped_acquire gil;
      return callback(step.n_iter, step.risk).cast<bool>();
    };
  }
  const Isa level = isa_of_call();
  Team team(n_threads, interrupt_poll());
  UpuResult result;
  {
    const py::gil_scoped_release nogil;
    result = fit_upu(problem, options, on_step, level, team);
  }
  py::dict out;
  out["coef"] = to_array(result.coef);
  out["intercept"] = result.intercept;
  out["risks"] = to_array(result.risks);
  out["decrement"] = result.decrement;
  out["status"] = name_of(result.status);
  return out;
}

}  // namespace

void bind_upu(py::module_& module) {
  module.def("fit_upu", &upu, py::arg("x"), py::arg("labels"), py::arg("weights").none(true), py::kw_only(),
             py::arg("loss"), py::arg("prior"), py::arg("lam"), py::arg("tol"), py::arg("max_iter"),
             py::arg("callback").none(true), py::arg("n_threads"));
}

}  // namespace fastpu
