#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "common/arguments.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

KernelParams kernel_params(const std::string& kernel, double gamma, int degree, double coef0) {
  constexpr std::pair<const char*, KernelKind> kKinds[] = {{"linear", KernelKind::linear},
                                                           {"poly", KernelKind::poly},
                                                           {"rbf", KernelKind::rbf},
                                                           {"sigmoid", KernelKind::sigmoid}};
  for (const auto& [name, kind] : kKinds) {
    if (kernel == name) return {kind, gamma, degree, coef0};
  }
  throw py::value_error("kernel has no value '" + kernel + "'");
}

KernelFunction kernel_function(py::object function) {
  // Shared, so that copies of the closure made without the GIL touch no count of Python's.
  const auto held = std::shared_ptr<py::object>(new py::object(std::move(function)), [](py::object* object) {
    const py::gil_scoped_acquire gil;
    delete object;  // NOLINT(cppcoreguidelines-owning-memory): the deleter of a shared pointer
  });
  return [held](const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out) {
    const py::gil_scoped_acquire gil;
    const py::object values = (*held)(to_array(rows, n_rows), to_array(columns, n_columns));
    if (!py::isinstance<Array<double>>(values)) throw py::type_error("kernel values have the wrong type for _core");
    const auto array = py::reinterpret_borrow<Array<double>>(values);
    if (array.ndim() != 2 || array.shape(0) != n_rows || array.shape(1) != n_columns) {
      throw py::value_error("kernel values have the wrong shape for _core");
    }
    std::copy_n(array.data(), n_rows * n_columns, out);
  };
}

namespace {

py::array_t<double> score_kernel(const py::object& support, const py::object& x, const py::object& coefs,
                                 const py::object& intercepts, const std::string& kernel, double gamma, int degree,
                                 double coef0, int n_threads) {
  const KernelParams params = kernel_params(kernel, gamma, degree, coef0);
  const MatrixView support_view = view_matrix(support);
  const MatrixView x_view = view_matrix(x);
  if (support_view.index() != x_view.index()) throw py::type_error("support and x must have one form and type");
  KernelModels models;
  if (!py::isinstance<Array<double>>(coefs)) throw py::type_error("coefs has the wrong type for _core");
  const auto coef_array = py::reinterpret_borrow<Array<double>>(coefs);
  models.n_support = std::visit([](const auto& view) { return view.n_rows; }, support_view);
  if (coef_array.ndim() != 2 || coef_array.shape(0) != models.n_support) {
    throw py::value_error("coefs must have a row for each row of support");
  }
  models.coefs = coef_array.data();
  models.n_models = coef_array.shape(1);
  models.intercepts = view_1d<double>(intercepts, "intercepts", models.n_models);
  std::vector<index_t> rows(at(models.n_support));
  std::iota(rows.begin(), rows.end(), index_t{0});
  models.support = rows.data();
  const auto [n_x, same_width] = std::visit(
      [&](const auto& view) {
        const auto& other = std::get<std::remove_cvref_t<decltype(view)>>(support_view);
        return std::pair(view.n_rows, view.n_cols == other.n_cols);
      },
      x_view);
  if (!same_width) throw py::value_error("support and x must have the same number of columns");
  py::array_t<double> out({n_x, models.n_models});
  double* const to = out.mutable_data();
  Team team = team_of_call(n_threads);
  {
    const py::gil_scoped_release nogil;
    std::visit(
        [&](const auto& view) {
          const auto& other = std::get<std::remove_cvref_t<decltype(view)>>(support_view);
          kernel_scores(other, view, params, models, team, to);
        },
        x_view);
  }
  return out;
}

Array<double> matrix(const py::object& x, const py::object& y, const std::string& kernel, double gamma, int degree,
                     double coef0, int n_threads) {
  const KernelParams params = kernel_params(kernel, gamma, degree, coef0);
  const MatrixView x_view = view_matrix(x);
  const MatrixView y_view = view_matrix(y);
  if (x_view.index() != y_view.index()) throw py::type_error("x and y must have one form and type");
  return std::visit(
      [&]<class View>(const View& rows) -> Array<double> {
        if constexpr (!std::is_same_v<typename View::Value, double>) {
          throw py::type_error("x must have entries of type float64");
        } else {
          const auto& others = std::get<View>(y_view);
          if (rows.n_cols != others.n_cols) throw py::value_error("x and y must have the same number of columns");
          Array<double> out({rows.n_rows, others.n_rows});
          double* const to = out.mutable_data();
          Team team = team_of_call(n_threads);
          const py::gil_scoped_release nogil;
          kernel_matrix(rows, others, params, team, to);
          return out;
        }
      },
      x_view);
}

}  // namespace

void bind_kernel(py::module_& module) {
  module.def("kernel_scores", &score_kernel, py::arg("support"), py::arg("x"), py::arg("coefs"), py::arg("intercepts"),
             py::kw_only(), py::arg("kernel"), py::arg("gamma"), py::arg("degree"), py::arg("coef0"),
             py::arg("n_threads"));
  module.def("kernel_matrix", &matrix, py::arg("x"), py::arg("y"), py::kw_only(), py::arg("kernel"), py::arg("gamma"),
             py::arg("degree"), py::arg("coef0"), py::arg("n_threads"));
}

}  // namespace fastpu
