#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/svm/large_margin.hpp"

namespace fastpu {

FASTPU_WORDS(MarginSolver, "exact", "iadmm")
FASTPU_WORDS(MarginStatus, "gap", "max_iter", "precision", "callback")
FASTPU_WORDS(MarginMethod, "bounds", "active_set", "interior_point", "coordinate_descent", "smo", "iadmm")
FASTPU_FIELDS(MarginOptions, solver, tol, violation, max_iter)
FASTPU_FIELDS(MarginRound, n_iter, objective, gap)
FASTPU_FIELDS(MarginResult, coef, intercept, intercept_low, intercept_high, objective, gap, beta, decision, n_iter,
              status, method)

namespace {

class PyMarginEngine {
 public:
  PyMarginEngine(const py::object& data, int n_threads) {
    const RowsView view = view_matrix(data);
    Team team = team_of_call(n_threads);
    const py::gil_scoped_release nogil;
    engine_ = std::make_unique<LargeMarginEngine>(view, team);
  }

  Fields<MarginResult> solve(const py::object& labels, const py::object& costs, const py::object& slopes,
                             const Fields<MarginResult>* start, const MarginOptions& options,
                             const py::object& callback, int n_threads) const {
    const index_t n = engine_->n_rows();
    MarginProblem problem;
    problem.labels = view_1d<std::int8_t>(labels, "labels", n);
    problem.costs = view_1d<double>(costs, "costs", n);
    problem.slopes = view_or_null<std::uint8_t>(slopes, "slopes", n);
    std::optional<MarginStart> from;
    if (start != nullptr) {
      if (static_cast<index_t>(start->beta.size()) != n) throw py::value_error("start must be of the same rows");
      from.emplace(MarginStart{start->beta.data(), start->decision.data()});
    }
    const MarginCallback on_round = callback_of<MarginRound>(callback);
    Team team = team_of_call(n_threads, [this] {
      if (is_stopped_) throw std::runtime_error("the solver was stopped by another thread");
    });
    return {unlocked([&] { return engine_->solve(problem, options, from ? &*from : nullptr, on_round, team); })};
  }

  // Ends the calls of solve() that other threads make, now and later, with a RuntimeError.
  void stop() { is_stopped_ = true; }

 private:
  std::unique_ptr<LargeMarginEngine> engine_;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace

void bind_large_margin(const py::module_& module) {
  module.attr("MOST_ROW_COST") = kMostRowCost;
  bind_options<MarginOptions>(module, "MarginOptions");
  bind_result<MarginResult>(module, "MarginSolution");
  py::class_<PyMarginEngine>(module, "LargeMarginEngine")
      .def(py::init<const py::object&, int>(), py::keep_alive<1, 2>(), py::arg("data"), py::kw_only(),
           py::arg("n_threads"))
      .def("solve", &PyMarginEngine::solve, py::arg("labels"), py::arg("costs"), py::arg("slopes"), py::arg("start"),
           py::arg("options"), py::arg("callback"), py::kw_only(), py::arg("n_threads"))
      .def("stop", &PyMarginEngine::stop);
}

}  // namespace fastpu
