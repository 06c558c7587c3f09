#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "boosting/bind_eval_set.hpp"
#include "boosting/python_exchange.hpp"
#include "common/arguments.hpp"
#include "common/bind_struct.hpp"
#include "fastpu/boosting/boosted_trees.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

FASTPU_WORDS(BoostedTreesStatus, "n_rounds", "no_gain", "early_stopping", "callback")
FASTPU_FIELDS(BoostedTreesOptions, loss, gamma, prior, n_rounds, learning_rate, max_leaves, max_depth, min_leaf_rows,
              min_leaf_hessian, lam, subsample_unl, max_features, n_bags, repeats_pos, bag_unl, replace_unl, seed,
              early_stopping_rounds)
FASTPU_FIELDS(BoostedTreesRound, bag, round, n_leaves, depth, risk, eval_auc)
FASTPU_FIELDS(BoostedTreesResult, tree_start, tree_risk, risk, eval_auc, oob_sum, oob_count, n_bags, best_round, status)

namespace {

// `init` has the nodes, starts and sets of trees, or is None.
TreesView view_init(const py::object& init, index_t n_features) {
  if (init.is_none()) return {};
  const auto trees = init.cast<py::tuple>();
  return view_trees(trees[0], trees[1], trees[2], n_features);
}

// The rows of a member of a fit on several machines, joined with those of the others by an exchange.
class MemberRows {
 public:
  // Without labels the member has no rows, and `features` have the cuts alone. `numbers` are those of the own rows of U
  // among n_unlabelled in all, where rows are drawn. The scores begin at those of the trees `init`.
  MemberRows(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
             const py::object& categorical, const BoostedTreesOptions& options, const py::object& init,
             index_t n_unlabelled, const py::object& numbers, const py::object& exchange, int n_threads)
      : team_(team_of_call(n_threads)),
        train_(view_training_set<BoostedTreesTrainingSet>(features, labels, sample_weight, categorical)),
        exchange_(exchange, train_.labels != nullptr) {
    std::unique_ptr<BoostedRows> own;
    if (train_.labels != nullptr) {
      const TreesView trees = view_init(init, features.n_features);
      own = unlocked([&] { return make_boosted_rows(train_, options, trees, &place_, team_, team_.n_threads()); });
      place_ = {n_unlabelled, checked_numbers(numbers, own->counts().n_unlabelled, n_unlabelled)};
    }
    rows_ = join_boosted_rows(std::move(own), features, exchange_);
  }

  const BoostedTreesTrainingSet& train() const { return train_; }
  BoostedRows& rows() { return *rows_; }

 private:
  static const std::uint32_t* checked_numbers(const py::object& array, index_t n_own, index_t n_unlabelled) {
    const auto* numbers = view_or_null<std::uint32_t>(array, "numbers", n_own);
    const auto is_wrong = [=](index_t number) { return number >= n_unlabelled; };
    const auto* wrong = numbers == nullptr ? nullptr : std::find_if(numbers, numbers + n_own, is_wrong);
    if (wrong != nullptr && wrong != numbers + n_own) {
      throw py::value_error("numbers must be below " + std::to_string(n_unlabelled) + ", got " +
                            std::to_string(*wrong));
    }
    return numbers;
  }

  Team team_;
  BoostedTreesTrainingSet train_;
  PythonExchange exchange_;
  ShardPlace place_;
  std::unique_ptr<BoostedRows> rows_;
};

Fields<BoostedTreesResult> boost_rows(const BinnedFeatures& features, const py::object& labels,
                                      const py::object& sample_weight, const py::object& categorical,
                                      BoostedTreesOptions options, const py::object& clusters, const py::object& init,
                                      const py::object& init_oob_sum, const py::object& eval_set,
                                      const py::object& callback, int n_threads) {
  options.init = view_init(init, features.n_features);
  options.init_oob_sum = view_or_null<double>(init_oob_sum, "init_oob_sum", features.n_rows);
  const auto train = view_training_set<BoostedTreesTrainingSet>(features, labels, sample_weight, categorical, clusters);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  const BoostedTreesCallback on_round = callback_of<BoostedTreesRound>(callback);
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return {boost_trees(train, eval ? &*eval : nullptr, options, on_round, team)};
}

Fields<BoostedTreesResult> boost_member(MemberRows& member, BoostedTreesOptions options, const py::object& init,
                                        const py::object& eval_set, const py::object& callback, int n_threads) {
  const BoostedTreesTrainingSet& train = member.train();
  options.init = view_init(init, train.features->n_features);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  const BoostedTreesCallback on_round = callback_of<BoostedTreesRound>(callback);
  Team team = team_of_call(n_threads);
  const py::gil_scoped_release nogil;
  return {boost_member_trees(*train.features, train.categorical, member.rows(), eval ? &*eval : nullptr, options,
                             on_round, team)};
}

}  // namespace

void bind_boosted_trees(py::module_& module) {
  bind_options<BoostedTreesOptions>(module, "BoostedTreesOptions");
  bind_tree_result<BoostedTreesResult>(module, "BoostedTreesResult");
  py::class_<MemberRows>(module, "MemberRows")
      .def(
          py::init<const BinnedFeatures&, const py::object&, const py::object&, const py::object&,
                   const BoostedTreesOptions&, const py::object&, index_t, const py::object&, const py::object&, int>(),
          py::keep_alive<1, 2>(), py::keep_alive<1, 3>(), py::keep_alive<1, 4>(), py::keep_alive<1, 5>(),
          py::keep_alive<1, 9>(), py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
          py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("init"), py::arg("n_unlabelled"),
          py::arg("numbers"), py::arg("exchange"), py::arg("n_threads"));
  module.def("boost_trees", &boost_rows, py::arg("features"), py::arg("labels").none(false), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("clusters"), py::arg("init"),
             py::arg("init_oob_sum"), py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"));
  module.def("boost_member_trees", &boost_member, py::arg("rows"), py::arg("options"), py::kw_only(), py::arg("init"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"));
}

}  // namespace fastpu
