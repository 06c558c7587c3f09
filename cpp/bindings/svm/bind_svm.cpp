#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/svm/bagging_svm.hpp"
#include "fastpu/svm/svm.hpp"
#include "fastpu/svm/svm_grid.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

FASTPU_WORDS(SvmKind, "c_svm", "nu_svm", "one_class")
FASTPU_WORDS(SmoStatus, "tol", "max_iter", "precision", "callback")
FASTPU_FIELDS(SmoOptions, tol, max_steps)
FASTPU_FIELDS(SmoRound, n_steps, objective, violation, n_active)
FASTPU_FIELDS(SvmResult, alpha, intercept, margin, objective, gap, lowest_inside, violation, n_steps, status, decision)
FASTPU_FIELDS(GridFit, support, alpha, intercept, margin, objective, gap, lowest_inside, violation, n_steps, status,
              n_positive, lowest_score, highest_score)

namespace {

// The rounds of a solution, a column for each field.
struct SvmRounds {
  explicit SvmRounds(const std::vector<SmoRound>& rounds) {
    for (const SmoRound& round : rounds) {
      n_steps.push_back(round.n_steps);
      objective.push_back(round.objective);
      violation.push_back(round.violation);
      n_active.push_back(round.n_active);
    }
  }

  std::vector<index_t> n_steps;
  std::vector<double> objective, violation;
  std::vector<index_t> n_active;
};

// The SVMs of several bags, each array with an entry, or a column, for each bag.
struct BagSolutions {
  std::vector<double> intercept, objective, gap, violation;
  std::vector<index_t> n_steps;
  std::vector<SmoStatus> status;
  std::vector<index_t> support;
  py::array_t<double> coefs;     // support x bags
  py::array_t<double> decision;  // scored rows x bags
};

// A chain of problems as Python makes it. It holds the arrays that the core looks at.
struct PyChain {
  double gamma;
  py::object rows, labels, base;
  std::vector<GridPoint> points;
  py::object held_out;
};

// What became of a chain: a fit for each point, and the scores of its held-out rows, n_held_out x points.
struct ChainSolution {
  py::list fits;
  py::array_t<double> held_out_scores;
};

// The engine of either precision, which refers to its data.
class PyEngine {
 public:
  // Without a kernel the data are its values.
  PyEngine(const py::object& data, const KernelParams* kernel, const py::object& function, index_t cache_bytes,
           int n_threads)
      : n_threads_(n_threads) {
    const RowsView view = view_matrix(data);
    if (!function.is_none()) {
      auto values = make_function_kernel(fastpu::n_rows(view), kernel_function(function));
      engine_ = std::make_unique<SvmEngine<double>>(std::move(values), cache_bytes);
      return;
    }
    const auto make_engine = [&]<template <class> class View, class T>(const View<T>& x) {
      if (kernel == nullptr) {
        auto values = make_precomputed_kernel(std::get<DenseView<T>>(view));
        engine_ = std::make_unique<SvmEngine<T>>(std::move(values), cache_bytes);
      } else {
        engine_ = std::make_unique<SvmEngine<T>>(x, *kernel, cache_bytes, team_of_call(n_threads));
      }
    };
    std::visit(make_engine, view);
  }

  index_t n_rows() const {
    return std::visit([](const auto& engine) { return engine->n_rows(); }, engine_);
  }

  Fields<SvmResult> solve(const std::string& problem, const py::object& rows, const py::object& labels,
                          const py::object& costs, double nu, const py::object& start, const SmoOptions& options,
                          const py::object& callback) {
    SvmProblem svm;
    svm.kind = value_of<SvmKind>(problem, "problem");
    svm.rows = view_rows(rows, "rows", n_rows(), svm.n);
    if (svm.kind != SvmKind::one_class) svm.labels = view_1d<std::int8_t>(labels, "labels", svm.n);
    svm.costs = view_1d<double>(costs, "costs", svm.n);
    svm.nu = nu;
    svm.start = view_or_null<double>(start, "start", svm.n);
    const SmoCallback on_round = callback_of<SmoRound>(callback);
    Team team = team_of_call(n_threads_);
    const auto solve_by = [&](const auto& engine) { return engine->solve(svm, options, on_round, team); };
    return {unlocked([&] { return std::visit(solve_by, engine_); })};
  }

  py::array_t<double> scores(const py::object& support, const py::object& coefs, double intercept,
                             const py::object& rows) {
    KernelModels models;
    models.support = view_rows(support, "support", n_rows(), models.n_support);
    models.coefs = view_1d<double>(coefs, "coefs", models.n_support);
    models.intercepts = &intercept;
    index_t n = 0;
    const index_t* const x = view_rows(rows, "rows", n_rows(), n);
    py::array_t<double> out(n);
    double* const to = out.mutable_data();
    Team team = team_of_call(n_threads_);
    const auto score = [&](const auto& engine) { kernel_scores(engine->kernel(), models, x, n, team, to); };
    unlocked([&] { std::visit(score, engine_); });
    return out;
  }

