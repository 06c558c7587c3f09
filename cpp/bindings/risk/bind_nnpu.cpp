#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/risk/nnpu.hpp"

namespace fastpu {

FASTPU_WORDS(PuLoss, "sigmoid", "logistic", "squared")
FASTPU_WORDS(NnpuStatus, "n_epochs", "early_stopping", "callback")
FASTPU_FIELDS(NnpuOptions, loss, prior, beta, gamma_nn, lam, learning_rate, scale, n_epochs, batch_size, seed,
              early_stopping_rounds)
FASTPU_FIELDS(NnpuEpoch, epoch, risk, positive, negative, n_reversed, eval_risk)

namespace {

// A net as Python has it: arrays of one type, float or double, hidden_coef of shape (n_features, n_hidden).
struct PyNet {
  py::object hidden_coef;
  py::object hidden_intercept;
  py::object coef;
  double intercept;
};

struct PyTraining {
  PyNet net;
  NnpuResult result;
};

template <class T>
PuNet<T> net_of(const PyNet& from) {
  PuNet<T> net;
  net.hidden_coef = vector_of<T>(from.hidden_coef, "hidden_coef");
  net.hidden_intercept = vector_of<T>(from.hidden_intercept, "hidden_intercept");
  net.coef = vector_of<T>(from.coef, "coef");
  net.intercept = static_cast<T>(from.intercept);
  net.n_hidden = static_cast<index_t>(net.hidden_intercept.size());
  const std::size_t size = net.n_hidden > 0 ? net.hidden_coef.size() / net.hidden_intercept.size() : net.coef.size();
  net.n_features = static_cast<index_t>(size);
  return net;
}

template <class T>
PyNet to_python(const PuNet<T>& net) {
  return {to_array(net.hidden_coef).reshape({net.n_features, net.n_hidden}), to_array(net.hidden_intercept),
          to_array(net.coef), static_cast<double>(net.intercept)};
}

// The values of one field of all epochs.
template <class Value>
py::array_t<Value> of_epochs(const NnpuResult& result, Value NnpuEpoch::* field) {
  std::vector<Value> values;
  values.reserve(result.epochs.size());
  for (const NnpuEpoch& epoch : result.epochs) values.push_back(epoch.*field);
  return to_array(values);
}

template <class View>
PuRows<View> rows_of(const View& x, const py::object& labels, const py::object& weights) {
  PuRows<View> rows;
  rows.x = x;
  rows.labels = view_1d<std::int8_t>(labels, "labels", x.n_rows);
  rows.weights = view_or_null<double>(weights, "weights", x.n_rows);
  return rows;
}

// `eval_rows` is None, or evaluation rows as (x, labels, weights).
PyTraining fit(const py::object& x, const py::object& labels, const py::object& weights, const PyNet& start,
               const NnpuOptions& options, const py::object& chosen, const py::object& eval_rows,
               const py::object& callback, int n_threads) {
  const NnpuCallback on_epoch = callback_of<NnpuEpoch>(callback);
  Team team = team_of_call(n_threads);
  const auto fit_view = [&]<class View>(const View& view) {
    using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
    PuRows<View> rows = rows_of(view, labels, weights);
    if (!chosen.is_none()) {
      rows.n_chosen = static_cast<index_t>(py::len(chosen));
      rows.chosen = view_1d<index_t>(chosen, "chosen", rows.n_chosen);
    }
    PuRows<View> judging;
    if (!eval_rows.is_none()) {
      const auto parts = eval_rows.cast<py::tuple>();
      const RowsView other = view_matrix(parts[0]);
      if (!std::holds_alternative<View>(other))
        throw py::type_error("x and x of eval_rows must have one form and type");
      judging = rows_of(std::get<View>(other), parts[1], parts[2]);
    }
    PuNet<T> net = net_of<T>(start);
    const PuRows<View>* const judges = eval_rows.is_none() ? nullptr : &judging;
    NnpuResult result = unlocked([&] { return fit_nnpu(rows, judges, options, on_epoch, team, net); });
    return PyTraining{to_python(net), std::move(result)};
  };
  return std::visit(fit_view, view_matrix(x));
}

py::array_t<double> score_net(const py::object& x, const PyNet& parameters, int n_threads) {
  Team team = team_of_call(n_threads);
  const auto score_view = [&]<class View>(const View& view) {
    using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
    const PuNet<T> net = net_of<T>(parameters);
    py::array_t<double> out(view.n_rows);
    double* const to = out.mutable_data();
    unlocked([&] { nnpu_scores(view, net, team, to); });
    return out;
  };
  return std::visit(score_view, view_matrix(x));
}

}  // namespace

void bind_nnpu(py::module_& module) {
  bind_options<NnpuOptions>(module, "NnpuOptions");
  py::class_<PyNet>(module, "Net")
      .def(py::init([](py::object hidden_coef, py::object hidden_intercept, py::object coef, double intercept) {
             return PyNet{std::move(hidden_coef), std::move(hidden_intercept), std::move(coef), intercept};
           }),
           py::kw_only(), py::arg("hidden_coef"), py::arg("hidden_intercept"), py::arg("coef"), py::arg("intercept"))
      .def_readonly("hidden_coef", &PyNet::hidden_coef)
      .def_readonly("hidden_intercept", &PyNet::hidden_intercept)
      .def_readonly("coef", &PyNet::coef)
      .def_readonly("intercept", &PyNet::intercept);
  py::class_<PyTraining> training(module, "NetTraining");
  training.def_readonly("net", &PyTraining::net);
  const auto add_epochs = [&](const char* name, auto field) {
    training.def_property_readonly(name, [field](const PyTraining& of) { return of_epochs(of.result, field); });
  };
  add_epochs("risk", &NnpuEpoch::risk);
  add_epochs("positive", &NnpuEpoch::positive);
  add_epochs("negative", &NnpuEpoch::negative);
  add_epochs("n_reversed", &NnpuEpoch::n_reversed);
  add_epochs("eval_risk", &NnpuEpoch::eval_risk);
  training.def_property_readonly("best_epoch", [](const PyTraining& of) { return of.result.best_epoch; });
  training.def_property_readonly("status", [](const PyTraining& of) { return word_of(of.result.status); });
  module.def("fit_nnpu", &fit, py::arg("x"), py::arg("labels"), py::arg("weights"), py::arg("start"),
             py::arg("options"), py::kw_only(), py::arg("chosen"), py::arg("eval_rows"), py::arg("callback"),
             py::arg("n_threads"));
  module.def("nnpu_scores", &score_net, py::arg("x"), py::arg("at"), py::kw_only(), py::arg("n_threads"));
}

}  // namespace fastpu
