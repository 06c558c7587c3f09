#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/pual/pual_solver.hpp"
#include "linalg/bind_blas.hpp"

namespace fastpu {

FASTPU_WORDS(PualStatus, "gap", "closed_form", "max_iter", "precision", "callback")
FASTPU_FIELDS(PualDualOptions, tol, max_iter)
FASTPU_FIELDS(PualRound, cost, n_iter, objective, gap)
FASTPU_FIELDS(PualSolution, beta, offset, scores, alpha, status, iterations, objectives, gaps)

namespace {

// Rows of float64, which those of this family are: dense, or sparse.
std::variant<DenseView<double>, CsrView<double>> view_doubles(const py::object& matrix) {
  const RowsView view = view_matrix(matrix);
  if (const auto* const dense = std::get_if<DenseView<double>>(&view)) return *dense;
  if (const auto* const csr = std::get_if<CsrView<double>>(&view)) return *csr;
  throw py::type_error("a matrix must be of float64");
}

PualNeighbours view_neighbours(const py::object& laplacian, const py::object& gram, index_t n) {
  PualNeighbours neighbours;
  const auto view = view_doubles(laplacian);
  const auto* const csr = std::get_if<CsrView<double>>(&view);
  if (csr == nullptr || csr->n_rows != n || csr->n_cols != n) {
    throw py::value_error("laplacian must be sparse and have a row and a column for each row");
  }
  neighbours.laplacian = *csr;
  if (!gram.is_none()) neighbours.gram = view_2d(gram);
  return neighbours;
}

class PyPualSolver {
 public:
  PyPualSolver(const py::object& x, const py::object& mean, const py::object& triangle, const py::object& pivots,
               const py::object& positives, const py::object& gram_unl, const py::object& pos,
               const py::object& shares_pos, const py::object& shares_unl, double mass_pos, double mass_unl)
      : kept_(py::make_tuple(x, mean, triangle, pivots, positives, gram_unl, pos, shares_pos, shares_unl)) {
    PualRows rows;
    rows.x = view_doubles(x);
    std::visit(
        [&](const auto& view) {
          n_rows_ = view.n_rows;
          rows.mean = view_or_null<double>(mean, "mean", view.n_cols);
        },
        rows.x);
    if (!triangle.is_none()) {
      rows.triangle = view_2d(triangle);
      rows.pivots =
          check_rows(view_1d<index_t>(pivots, "pivots", rows.triangle.n_rows), rows.triangle.n_rows, "pivots", n_rows_);
    }
    rows.positives = view_2d(positives);
    rows.gram_unl = view_2d(gram_unl);
    const index_t n_pos = rows.positives.n_rows;
    rows.pos = check_rows(view_1d<index_t>(pos, "pos", n_pos), n_pos, "pos", n_rows_);
    rows.shares_pos = view_1d<double>(shares_pos, "shares_pos", n_pos);
    rows.shares_unl = view_1d<double>(shares_unl, "shares_unl", n_rows_);
    rows.mass_pos = mass_pos;
    rows.mass_unl = mass_unl;
    solver_ = std::make_unique<PualSolver>(rows, blas());
  }

  py::list solve_pual(const py::object& laplacian, const py::object& gram, double cost_unl, double lam,
                      const std::vector<double>& costs, const PualDualOptions& options, const py::object& callback,
                      int n_threads) {
    const PualNeighbours neighbours = view_neighbours(laplacian, gram, n_rows_);
    const PualCallback on_round = callback_of<PualRound>(callback);
    Team team = team_of_call(n_threads);
    return listed(
        unlocked([&] { return solver_->solve_pual(neighbours, {cost_unl, lam}, costs, options, on_round, team); }));
  }

  py::list solve_least_squares(const py::object& laplacian, const py::object& gram, double cost_unl, double lam,
                               const std::vector<double>& costs, const py::object& callback, int n_threads) {
    const PualNeighbours neighbours = view_neighbours(laplacian, gram, n_rows_);
    const PualCallback on_round = callback_of<PualRound>(callback);
    Team team = team_of_call(n_threads);
    return listed(
        unlocked([&] { return solver_->solve_least_squares(neighbours, {cost_unl, lam}, costs, on_round, team); }));
  }

 private:
  static py::list listed(std::vector<PualSolution> solutions) {
    py::list found;
    for (PualSolution& solution : solutions) found.append(Fields<PualSolution>{{std::move(solution)}});
    return found;
  }

  py::tuple kept_;  // the arrays that the solver views
  index_t n_rows_ = 0;
  std::unique_ptr<PualSolver> solver_;
};

}  // namespace

void bind_pual(const py::module_& module) {
  bind_options<PualDualOptions>(module, "PualDualOptions");
  bind_result<PualSolution>(module, "PualSolution");
  py::class_<PyPualSolver>(module, "PualSolver")
      .def(py::init<const py::object&, const py::object&, const py::object&, const py::object&, const py::object&,
                    const py::object&, const py::object&, const py::object&, const py::object&, double, double>(),
           py::arg("x"), py::kw_only(), py::arg("mean"), py::arg("triangle"), py::arg("pivots"), py::arg("positives"),
           py::arg("gram_unl"), py::arg("pos"), py::arg("shares_pos"), py::arg("shares_unl"), py::arg("mass_pos"),
           py::arg("mass_unl"))
      .def("solve_pual", &PyPualSolver::solve_pual, py::arg("laplacian"), py::arg("gram"), py::kw_only(),
           py::arg("C_unl"), py::arg("lam"), py::arg("costs"), py::arg("options"), py::arg("callback"),
           py::arg("n_threads"))
      .def("solve_least_squares", &PyPualSolver::solve_least_squares, py::arg("laplacian"), py::arg("gram"),
           py::kw_only(), py::arg("C_unl"), py::arg("lam"), py::arg("costs"), py::arg("callback"),
           py::arg("n_threads"));
}

}  // namespace fastpu
