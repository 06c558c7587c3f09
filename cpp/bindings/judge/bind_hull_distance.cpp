#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
#include "fastpu/judge/hull_distance.hpp"

namespace fastpu {

namespace {

const char* name_of(HullStatus status) {
  switch (status) {
    case HullStatus::slack:
      return "slack";
    case HullStatus::precision:
      return "precision";
    case HullStatus::max_steps:
      return "max_steps";
  }
  return "";
}

// The search, with the rows that it refers to.
class PyHullDistance {
 public:
  PyHullDistance(py::object rows, int n_threads) : rows_(std::move(rows)), n_threads_(n_threads) {
    const MatrixView view = view_matrix(rows_);
    const auto* const dense = std::get_if<DenseView<double>>(&view);
    if (dense == nullptr) throw py::type_error("rows must be a dense matrix of float64");
    const Isa level = isa_of_call();
    Team team(n_threads_, interrupt_poll());
    const py::gil_scoped_release nogil;
    search_ = std::make_unique<HullDistance>(*dense, level, team);
  }

  py::dict nearest(const py::object& point, index_t max_steps) const {
    const double* const from = view_1d<double>(point, "point", search_->n_features());
    Team team(n_threads_, interrupt_poll());
    HullNearest result;
    {
      const py::gil_scoped_release nogil;
      result = search_->nearest(from, max_steps, team);
    }
    py::dict out;
    out["apart"] = to_array(result.apart);
    out["rows"] = to_array(result.rows);
    out["weights"] = to_array(result.weights);
    out["slack"] = result.slack;
    out["n_steps"] = result.n_steps;
    out["status"] = name_of(result.status);
    return out;
  }

 private:
  py::object rows_;
  int n_threads_;
  std::unique_ptr<HullDistance> search_;
};

}  // namespace

void bind_hull_distance(const py::module_& module) {
  py::class_<PyHullDistance>(module, "HullDistance")
      .def(py::init<py::object, int>(), py::arg("rows"), py::kw_only(), py::arg("n_threads"))
      .def("nearest", &PyHullDistance::nearest, py::arg("point"), py::kw_only(), py::arg("max_steps"));
}

}  // namespace fastpu
