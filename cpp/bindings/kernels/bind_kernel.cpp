#include <pybind11/pybind11.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <variant>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/kernels/kernel.hpp"
#include "kernels/bind_kernel.hpp"

namespace fastpu {

FASTPU_WORDS(KernelKind, "linear", "poly", "rbf", "sigmoid")
FASTPU_FIELDS(KernelParams, kind, gamma, degree, coef0)

KernelFunction kernel_function(py::handle function) {
  return [function](const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out) {
    const py::gil_scoped_acquire gil;
    const py::object values = function(to_array(rows, n_rows), to_array(columns, n_columns));
    const auto array = check_2d<double>(values, "kernel values");
    if (array.shape(0) != n_rows || array.shape(1) != n_columns) {
      throw py::value_error("kernel values have the wrong shape for _core");
    }
    std::copy_n(array.data(), n_rows * n_columns, out);
  };
}

namespace {

// Checks that two matrices have one form and type, and the same number of columns.
void check_fit(const RowsView& a, const RowsView& b, const std::string& names) {
  if (a.index() != b.index()) throw py::type_error(names + " must have one form and type");
  if (n_columns(a) != n_columns(b)) throw py::value_error(names + " must have the same number of columns");
}

py::array_t<double> score_kernel(const py::object& support, const py::object& x, const py::object& coefs,
                                 const py::object& intercepts, const KernelParams& kernel, int n_threads) {
  const RowsView support_view = view_matrix(support);
  const RowsView x_view = view_matrix(x);
  check_fit(support_view, x_view, "support and x");
  KernelModels models;
  const auto coef_array = check_2d<double>(coefs, "coefs");
  models.n_support = n_rows(support_view);
  if (coef_array.shape(0) != models.n_support) throw py::value_error("coefs must have a row for each row of support");
  models.coefs = coef_array.data();
  models.n_models = coef_array.shape(1);
  models.intercepts = view_1d<double>(intercepts, "intercepts", models.n_models);
  std::vector<index_t> rows(at(models.n_support));
  std::iota(rows.begin(), rows.end(), index_t{0});
  models.support = rows.data();
  py::array_t<double> out({n_rows(x_view), models.n_models});
  double* const to = out.mutable_data();
  Team team = team_of_call(n_threads);
  const auto score = [&]<class View>(const View& view) {
    kernel_scores(std::get<View>(support_view), view, kernel, models, team, to);
  };
  unlocked([&] { std::visit(score, x_view); });
  return out;
}

py::array_t<double> matrix(const py::object& x, const py::object& y, const KernelParams& kernel, int n_threads) {
  const RowsView x_view = view_matrix(x);
  const RowsView y_view = view_matrix(y);
  check_fit(x_view, y_view, "x and y");
  py::array_t<double> out({n_rows(x_view), n_rows(y_view)});
  double* const to = out.mutable_data();
  Team team = team_of_call(n_threads);
  const auto fill = [&]<class View>(const View& rows) {
    if constexpr (std::is_same_v<typename View::Value, double>) {
      unlocked([&] { kernel_matrix(rows, std::get<View>(y_view), kernel, team, to); });
    } else {
      throw py::type_error("x must have entries of type float64");
    }
  };
  std::visit(fill, x_view);
  return out;
}

}  // namespace

void bind_kernel(py::module_& module) {
  bind_options<KernelParams>(module, "KernelParams");
  module.def("kernel_scores", &score_kernel, py::arg("support"), py::arg("x"), py::arg("coefs"), py::arg("intercepts"),
             py::arg("kernel"), py::kw_only(), py::arg("n_threads"));
  module.def("kernel_matrix", &matrix, py::arg("x"), py::arg("y"), py::arg("kernel"), py::kw_only(),
             py::arg("n_threads"));
}

}  // namespace fastpu
