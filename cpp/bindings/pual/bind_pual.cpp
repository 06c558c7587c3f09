#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "fastpu/pual/pual.hpp"
#include "linalg/bind_blas.hpp"

namespace fastpu {

namespace {

constexpr const char* kPualStatus[] = {"gap", "max_iter", "precision", "callback"};  // as in PualStatus

py::dict to_dict(const PualResult& result) {
  py::dict out;
  out["alpha"] = to_array(result.alpha);
  out["objective"] = result.objective;
  out["gap"] = result.gap;
  out["n_iter"] = result.n_iter;
  out["status"] = kPualStatus[static_cast<std::size_t>(result.status)];
  out["iterations"] = to_array(result.iterations);
  out["objectives"] = to_array(result.objectives);
  out["gaps"] = to_array(result.gaps);
  return out;
}

class PyPualDual {
 public:
  PyPualDual(const Array<double>& factor, int n_threads) : n_threads_(n_threads) {
    if (factor.ndim() != 2) throw py::value_error("a matrix must have 2 dimensions");
    const BlasMatrix<const double> view(factor.data(), factor.shape(0), factor.shape(1));
    const Blas& functions = blas();
    Team team = team_of_call(n_threads_);
    const py::gil_scoped_release nogil;
    dual_ = std::make_unique<PualDual>(view, functions, team);
  }

  py::list solve(const std::vector<double>& costs, double tol, index_t max_iter, const py::object& callback) const {
    PualOptions options;
    options.tol = tol;
    options.max_iter = max_iter;
    const PualCallback on_round =
        callback_of<PualRound>(callback, &PualRound::cost, &PualRound::n_iter, &PualRound::objective, &PualRound::gap);
    Team team = team_of_call(n_threads_);
    const std::vector<PualResult> results = unlocked([&] { return dual_->solve(costs, options, on_round, team); });
    py::list out;
    for (const PualResult& result : results) out.append(to_dict(result));
    return out;
  }

 private:
  int n_threads_;
  std::unique_ptr<PualDual> dual_;
};

}  // namespace

void bind_pual(const py::module_& module) {
  py::class_<PyPualDual>(module, "PualDual")
      .def(py::init<const Array<double>&, int>(), py::arg("factor").noconvert(), py::kw_only(), py::arg("n_threads"))
      .def("solve", &PyPualDual::solve, py::arg("costs"), py::kw_only(), py::arg("tol"), py::arg("max_iter"),
           py::arg("callback").none(true));
}

}  // namespace fastpu
