#include <pybind11/pybind11.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/boosting/tree_loss.hpp"

namespace fastpu {

FASTPU_FIELDS(TreeLossOptions, loss, gamma, prior)
FASTPU_FIELDS(TreeLossInfo, name, takes_negatives, needs_gamma, needs_prior, is_by_row)

namespace {

// Copies an array of exactly as many numbers.
template <class Numbers>
Numbers unpack(const py::handle& array, const char* name) {
  Numbers numbers;
  using T = std::decay_t<decltype(numbers.values[0])>;
  std::copy_n(view_1d<T>(array, name, std::ssize(numbers.values)), numbers.values.size(), numbers.values.begin());
  return numbers;
}

class BoundLoss {
 public:
  BoundLoss(const py::object& labels, const py::object& sample_weight, const TreeLossOptions& options, int n_threads) {
    rows_.labels = view_1d<std::int8_t>(labels, "labels");
    rows_.n_rows = static_cast<index_t>(py::len(labels));
    rows_.sample_weight = view_or_null<double>(sample_weight, "sample_weight", rows_.n_rows);
    Team team = team_of_call(n_threads);
    const py::gil_scoped_release nogil;
    loss_ = make_tree_loss(rows_, options, team);
  }

  py::array_t<double> tops(const py::object& scores, int n_threads) const {
    const TreeLossScores of = view(scores);
    Team team = team_of_call(n_threads);
    return to_array(unlocked([&] { return loss_->tops(of, team); }).values);
  }

  py::array_t<std::int64_t> sums(const py::object& scores, const py::object& tops, int n_threads) const {
    const TreeLossScores of = view(scores);
    const TreeLossTops relative_to = unpack<TreeLossTops>(tops, "tops");
    Team team = team_of_call(n_threads);
    return to_array(unlocked([&] { return loss_->sums(of, relative_to, team); }).values);
  }

  double objective(const py::object& tops, const py::object& sums) const {
    return loss_->objective(unpack<TreeLossTops>(tops, "tops"), unpack<TreeLossSums>(sums, "sums"));
  }

  py::tuple derive(const py::object& scores, const py::object& tops, const py::object& sums, int n_threads) const {
    const TreeLossScores of = view(scores);
    const TreeLossTops all_tops = unpack<TreeLossTops>(tops, "tops");
    const TreeLossSums all_sums = unpack<TreeLossSums>(sums, "sums");
    return written(n_threads,
                   [&](double* g, double* h, Team& team) { loss_->derive(of, all_tops, all_sums, g, h, team); });
  }

  py::tuple derive_alone(const py::object& scores, int n_threads) const {
    const TreeLossScores of = view(scores);
    return written(n_threads, [&](double* g, double* h, Team& team) { loss_->derive_alone(of, g, h, team); });
  }

 private:
  template <class Write>
  py::tuple written(int n_threads, Write&& write) const {
    py::array_t<double> g(static_cast<py::ssize_t>(rows_.n_rows));
    py::array_t<double> h(static_cast<py::ssize_t>(rows_.n_rows));
    double* const to_g = g.mutable_data();
    double* const to_h = h.mutable_data();
    Team team = team_of_call(n_threads);
    unlocked([&] { write(to_g, to_h, team); });
    return py::make_tuple(g, h);
  }
  TreeLossScores view(const py::object& scores) const {
    if (py::isinstance<Array<float>>(scores)) return {.narrow = view_1d<float>(scores, "scores", rows_.n_rows)};
    return {.scores = view_1d<double>(scores, "scores", rows_.n_rows)};
  }

  TreeLossRows rows_;
  std::unique_ptr<TreeLoss> loss_;
};

py::list list_losses() {
  py::list losses;
  for (const TreeLossInfo& info : tree_losses()) losses.append(Fields<TreeLossInfo>{{info}});
  return losses;
}

}  // namespace

void bind_tree_loss(py::module_& module) {
  bind_options<TreeLossOptions>(module, "TreeLossOptions");
  bind_result<TreeLossInfo>(module, "TreeLossInfo");
  module.def("tree_losses", &list_losses);
  py::class_<BoundLoss>(module, "TreeLoss")
      .def(py::init<const py::object&, const py::object&, const TreeLossOptions&, int>(), py::keep_alive<1, 2>(),
           py::keep_alive<1, 3>(), py::arg("labels"), py::arg("sample_weight"), py::arg("options"), py::kw_only(),
           py::arg("n_threads"))
      .def("tops", &BoundLoss::tops, py::arg("scores"), py::arg("n_threads"))
      .def("sums", &BoundLoss::sums, py::arg("scores"), py::arg("tops"), py::arg("n_threads"))
      .def("objective", &BoundLoss::objective, py::arg("tops"), py::arg("sums"))
      .def("derive_alone", &BoundLoss::derive_alone, py::arg("scores"), py::arg("n_threads"))
      .def("derive", &BoundLoss::derive, py::arg("scores"), py::arg("tops"), py::arg("sums"), py::arg("n_threads"));
}

}  // namespace fastpu
