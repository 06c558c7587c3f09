#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "common/arguments.hpp"
#include "fastpu/svm/bagging_svm.hpp"
#include "fastpu/svm/svm.hpp"
#include "fastpu/svm/svm_grid.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

namespace {

constexpr const char* kSmoStatus[] = {"tol", "max_iter", "precision", "callback"};  // as in SmoStatus

SvmKind kind_of(const std::string& problem) {
  if (problem == "c_svm") return SvmKind::c_svm;
  if (problem == "nu_svm") return SvmKind::nu_svm;
  if (problem == "one_class") return SvmKind::one_class;
  throw py::value_error("problem has no value '" + problem + "'");
}

// The engine of either precision, with the data that it refers to.
class PyEngine {
 public:
  PyEngine(py::object data, const std::string& kernel, double gamma, int degree, double coef0, py::object function,
           index_t cache_bytes, int n_threads)
      : data_(std::move(data)), n_threads_(n_threads) {
    const MatrixView view = view_matrix(data_);
    if (kernel == "function") {
      const index_t n = std::visit([](const auto& x) { return x.n_rows; }, view);
      engine_ = std::make_unique<SvmEngine<double>>(make_function_kernel(n, kernel_function(std::move(function))),
                                                    cache_bytes);
      return;
    }
    std::visit(
        [&]<class View>(const View& x) {
          using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
          if (kernel == "precomputed") {
            if constexpr (std::is_same_v<View, DenseView<T>>) {
              if (x.n_rows != x.n_cols) throw py::value_error("a precomputed kernel must be square");
              engine_ = std::make_unique<SvmEngine<T>>(make_precomputed_kernel(x), cache_bytes);
            } else {
              throw py::type_error("a precomputed kernel must be dense");
            }
          } else {
            engine_ = std::make_unique<SvmEngine<T>>(x, kernel_params(kernel, gamma, degree, coef0), cache_bytes,
                                                     team_of_call(n_threads));
          }
        },
        view);
  }

  index_t n_rows() const {
    return std::visit([](const auto& engine) { return engine->n_rows(); }, engine_);
  }

  py::dict solve(const std::string& problem, const py::object& rows, const py::object& labels, const py::object& costs,
                 double nu, const py::object& start, double tol, index_t max_iter, const py::object& callback) {
    SvmProblem svm;
    svm.kind = kind_of(problem);
    svm.n = static_cast<index_t>(py::len(rows));
    svm.rows = row_numbers(rows, "rows");
    if (svm.kind != SvmKind::one_class) svm.labels = view_1d<std::int8_t>(labels, "labels", svm.n);
    svm.costs = view_1d<double>(costs, "costs", svm.n);
    svm.nu = nu;
    if (!start.is_none()) svm.start = view_1d<double>(start, "start", svm.n);
    check_distinct(svm.rows, svm.n, n_rows());
    const SmoCallback on_round = callback_of<SmoRound>(callback, &SmoRound::n_steps, &SmoRound::objective,
                                                       &SmoRound::violation, &SmoRound::n_active);
    Team team = team_of_call(n_threads_);
    SvmResult result;
    {
      const py::gil_scoped_release nogil;
      result = std::visit(
          [&](const auto& engine) { return engine->solve(svm, SvmOptions{tol, max_iter}, on_round, team); }, engine_);
    }
    py::dict out;
    out["alpha"] = to_array(result.alpha);
    out["intercept"] = result.intercept;
    out["margin"] = result.margin;
    out["objective"] = result.objective;
    out["gap"] = result.gap;
    out["violation"] = result.smo.violation;
    out["n_steps"] = result.smo.n_steps;
    out["status"] = kSmoStatus[static_cast<std::size_t>(result.smo.status)];
    out["decision"] = to_array(result.decision);
    out["history"] = history(result.smo.rounds);
    return out;
  }

  py::array_t<double> scores(const py::object& support, const py::object& coefs, double intercept,
                             const py::object& rows) {
    KernelModels models;
    models.n_support = static_cast<index_t>(py::len(support));
    models.support = row_numbers(support, "support");
    models.coefs = view_1d<double>(coefs, "coefs", models.n_support);
    models.intercepts = &intercept;
    const auto n = static_cast<index_t>(py::len(rows));
    const index_t* const x = row_numbers(rows, "rows");
    py::array_t<double> out(n);
    double* const to = out.mutable_data();
    Team team = team_of_call(n_threads_);
    unlocked([&] {
      std::visit([&](const auto& engine) { kernel_scores(engine->kernel(), models, x, n, team, to); }, engine_);
    });
    return out;
  }

