#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

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

// A sub-problem as Python passes it: labels, costs, slopes or None, and the solution to start from or None.
struct ProblemArguments {
  ProblemArguments(const std::array<py::object, 4>& given, index_t n) {
    const auto& [labels, costs, slopes, from] = given;
    problem.labels = view_1d<std::int8_t>(labels, "labels", n);
    problem.costs = view_1d<double>(costs, "costs", n);
    problem.slopes = view_or_null<std::uint8_t>(slopes, "slopes", n);
    if (from.is_none()) return;
    start.emplace().beta = view_1d<double>(from["beta"], "beta of start", n);
    if (from.contains("decision")) start->decision = view_1d<double>(from["decision"], "decision of start", n);
  }

  MarginProblem problem;
  std::optional<MarginStart> start;
};

class PyMarginEngine {
 public:
  PyMarginEngine(const py::object& data, int n_threads) : n_threads_(n_threads) {
    const RowsView view = view_matrix(data);
    Team team = team_of_call(n_threads_);
    const py::gil_scoped_release nogil;
    engine_ = std::make_unique<LargeMarginEngine>(view, team);
  }

  // Solves several problems with one thread each: the loops of a small problem are too short for several threads.
  py::list solve_each(const std::vector<std::array<py::object, 4>>& problems, const MarginOptions& options,
                      const py::object& callback) const {
    std::vector<ProblemArguments> given;
    given.reserve(problems.size());
    for (const auto& problem : problems) given.emplace_back(problem, engine_->n_rows());
    const MarginCallback on_round = callback_of<MarginRound>(callback);
    Team team = team_of_call(n_threads_);
    std::vector<MarginResult> results(given.size());
    const auto solve_one = [&](index_t k, int /*worker*/) {
      const auto& [problem, start] = given[at(k)];
      results[at(k)] = engine_->solve(problem, options, start ? &*start : nullptr, on_round, team);
    };
    unlocked([&] {
      if (given.size() == 1) return solve_one(0, 0);  // with all threads
      team.for_each(static_cast<index_t>(given.size()), solve_one);
    });
    py::list out;
    for (MarginResult& result : results) out.append(to_dict(std::move(result)));
    return out;
  }

 private:
  int n_threads_;
  std::unique_ptr<LargeMarginEngine> engine_;
};

}  // namespace

void bind_large_margin(const py::module_& module) {
  bind_options<MarginOptions>(module, "MarginOptions");
  py::class_<PyMarginEngine>(module, "LargeMarginEngine")
      .def(py::init<const py::object&, int>(), py::keep_alive<1, 2>(), py::arg("data"), py::kw_only(),
           py::arg("n_threads"))
      .def("solve_each", &PyMarginEngine::solve_each, py::arg("problems"), py::arg("options"),
           py::arg("callback") = py::none());
}

}  // namespace fastpu
