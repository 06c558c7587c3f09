#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "common/arguments.hpp"
#include "common/bind_isa.hpp"
#include "fastpu/risk/nnpu.hpp"

namespace fastpu {

namespace {

const char* name_of(NnpuStatus status) {
  switch (status) {
    case NnpuStatus::n_epochs:
      return "n_epochs";
    case NnpuStatus::early_stopping:
      return "early_stopping";
    case NnpuStatus::callback:
      return "callback";
  }
  return "";
}

PuLoss loss_of(const std::string& name) {
  if (name == "sigmoid") return PuLoss::sigmoid;
  if (name == "logistic") return PuLoss::logistic;
  if (name == "squared") return PuLoss::squared;
  throw py::value_error("loss has no value '" + name + "'");
}

template <class T>
std::vector<T> values_of(const py::handle& array, const char* name) {
  if (!py::isinstance<Array<T>>(array)) throw py::type_error(std::string(name) + " has the wrong type for _core");
  const auto typed = py::reinterpret_borrow<Array<T>>(array);
  return std::vector<T>(typed.data(), typed.data() + typed.size());
}

// Converts a net to a dict of "hidden_coef" (n_features x n_hidden), "hidden_intercept" and "coef", arrays of one type,
// and "intercept".
template <class T>
PuNet<T> net_of(const py::dict& dict) {
  PuNet<T> net;
  net.hidden_coef = values_of<T>(dict["hidden_coef"], "hidden_coef");
  net.hidden_intercept = values_of<T>(dict["hidden_intercept"], "hidden_intercept");
  net.coef = values_of<T>(dict["coef"], "coef");
  net.intercept = static_cast<T>(dict["intercept"].cast<double>());
  net.n_hidden = static_cast<index_t>(net.hidden_intercept.size());
  const std::size_t size = net.n_hidden > 0 ? net.hidden_coef.size() / net.hidden_intercept.size() : net.coef.size();
  net.n_features = static_cast<index_t>(size);
  return net;
}

template <class T>
py::dict dict_of(const PuNet<T>& net) {
  py::dict out;
  py::array_t<T> hidden_coef({net.n_features, net.n_hidden});
  std::copy(net.hidden_coef.begin(), net.hidden_coef.end(), hidden_coef.mutable_data());
  out["hidden_coef"] = hidden_coef;
  out["hidden_intercept"] = to_array(net.hidden_intercept);
  out["coef"] = to_array(net.coef);
  out["intercept"] = static_cast<double>(net.intercept);
  return out;
}

template <class View>
PuRows<View> rows_of(const View& x, const py::handle& labels, const py::handle& weights) {
  PuRows<View> rows;
  rows.x = x;
  rows.labels = view_1d<std::int8_t>(labels, "labels", x.n_rows);
  if (!weights.is_none()) rows.weights = view_1d<double>(weights, "weights", x.n_rows);
  return rows;
}

template <class Value, class Member>
py::array_t<Value> column(const std::vector<NnpuEpoch>& epochs, Member member) {
  std::vector<Value> values;
  values.reserve(epochs.size());
  for (const NnpuEpoch& epoch : epochs) values.push_back(epoch.*member);
  return to_array(values);
}

py::dict fit(const py::object& x, const py::object& labels, const py::object& weights, const py::dict& start,
             const std::string& loss, double prior, bool non_negative, double beta, double gamma_nn, double lam,
             double weight_decay, double learning_rate, double scale, index_t n_epochs, index_t batch_size,
             std::uint64_t seed, index_t early_stopping_rounds, const py::object& chosen, const py::object& eval_x,
             const py::object& eval_labels, const py::object& eval_weights, const py::object& callback, int n_threads) {
  NnpuOptions options;
  options.risk = {loss_of(loss), prior, non_negative, beta, gamma_nn};
  options.lam = lam;
  options.weight_decay = weight_decay;
  options.learning_rate = learning_rate;
  options.scale = scale;
  options.n_epochs = n_epochs;
  options.batch_size = batch_size;
  options.seed = seed;
  options.early_stopping_rounds = early_stopping_rounds;
  NnpuCallback on_epoch;
  if (!callback.is_none()) {
    on_epoch = [&callback](const NnpuEpoch& seen) {
      const py::gil_scoped_acquire gil;
      return callback(seen.epoch, seen.risk, seen.n_reversed, seen.eval_risk).cast<bool>();
    };
  }
  const Isa level = isa_of_call();
  Team team(n_threads, interrupt_poll());
  const auto fit_view = [&]<class View>(const View& view) {
    using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
    PuRows<View> rows = rows_of(view, labels, weights);
    if (!chosen.is_none()) {
      rows.n_chosen = static_cast<index_t>(py::len(chosen));
      rows.chosen = view_1d<index_t>(chosen, "chosen", rows.n_chosen);
    }
    PuRows<View> eval;
    if (!eval_x.is_none()) {
      const MatrixView other = view_matrix(eval_x);
      if (!std::holds_alternative<View>(other)) throw py::type_error("x and eval_x must have one form and type");
      eval = rows_of(std::get<View>(other), eval_labels, eval_weights);
    }
    PuNet<T> net = net_of<T>(start);
    NnpuResult result;
    {
      const py::gil_scoped_release nogil;
      result = fit_nnpu(rows, eval_x.is_none() ? nullptr : &eval, options, on_epoch, level, team, net);
    }
    py::dict out;
    out["net"] = dict_of(net);
    out["risk"] = column<double>(result.epochs, &NnpuEpoch::risk);
    out["positive"] = column<double>(result.epochs, &NnpuEpoch::positive);
    out["negative"] = column<double>(result.epochs, &NnpuEpoch::negative);
    out["n_reversed"] = column<index_t>(result.epochs, &NnpuEpoch::n_reversed);
    out["eval_risk"] = column<double>(result.epochs, &NnpuEpoch::eval_risk);
    out["best_epoch"] = result.best_epoch;
    out["status"] = name_of(result.status);
    return out;
  };
  return std::visit(fit_view, view_matrix(x));
}

py::array_t<double> score_net(const py::object& x, const py::dict& parameters, int n_threads) {
  const Isa level = isa_of_call();
  Team team(n_threads, interrupt_poll());
  const auto score_view = [&]<class View>(const View& view) {
    using T = typename View::Value;  // NOLINT(readability-redundant-typename): clang before 16 wants it
    const PuNet<T> net = net_of<T>(parameters);
    py::array_t<double> out(view.n_rows);
    double* const to = out.mutable_data();
    {
      const py::gil_scoped_release nogil;
      nnpu_scores(view, net, level, team, to);
    }
    return out;
  };
  return std::visit(score_view, view_matrix(x));
}

}  // namespace

void bind_nnpu(py::module_& module) {
  module.def("fit_nnpu", &fit, py::arg("x"), py::arg("labels"), py::arg("weights").none(true), py::arg("start"),
             py::kw_only(), py::arg("loss"), py::arg("prior"), py::arg("non_negative"), py::arg("beta"),
             py::arg("gamma_nn"), py::arg("lam"), py::arg("weight_decay"), py::arg("learning_rate"), py::arg("scale"),
             py::arg("n_epochs"), py::arg("batch_size"), py::arg("seed"), py::arg("early_stopping_rounds"),
             py::arg("chosen").none(true), py::arg("eval_x").none(true), py::arg("eval_labels").none(true),
             py::arg("eval_weights").none(true), py::arg("callback").none(true), py::arg("n_threads"));
  module.def("nnpu_scores", &score_net, py::arg("x"), py::arg("at"), py::kw_only(), py::arg("n_threads"));
}

}  // namespace fastpu
