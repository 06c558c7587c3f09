#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "boosting/bind_eval_set.hpp"
#include "boosting/joined_boosted_rows.hpp"
#include "common/arguments.hpp"
#include "common/bind_options.hpp"
#include "fastpu/boosting/boosted_trees.hpp"
#include "tree/bind_trees.hpp"

namespace fastpu {

namespace {

// By BoostedTreesStatus.
constexpr const char* kTreesStatus[] = {"n_rounds", "no_gain", "early_stopping", "callback"};

// `init` has the nodes, starts and sets of trees, or is None.
TreesView view_init(const py::object& init, index_t n_features) {
  if (init.is_none()) return {};
  const auto trees = init.cast<py::tuple>();
  if (trees.size() != 3) throw py::value_error("init must have 3 parts");
  return view_trees(trees[0], trees[1], trees[2], n_features);
}

// The rows of a member of a fit on several machines, and the Python objects whose memory they read.
class MemberRows {
 public:
  // Without labels the member has no rows, and `features` have the cuts alone. `numbers` are those of the own rows of U
  // among n_unlabelled in all, where rows are drawn. The scores begin at those of the trees `init`.
  MemberRows(std::shared_ptr<BinnedFeatures> features, py::object labels, py::object sample_weight,
             py::object categorical, const BoostedTreesOptions& options, const py::object& init, index_t n_unlabelled,
             py::object numbers, py::object bring, int n_threads)
      : features_(std::move(features)),
        arrays_{std::move(labels), std::move(sample_weight), std::move(categorical), std::move(numbers)},
        team_(team_of_call(n_threads)),
        train_(view_training_set<BoostedTreesTrainingSet>(*features_, arrays_[0], arrays_[1], arrays_[2])) {
    const bool has_rows = train_.labels != nullptr;
    std::unique_ptr<BoostedRows> own;
    if (has_rows) {
      place_ = {n_unlabelled, arrays_[3].is_none() ? nullptr : checked_numbers(n_unlabelled)};
      const TreesView trees = view_init(init, features_->n_features);
      own = unlocked([&] {
        return make_boosted_rows(train_, options, trees.n_trees > 0 ? &trees : nullptr, &place_, team_,
                                 team_.n_threads());
      });
    }
    rows_ = std::make_unique<JoinedBoostedRows>(std::move(own), *features_, Together(std::move(bring), has_rows));
  }

  BoostedRows& rows() { return *rows_; }

 private:
  const std::uint32_t* checked_numbers(index_t n_unlabelled) const {
    index_t n_own = 0;
    for (index_t i = 0; i < features_->n_rows; ++i) {
      const bool counts = train_.sample_weight == nullptr || train_.sample_weight[i] > 0;
      if (counts && train_.labels[i] == 0) ++n_own;
    }
    const auto* numbers = view_1d<std::uint32_t>(arrays_[3], "numbers", n_own);
    if (!std::all_of(numbers, numbers + n_own, [&](index_t number) { return number < n_unlabelled; })) {
      throw py::value_error("numbers are out of range");
    }
    return numbers;
  }

  std::shared_ptr<BinnedFeatures> features_;
  std::vector<py::object> arrays_;  // their memory is read
  Team team_;
  BoostedTreesTrainingSet train_;
  ShardPlace place_;
  std::unique_ptr<BoostedRows> rows_;
};

// Labels are None where `rows` are those of a member.
BoostedTreesResult fit_trees(const BinnedFeatures& features, const py::object& labels, const py::object& sample_weight,
                             const py::object& categorical, BoostedTreesOptions options, const py::object& init,
                             const py::object& init_oob_sum, const py::object& eval_set, const py::object& callback,
                             int n_threads, MemberRows* rows) {
  options.init = view_init(init, features.n_features);
  options.init_oob_sum = view_or_null<double>(init_oob_sum, "init_oob_sum", features.n_rows);
  const auto train = view_training_set<BoostedTreesTrainingSet>(features, labels, sample_weight, categorical);
  const std::optional<BoostEvalSet> eval = view_eval_set(eval_set);
  using Round = BoostedTreesRound;
  const BoostedTreesCallback on_round = callback_of<Round>(callback, &Round::bag, &Round::round, &Round::n_leaves,
                                                           &Round::depth, &Round::risk, &Round::eval_auc);
  Team team = team_of_call(n_threads);
  if (rows == nullptr && labels.is_none()) throw py::value_error("labels must be given where rows are");
  const py::gil_scoped_release nogil;
  if (rows != nullptr) {
    return boost_trees(features, train.categorical, rows->rows(), eval ? &*eval : nullptr, options, on_round, team);
  }
  return boost_trees(train, eval ? &*eval : nullptr, options, on_round, team);
}

}  // namespace

void bind_boosted_trees(py::module_& module) {
  using Options = BoostedTreesOptions;
  OptionsBinding<Options>(module, "BoostedTreesOptions")
      .field("loss", &Options::loss)
      .field("gamma", &Options::gamma)
      .field("prior", &Options::prior)
      .field("n_rounds", &Options::n_rounds)
      .field("learning_rate", &Options::learning_rate)
      .field("max_leaves", &Options::max_leaves)
      .field("max_depth", &Options::max_depth)
      .field("min_leaf_rows", &Options::min_leaf_rows)
      .field("min_leaf_hessian", &Options::min_leaf_hessian)
      .field("lam", &Options::lam)
      .field("subsample_unl", &Options::subsample_unl)
      .field("max_features", &Options::max_features)
      .field("n_bags", &Options::n_bags)
      .field("bag_unl", &Options::bag_unl)
      .field("replace_unl", &Options::replace_unl)
      .field("seed", &Options::seed)
      .field("early_stopping_rounds", &Options::early_stopping_rounds);
  py::class_<MemberRows>(module, "BoostedRows")
      .def(py::init<std::shared_ptr<BinnedFeatures>, py::object, py::object, py::object, const Options&,
                    const py::object&, index_t, py::object, py::object, int>(),
           py::arg("features").none(false), py::arg("labels"), py::arg("sample_weight"), py::arg("categorical"),
           py::arg("options"), py::kw_only(), py::arg("init"), py::arg("n_unlabelled"), py::arg("numbers"),
           py::arg("bring"), py::arg("n_threads"));
  using Result = BoostedTreesResult;
  auto result = bind_tree_result<Result>(module, "BoostedTreesResult");
  add_array(result, "tree_risk", &Result::tree_risk);
  add_array(result, "risk", &Result::risk);
  add_array(result, "eval_auc", &Result::eval_auc);
  result.def_readonly("n_bags", &Result::n_bags)
      .def_readonly("best_round", &Result::best_round)
      .def_property_readonly("status", [](const Result& made) { return kTreesStatus[static_cast<int>(made.status)]; });
  module.def("boost_trees", &fit_trees, py::arg("features"), py::arg("labels"), py::arg("sample_weight"),
             py::arg("categorical"), py::arg("options"), py::kw_only(), py::arg("init"), py::arg("init_oob_sum"),
             py::arg("eval_set"), py::arg("callback"), py::arg("n_threads"), py::arg("rows"));
}

}  // namespace fastpu