  py::dict solve_bags(const py::object& positives, const py::object& bags, const py::object& cost_pos, double cost_unl,
                      double tol, index_t max_iter, const py::object& start, const py::object& score_rows) {
    BaggingProblem problem;
    if (!start.is_none()) problem.start = view_1d<double>(start, "start", n_rows());
    problem.n_pos = static_cast<index_t>(py::len(positives));
    problem.positives = row_numbers(positives, "positives");
    check_distinct(problem.positives, problem.n_pos, n_rows());
    problem.costs_pos = view_1d<double>(cost_pos, "cost_pos", problem.n_pos);
    problem.cost_unl = cost_unl;
    if (!py::isinstance<Array<index_t>>(bags)) throw py::type_error("bags has the wrong type for _core");
    const auto bag_array = py::reinterpret_borrow<Array<index_t>>(bags);
    if (bag_array.ndim() != 2) throw py::value_error("bags must have 2 dimensions");
    problem.n_bags = bag_array.shape(0);
    problem.bag_size = bag_array.shape(1);
    problem.bags = check_rows(bag_array.data(), bag_array.size(), "bags", n_rows());
    std::vector<bool> is_positive(at(n_rows()));
    for (index_t k = 0; k < problem.n_pos; ++k) is_positive[at(problem.positives[k])] = true;
    for (index_t k = 0; k < bag_array.size(); ++k) {
      if (is_positive[at(problem.bags[k])]) throw py::value_error("bags hold a positive row");
    }
    const auto n_scored = static_cast<index_t>(py::len(score_rows));
    const index_t* const scored = row_numbers(score_rows, "score_rows");
    py::array_t<double> decision({n_scored, problem.n_bags});
    double* const to = decision.mutable_data();

    Team team = team_of_call(n_threads_);
    BaggingResult result;
    {
      const py::gil_scoped_release nogil;
      std::visit(
          [&](const auto& engine) {
            result = fastpu::solve_bags(*engine, problem, SvmOptions{tol, max_iter}, team);
            std::vector<double> intercepts;
            intercepts.reserve(result.bags.size());
            for (const BagReport& bag : result.bags) intercepts.push_back(bag.intercept);
            const KernelModels models{result.support.data(), static_cast<index_t>(result.support.size()),
                                      result.coefs.data(), intercepts.data(), problem.n_bags};
            kernel_scores(engine->kernel(), models, scored, n_scored, team, to);
          },
          engine_);
    }
    py::dict out;
    out["support"] = to_array(result.support);
    out["coefs"] =
        to_array(result.coefs)
            .reshape({static_cast<py::ssize_t>(result.support.size()), static_cast<py::ssize_t>(problem.n_bags)});
    out["decision"] = decision;
    out["intercepts"] = member_of<double>(result.bags, &BagReport::intercept);
    out["objective"] = member_of<double>(result.bags, &BagReport::objective);
    out["gap"] = member_of<double>(result.bags, &BagReport::gap);
    out["violation"] = member_of<double>(result.bags, &BagReport::violation);
    out["n_steps"] = member_of<index_t>(result.bags, &BagReport::n_steps);
    py::list status;
    for (const BagReport& bag : result.bags) status.append(kSmoStatus[static_cast<std::size_t>(bag.status)]);
    out["status"] = status;
    return out;
  }

 private:
  const index_t* row_numbers(const py::object& rows, const char* name) const {
    const auto n = static_cast<index_t>(py::len(rows));
    return check_rows(view_1d<index_t>(rows, name, n), n, name, n_rows());
  }
  static py::dict history(const std::vector<SmoRound>& rounds) {
    py::dict out;
    out["objective"] = member_of<double>(rounds, &SmoRound::objective);
    out["violation"] = member_of<double>(rounds, &SmoRound::violation);
    out["n_active"] = member_of<index_t>(rounds, &SmoRound::n_active);
    out["n_steps"] = member_of<index_t>(rounds, &SmoRound::n_steps);
    return out;
  }

