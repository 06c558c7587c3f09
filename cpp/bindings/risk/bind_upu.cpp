#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "common/bind_options.hpp"
#include "fastpu/risk/upu.hpp"

namespace fastpu {

namespace {

constexpr const char* kUpuStatus[] = {"tol", "max_iter", "precision", "unbounded", "callback"};  // as in UpuStatus

py::dict upu(const py::object& x, const py::object& labels, const py::object& weights, const UpuOptions& options,
             const py::object& callback, int n_threads) {
  UpuProblem problem;
  problem.x = view_matrix(x);
  const index_t n = std::visit([](const auto& view) { return view.n_rows; }, problem.x);
  problem.labels = view_1d<std::int8_t>(labels, "labels", n);
  problem.weights = view_or_null<double>(weights, "weights", n);
  const UpuCallback on_step = callback_of<UpuStep>(callback, &UpuStep::n_iter, &UpuStep::risk);
  Team team = team_of_call(n_threads);
  const UpuResult result = unlocked([&] { return fit_upu(problem, options, on_step, team); });
  py::dict out;
  out["coef"] = to_array(result.coef);
  out["intercept"] = result.intercept;
  out["risks"] = to_array(result.risks);
  out["decrement"] = result.decrement;
  out["status"] = kUpuStatus[static_cast<std::size_t>(result.status)];
  return out;
}

}  // namespace

void bind_upu(py::module_& module) {
  OptionsBinding<UpuOptions>(module, "UpuOptions")
      .choice("loss", &UpuOptions::loss, {{"logistic", ConvexPuLoss::logistic}, {"squared", ConvexPuLoss::squared}})
      .field("prior", &UpuOptions::prior)
      .field("lam", &UpuOptions::lam)
      .field("tol", &UpuOptions::tol)
      .field("max_iter", &UpuOptions::max_iter);
  module.def("fit_upu", &upu, py::arg("x"), py::arg("labels"), py::arg("weights").none(true), py::arg("options"),
             py::kw_only(), py::arg("callback").none(true), py::arg("n_threads"));
}

}  // namespace fastpu
