#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/pual/pual.hpp"
#include "linalg/bind_blas.hpp"

namespace fastpu {

FASTPU_WORDS(PualStatus, "gap", "max_iter", "precision", "callback")
FASTPU_FIELDS(PualRound, cost, n_iter, objective, gap)
FASTPU_FIELDS(PualResult, alpha, objective, gap, n_iter, status, iterations, objectives, gaps)

namespace {

class PyPualDual {
 public:
  PyPualDual(const py::object& factor, int n_threads) : n_threads_(n_threads) {
    const auto array = check_2d<double>(factor, "factor");
    const BlasMatrix<const double> view(array.data(), array.shape(0), array.shape(1));
    const Blas& functions = blas();
    Team team = team_of_call(n_threads_);
    const py::gil_scoped_release nogil;
    dual_ = std::make_unique<PualDual>(view, functions, team);
  }

  py::list solve(const std::vector<double>& costs, double tol, index_t max_iter, const py::object& callback) const {
    PualOptions options;
    options.tol = tol;
    options.max_iter = max_iter;
    const PualCallback on_round = callback_of<PualRound>(callback);
    Team team = team_of_call(n_threads_);
    std::vector<PualResult> results = unlocked([&] { return dual_->solve(costs, options, on_round, team); });
    py::list out;
    for (PualResult& result : results) out.append(to_dict(std::move(result)));
    return out;
  }

 private:
  int n_threads_;
  std::unique_ptr<PualDual> dual_;
};

}  // namespace

void bind_pual(const py::module_& module) {
  py::class_<PyPualDual>(module, "PualDual")
      .def(py::init<const py::object&, int>(), py::arg("factor"), py::kw_only(), py::arg("n_threads"))
      .def("solve", &PyPualDual::solve, py::arg("costs"), py::kw_only(), py::arg("tol"), py::arg("max_iter"),
           py::arg("callback"));
}

}  // namespace fastpu