  py::object data_;
  int n_threads_;
  std::variant<std::unique_ptr<SvmEngine<float>>, std::unique_ptr<SvmEngine<double>>> engine_;
};

// A chain of problems, with views of the arrays that `chain` holds.
SvmChain read_chain(const std::string& problem, const py::dict& chain, index_t n_data) {
  SvmChain out;
  out.kind = kind_of(problem);
  out.gamma = chain["gamma"].cast<double>();
  const auto numbers = [&](const char* name, index_t& n) {
    n = static_cast<index_t>(py::len(chain[name]));
    return check_rows(view_1d<index_t>(chain[name], name), n, name, n_data);
  };
  out.rows = numbers("rows", out.n);
  out.held = numbers("held", out.n_held);
  check_distinct(out.rows, out.n, n_data);
  if (out.kind != SvmKind::one_class) out.labels = view_1d<std::int8_t>(chain["labels"], "labels", out.n);
  out.base = view_1d<double>(chain["base"], "base", out.n);
  for (const py::handle point : chain["points"]) {
    const auto [pos, neg, nu] = point.cast<std::tuple<double, double, double>>();
    out.points.push_back({pos, neg, nu});
  }
  return out;
}

py::list solve_grid(const py::object& data, const std::string& problem, const py::list& chains,
                    const std::string& kernel, int degree, double coef0, double tol, index_t max_iter,
                    index_t cache_bytes, int n_threads) {
  const MatrixView view = view_matrix(data);
  const index_t n_data = std::visit([](const auto& x) { return x.n_rows; }, view);
  const bool precomputed = kernel == "precomputed";
  const KernelParams params = precomputed ? KernelParams{} : kernel_params(kernel, 1.0, degree, coef0);
  if (precomputed && !std::visit(
                         []<class View>(const View& x) {
                           return std::is_same_v<View, DenseView<typename View::Value>> && x.n_rows == x.n_cols;
                         },
                         view)) {
    throw py::value_error("a precomputed kernel must be dense and square");
  }
  std::vector<SvmChain> read;
  for (const py::handle chain : chains) read.push_back(read_chain(problem, chain.cast<py::dict>(), n_data));
  Team team = team_of_call(n_threads);
  std::vector<ChainResult> results;
  {
    const py::gil_scoped_release nogil;
    results = std::visit(
        [&]<class View>(const View& x) {
          using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
          return solve_chains<T>(x, params, precomputed, read, SvmOptions{tol, max_iter}, cache_bytes, team);
        },
        view);
  }
  py::list out;
  for (std::size_t c = 0; c < results.size(); ++c) {
    const ChainResult& result = results[c];
    py::list fits;
    for (const GridFit& fit : result.fits) {
      py::dict entry;
      entry["support"] = to_array(fit.support);
      entry["alpha"] = to_array(fit.alpha);
      entry["intercept"] = fit.intercept;
      entry["margin"] = fit.margin;
      entry["objective"] = fit.objective;
      entry["gap"] = fit.gap;
      entry["violation"] = fit.violation;
      entry["n_steps"] = fit.n_steps;
      entry["status"] = kSmoStatus[static_cast<std::size_t>(fit.status)];
      entry["n_positive"] = fit.n_positive;
      entry["score_range"] = std::pair(fit.lowest_score, fit.highest_score);
      fits.append(entry);
    }
    const auto n_points = static_cast<py::ssize_t>(result.fits.size());
    out.append(
        py::make_tuple(fits, to_array(result.held).reshape({static_cast<py::ssize_t>(read[c].n_held), n_points})));
  }
  return out;
}

}  // namespace

void bind_svm(py::module_& module) {
  py::class_<PyEngine>(module, "SvmEngine")
      .def(py::init<py::object, const std::string&, double, int, double, py::object, index_t, int>(), py::arg("data"),
           py::kw_only(), py::arg("kernel"), py::arg("gamma"), py::arg("degree"), py::arg("coef0"),
           py::arg("function").none(true), py::arg("cache_bytes"), py::arg("n_threads"))
      .def_property_readonly("n_rows", &PyEngine::n_rows)
      .def("solve", &PyEngine::solve, py::arg("problem"), py::arg("rows"), py::arg("labels").none(true),
           py::arg("costs"), py::kw_only(), py::arg("nu"), py::arg("start").none(true), py::arg("tol"),
           py::arg("max_iter"), py::arg("callback").none(true))
      .def("scores", &PyEngine::scores, py::arg("support"), py::arg("coefs"), py::arg("intercept"), py::arg("rows"))
      .def("solve_bags", &PyEngine::solve_bags, py::arg("positives"), py::arg("bags"), py::kw_only(),
           py::arg("cost_pos"), py::arg("cost_unl"), py::arg("tol"), py::arg("max_iter"), py::arg("start").none(true),
           py::arg("score_rows"));
  module.def("solve_svm_grid", &solve_grid, py::arg("data"), py::arg("problem"), py::arg("chains"), py::kw_only(),
             py::arg("kernel"), py::arg("degree"), py::arg("coef0"), py::arg("tol"), py::arg("max_iter"),
             py::arg("cache_bytes"), py::arg("n_threads"));
}

}  // namespace fastpu