  BagSolutions solve_bags(const py::object& positives, const py::object& bags, const py::object& cost_pos,
                          double cost_unl, const SmoOptions& options, const py::object& start,
                          const py::object& score_rows) {
    BaggingProblem problem;
    problem.start = view_or_null<double>(start, "start", n_rows());
    problem.positives = view_rows(positives, "positives", n_rows(), problem.n_pos);
    problem.costs_pos = view_1d<double>(cost_pos, "cost_pos", problem.n_pos);
    problem.cost_unl = cost_unl;
    const auto bag_array = check_2d<index_t>(bags, "bags");
    problem.n_bags = bag_array.shape(0);
    problem.bag_size = bag_array.shape(1);
    problem.bags = check_rows(bag_array.data(), bag_array.size(), "bags", n_rows());
    index_t n_scored = 0;
    const index_t* const scored = view_rows(score_rows, "score_rows", n_rows(), n_scored);
    py::array_t<double> decision({n_scored, problem.n_bags});
    double* const to = decision.mutable_data();

    Team team = team_of_call(n_threads_);
    const auto solve_by = [&](const auto& engine) {
      BaggingResult result = fastpu::solve_bags(*engine, problem, options, team);
      std::vector<double> intercepts;
      intercepts.reserve(result.bags.size());
      for (const SvmReport& bag : result.bags) intercepts.push_back(bag.intercept);
      const KernelModels models{result.support.data(), static_cast<index_t>(result.support.size()), result.coefs.data(),
                                intercepts.data(), problem.n_bags};
      kernel_scores(engine->kernel(), models, scored, n_scored, team, to);
      return result;
    };
    BaggingResult result = unlocked([&] { return std::visit(solve_by, engine_); });
    BagSolutions out;
    for (const SvmReport& bag : result.bags) {
      out.intercept.push_back(bag.intercept);
      out.objective.push_back(bag.objective);
      out.gap.push_back(bag.gap);
      out.violation.push_back(bag.violation);
      out.n_steps.push_back(bag.n_steps);
      out.status.push_back(bag.status);
    }
    const auto n_support = static_cast<py::ssize_t>(result.support.size());
    out.support = std::move(result.support);
    out.coefs = to_array(result.coefs).reshape({n_support, static_cast<py::ssize_t>(problem.n_bags)});
    out.decision = std::move(decision);
    return out;
  }

 private:
  int n_threads_;
  std::variant<std::unique_ptr<SvmEngine<float>>, std::unique_ptr<SvmEngine<double>>> engine_;
};

double violation_of(const py::object& labels, const py::object& costs, const py::object& alpha,
                    const py::object& decision) {
  SvmProblem problem;
  problem.labels = view_1d<std::int8_t>(labels, "labels");
  problem.n = static_cast<index_t>(py::len(labels));
  problem.costs = view_1d<double>(costs, "costs", problem.n);
  return c_svm_violation(problem, view_1d<double>(alpha, "alpha", problem.n),
                         view_1d<double>(decision, "decision", problem.n));
}

// A chain of problems, with views of the arrays that `chain` holds.
SvmChain view_chain(SvmKind kind, const PyChain& chain, index_t n_data) {
  SvmChain out;
  out.kind = kind;
  out.gamma = chain.gamma;
  out.rows = view_rows(chain.rows, "rows", n_data, out.n);
  out.held_out = view_rows(chain.held_out, "held_out", n_data, out.n_held_out);
  if (kind != SvmKind::one_class) out.labels = view_1d<std::int8_t>(chain.labels, "labels", out.n);
  out.base = view_1d<double>(chain.base, "base", out.n);
  out.points = chain.points;
  return out;
}

// Without a kernel the data are its values.
std::vector<ChainSolution> solve_grid(const py::object& data, const std::string& problem,
                                      const std::vector<const PyChain*>& chains, const KernelParams* kernel,
                                      const SmoOptions& options, index_t cache_bytes, int n_threads) {
  const RowsView view = view_matrix(data);
  const KernelParams params = kernel == nullptr ? KernelParams{} : *kernel;
  const auto kind = value_of<SvmKind>(problem, "problem");
  std::vector<SvmChain> viewed;
  viewed.reserve(chains.size());
  for (const PyChain* chain : chains) viewed.push_back(view_chain(kind, *chain, n_rows(view)));
  Team team = team_of_call(n_threads);
  const auto solve = [&]<class View>(const View& x) {
    using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
    return solve_chains<T>(x, params, kernel == nullptr, viewed, options, cache_bytes, team);
  };
  std::vector<ChainResult> results = unlocked([&] { return std::visit(solve, view); });
  std::vector<ChainSolution> out;
  for (std::size_t c = 0; c < results.size(); ++c) {
    const auto n_points = static_cast<py::ssize_t>(results[c].fits.size());
    ChainSolution& solution = out.emplace_back();
    for (GridFit& fit : results[c].fits) solution.fits.append(Fields<GridFit>{{std::move(fit)}});
    solution.held_out_scores =
        to_array(results[c].held_out_scores).reshape({static_cast<py::ssize_t>(viewed[c].n_held_out), n_points});
  }
  return out;
}

}  // namespace

