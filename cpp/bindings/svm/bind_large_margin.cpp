#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/svm/large_margin.hpp"

namespace fastpu {

namespace {

constexpr const char* kMarginStatus[] = {"gap", "max_iter", "precision", "callback"};  // as in MarginStatus
constexpr const char* kMarginMethod[] = {"bounds", "active_set", "interior_point", "coordinate_descent",
                                         "smo",    "iadmm"};  // as in MarginMethod

MarginSolver margin_solver(const std::string& name) {
  if (name == "exact" || name == "auto") return MarginSolver::exact;
  if (name == "iadmm") return MarginSolver::iadmm;
  throw py::value_error("solver must be 'auto', 'exact' or 'iadmm', got '" + name + "'");
}

// A sub-problem as Python passes it, with references to its arrays.
struct ProblemArguments {
  ProblemArguments(const py::object& labels, const py::object& costs, const py::object& slopes, const py::object& start,
                   index_t n)
      : arrays{labels, costs, slopes}, has_start(!start.is_none()) {
    problem.labels = view_1d<std::int8_t>(labels, "labels", n);
    problem.costs = view_1d<double>(costs, "costs", n);
    if (!slopes.is_none()) problem.slopes = view_1d<std::uint8_t>(slopes, "slopes", n);
    if (!has_start) return;
    from.beta = view_1d<double>(arrays.emplace_back(start["beta"]), "beta of start", n);
    if (start.contains("decision")) {
      from.decision = view_1d<double>(arrays.emplace_back(start["decision"]), "decision of start", n);
    }
  }

  const MarginStart* start() const { return has_start ? &from : nullptr; }

  std::vector<py::object> arrays;
  bool has_start;
  MarginProblem problem;
  MarginStart from;
};

MarginOptions options_of(const std::string& solver, double tol, index_t max_iter, double violation = 0) {
  MarginOptions options;
  options.solver = margin_solver(solver);
  options.tol = tol;
  options.max_iter = max_iter;
  options.violation = violation;
  return options;
}

py::dict to_dict(const MarginResult& result) {
  py::dict out;
  out["coef"] = to_array(result.coef);
  out["intercept"] = result.intercept;
  out["intercept_low"] = result.intercept_low;
  out["intercept_high"] = result.intercept_high;
  out["objective"] = result.objective;
  out["gap"] = result.gap;
  out["beta"] = to_array(result.beta);
  out["decision"] = to_array(result.decision);
  out["n_iter"] = result.n_iter;
  out["status"] = kMarginStatus[static_cast<std::size_t>(result.status)];
  out["method"] = kMarginMethod[static_cast<std::size_t>(result.method)];
  return out;
}

// The engine, and the object that owns the arrays that it reads.
class PyMarginEngine {
 public:
  PyMarginEngine(py::object data, int n_threads) : data_(std::move(data)), n_threads_(n_threads) {
    const MatrixView view = view_matrix(data_);
    Team team = team_of_call(n_threads_);
    const py::gil_scoped_release nogil;
    engine_ = std::make_unique<LargeMarginEngine>(view, team);
  }

  py::dict solve(const py::object& labels, const py::object& costs, const py::object& slopes, const std::string& solver,
                 double tol, double violation, index_t max_iter, const py::object& start,
                 const py::object& callback) const {
    const ProblemArguments given(labels, costs, slopes, start, engine_->n_rows());
    const MarginOptions options = options_of(solver, tol, max_iter, violation);
    const MarginCallback on_round =
        callback_of<MarginRound>(callback, &MarginRound::n_iter, &MarginRound::objective, &MarginRound::gap);
    Team team = team_of_call(n_threads_);
    const MarginResult result =
        unlocked([&] { return engine_->solve(given.problem, options, given.start(), on_round, team); });
    return to_dict(result);
  }

  // Solves several problems with one thread each: the loops of a small problem are too short for several threads.
  py::list solve_each(const std::vector<std::array<py::object, 4>>& problems, const std::string& solver, double tol,
                      index_t max_iter) const {
    std::vector<ProblemArguments> given;
    given.reserve(problems.size());
    for (const auto& [labels, costs, slopes, start] : problems) {
      given.emplace_back(labels, costs, slopes, start, engine_->n_rows());
    }
    const MarginOptions options = options_of(solver, tol, max_iter);
    Team team = team_of_call(n_threads_);
    std::vector<MarginResult> results(given.size());
    {
      const py::gil_scoped_release nogil;
      const auto solve_one = [&](index_t k, int /*worker*/) {
        results[at(k)] = engine_->solve(given[at(k)].problem, options, given[at(k)].start(), {}, team);
      };
      if (given.size() == 1) {
        solve_one(0, 0);  // with all threads
      } else {
        team.for_each(static_cast<index_t>(given.size()), solve_one);
      }
    }
    py::list out;
    for (const MarginResult& result : results) out.append(to_dict(result));
    return out;
  }

 private:
  py::object data_;
  int n_threads_;
  std::unique_ptr<LargeMarginEngine> engine_;
};

}  // namespace

void bind_large_margin(const py::module_& module) {
  py::class_<PyMarginEngine>(module, "LargeMarginEngine")
      .def(py::init<py::object, int>(), py::arg("data"), py::kw_only(), py::arg("n_threads"))
      .def("solve", &PyMarginEngine::solve, py::arg("labels"), py::arg("costs"), py::arg("slopes").none(true),
           py::kw_only(), py::arg("solver"), py::arg("tol"), py::arg("violation") = 0.0, py::arg("max_iter"),
           py::arg("start").none(true), py::arg("callback").none(true))
      .def("solve_each", &PyMarginEngine::solve_each, py::arg("problems"), py::kw_only(), py::arg("solver"),
           py::arg("tol"), py::arg("max_iter"));
}

}  // namespace fastpu