void bind_svm(py::module_& module) {
  bind_options<SmoOptions>(module, "SmoOptions");
  py::class_<SvmRounds>(module, "SvmRounds")
      .def_property_readonly("n_steps", [](const SvmRounds& rounds) { return to_array(rounds.n_steps); })
      .def_property_readonly("objective", [](const SvmRounds& rounds) { return to_array(rounds.objective); })
      .def_property_readonly("violation", [](const SvmRounds& rounds) { return to_array(rounds.violation); })
      .def_property_readonly("n_active", [](const SvmRounds& rounds) { return to_array(rounds.n_active); });
  bind_result<SvmResult>(module, "SvmSolution").def_property_readonly("rounds", [](const Fields<SvmResult>& result) {
    return SvmRounds(result.SvmResult::rounds);
  });
  py::class_<BagSolutions>(module, "BagSolutions")
      .def_property_readonly("intercept", [](const BagSolutions& bags) { return to_array(bags.intercept); })
      .def_property_readonly("objective", [](const BagSolutions& bags) { return to_array(bags.objective); })
      .def_property_readonly("gap", [](const BagSolutions& bags) { return to_array(bags.gap); })
      .def_property_readonly("violation", [](const BagSolutions& bags) { return to_array(bags.violation); })
      .def_property_readonly("n_steps", [](const BagSolutions& bags) { return to_array(bags.n_steps); })
      .def_property_readonly("status", [](const BagSolutions& bags) { return to_python(bags.status); })
      .def_property_readonly("support", [](const BagSolutions& bags) { return to_array(bags.support); })
      .def_readonly("coefs", &BagSolutions::coefs)
      .def_readonly("decision", &BagSolutions::decision);
  bind_result<GridFit>(module, "GridFit");
  py::class_<PyChain>(module, "GridChain")
      .def(py::init([](double gamma, const py::object& rows, const py::object& labels, const py::object& base,
                       const std::vector<std::tuple<double, double, double>>& points, const py::object& held_out) {
             PyChain chain{gamma, rows, labels, base, {}, held_out};
             for (const auto& [pos, neg, nu] : points) chain.points.push_back({pos, neg, nu});
             return chain;
           }),
           py::kw_only(), py::arg("gamma"), py::arg("rows"), py::arg("labels"), py::arg("base"), py::arg("points"),
           py::arg("held_out"));
  py::class_<ChainSolution>(module, "ChainSolution")
      .def_readonly("fits", &ChainSolution::fits)
      .def_readonly("held_out_scores", &ChainSolution::held_out_scores);
  py::class_<PyEngine>(module, "SvmEngine")
      .def(py::init<const py::object&, const KernelParams*, const py::object&, index_t, int>(), py::keep_alive<1, 2>(),
           py::keep_alive<1, 4>(), py::arg("data"), py::kw_only(), py::arg("kernel"), py::arg("function"),
           py::arg("cache_bytes"), py::arg("n_threads"))
      .def("solve", &PyEngine::solve, py::arg("problem"), py::arg("rows"), py::arg("labels"), py::arg("costs"),
           py::kw_only(), py::arg("nu"), py::arg("start"), py::arg("options"), py::arg("callback"))
      .def("scores", &PyEngine::scores, py::arg("support"), py::arg("coefs"), py::arg("intercept"), py::arg("rows"))
      .def("solve_bags", &PyEngine::solve_bags, py::arg("positives"), py::arg("bags"), py::kw_only(),
           py::arg("cost_pos"), py::arg("cost_unl"), py::arg("options"), py::arg("start"), py::arg("score_rows"));
  module.def("c_svm_violation", &violation_of, py::arg("labels"), py::arg("costs"), py::arg("alpha"),
             py::arg("decision"));
  module.def("solve_svm_grid", &solve_grid, py::arg("data"), py::arg("problem"), py::arg("chains"), py::kw_only(),
             py::arg("kernel"), py::arg("options"), py::arg("cache_bytes"), py::arg("n_threads"));
}

}  // namespace fastpu
