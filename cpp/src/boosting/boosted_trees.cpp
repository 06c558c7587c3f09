#include "fastpu/boosting/boosted_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "boosting/eval_auc.hpp"
#include "boosting/local_boosted_rows.hpp"
#include "boosting/tree_booster.hpp"
#include "common/check_option.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/early_stopping.hpp"
#include "fastpu/common/random.hpp"
#include "fastpu/tree/tree_scores.hpp"
#include "tree/draw_bag.hpp"
#include "tree/grown_tree.hpp"
#include "tree/out_of_bag.hpp"

namespace fastpu {

namespace {

using detail::Booster;
using detail::check_at_least;
using detail::check_option;
using detail::GrownTree;
using detail::LocalBoostedRows;
using detail::MadeRound;
using detail::TreeFeatures;

// ---- Arguments ----

void check_options(const BinnedFeatures& features, const BoostEvalSet* eval, const BoostedTreesOptions& options) {
  check_at_least("n_rounds", options.n_rounds, 1);
  check_at_least("max_leaves", options.max_leaves, 2);
  check_at_least("max_depth", options.max_depth, -1);
  check_at_least("n_bags", options.n_bags, 0);
  if (options.n_bags > 0) detail::check_bag_options(options);
  check_at_least("early_stopping_rounds", options.early_stopping_rounds, 0);
  check_at_least("max_features", options.max_features, 0);
  const auto is_above_0 = [](double value) { return value > 0 && std::isfinite(value); };
  check_option(is_above_0(options.learning_rate), "learning_rate", "above 0", options.learning_rate);
  check_option(is_above_0(options.min_leaf_rows), "min_leaf_rows", "above 0", options.min_leaf_rows);
  check_option(options.min_leaf_hessian == 0 || is_above_0(options.min_leaf_hessian), "min_leaf_hessian", "at least 0",
               options.min_leaf_hessian);
  // Gains are divided by it where a leaf's sum of second derivatives is 0: a smaller one makes them infinite.
  check_option(options.lam == 0 || (options.lam >= 1e-12 && std::isfinite(options.lam)), "lam", "0 or at least 1e-12",
               options.lam);
  check_option(options.subsample_unl > 0 && options.subsample_unl <= 1, "subsample_unl", "in (0, 1]",
               options.subsample_unl);
  if (options.early_stopping_rounds > 0 && eval == nullptr) {
    throw std::invalid_argument("early_stopping_rounds needs an eval_set");
  }
  if (features.n_features > kMostTreeFeatures) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMostTreeFeatures) + " features");
  }
}

// ---- The result ----

// Adds the first n rounds to the result.
void keep_rounds(const std::vector<MadeRound>& rounds, index_t n, const Cuts& cuts, index_t first_set,
                 BoostedTreesResult& result) {
  for (index_t r = 0; r < n; ++r) {
    append_tree(rounds[at(r)].tree, cuts, first_set, result);
    result.tree_risk.push_back(rounds[at(r)].risk);
  }
}

// ---- All rows ----

// The scores of an evaluation set, and their AUC after each round.
class EvalScores {
 public:
  EvalScores(const BoostEvalSet& eval, const BinnedFeatures& training, const BoostedTreesOptions& options, Team& team)
      : eval_(eval),
        training_(training),
        stopping_(options.early_stopping_rounds),
        stops_early_(options.early_stopping_rounds > 0),
        auc_(eval, training, team),
        values_(at(auc_.n_rows())),
        team_(team) {
    if (options.init.n_trees > 0) add(options.init);
  }

  void add(const GrownTree& tree) {
    Trees one;
    append_tree(tree, *training_.cuts, 0, one);
    add({one.nodes.data(), std::ssize(one.nodes), one.tree_start.data(), 1, one.sets.data(), std::ssize(one.sets),
         training_.n_features});
  }

  // Ends a round; returns whether it is time to stop.
  bool end_round(BoostedTreesResult& result) {
    result.eval_auc.push_back(auc_.rank());
    stopping_.add(result.eval_auc.back());
    result.best_round = stops_early_ ? stopping_.best_round() : std::ssize(result.eval_auc);
    return stopping_.is_over();
  }

 private:
  void add(const TreesView& trees) {
    visit_features(eval_.features, [&](const auto& x) { tree_scores(trees, x, values_.data(), team_); });
    auc_.add_scores(values_.data());
  }

  const BoostEvalSet& eval_;
  const BinnedFeatures& training_;
  EarlyStopping stopping_;
  bool stops_early_;
  detail::EvalAuc auc_;
  std::vector<double> values_;
  Team& team_;
};

BoostedTreesResult boost_all_rows(const TreeFeatures& features, BoostedRows& rows, const BoostEvalSet* eval,
                                  const BoostedTreesOptions& options, const BoostedTreesCallback& callback,
                                  Team& team) {
  const index_t n_before = options.init.n_trees;
  Booster booster(features, rows, options, Random::derived(options.seed, 0), team, team.n_threads());
  std::unique_ptr<EvalScores> eval_scores;
  if (eval != nullptr) eval_scores = std::make_unique<EvalScores>(*eval, features.binned(), options, team);
  BoostedTreesResult result;
  std::vector<MadeRound> rounds;
  for (index_t round = 1; round <= options.n_rounds && result.status == BoostedTreesStatus::n_rounds; ++round) {
    team.poll();
    rounds.push_back(booster.make_round(n_before + round - 1));
    const MadeRound& made = rounds.back();
    if (made.tree.n_leaves() == 1 && !booster.draws()) {
      result.status = BoostedTreesStatus::no_gain;
      break;
    }
    result.risk.push_back(made.risk);
    result.best_round = round;
    if (eval_scores) {
      eval_scores->add(made.tree);
      if (eval_scores->end_round(result)) result.status = BoostedTreesStatus::early_stopping;
    }
    const double auc = eval_scores ? result.eval_auc.back() : std::numeric_limits<double>::quiet_NaN();
    if (callback && callback({0, n_before + round, made.tree.n_leaves(), made.tree.depth, made.risk, auc})) {
      result.status = BoostedTreesStatus::callback;
    }
  }
  result.risk.resize(at(result.best_round));
  keep_rounds(rounds, result.best_round, *features.binned().cuts, options.init.n_sets, result);
  return result;
}

// ---- Bags ----

// The rows of a bag: a training set of its own.
struct BagRows {
  BinnedFeatures features;
  std::vector<std::int8_t> labels;
  std::vector<double> weights;
};

struct BoostedBag {
  std::vector<MadeRound> rounds;
  detail::RowSet in_bag{0};
  std::vector<double> scores;  // of its rows, if it may go on
  bool has_ended = false;      // whether nothing is left to gain
};

class BagBooster {
 public:
  BagBooster(const BoostedTreesTrainingSet& train, const BoostedTreesOptions& options, Team& team)
      : train_(train),
        options_(options),
        team_(team),
        bags_(detail::DrawnGroup(rows_of(1), nullptr), detail::DrawnGroup(rows_of(0), nullptr), train.clusters,
              train.features->n_rows),
        negative_(rows_of(-1)),
        n_before_(options.init.n_trees / options.n_bags) {}

  // Adds rounds to a bag until it has n_rounds. The rows are drawn anew, so that only their scores are kept between.
  void boost(index_t number, index_t n_rounds, BoostedBag& boosted) const {
    const auto n_done = static_cast<index_t>(boosted.rounds.size());
    if (boosted.has_ended) return add_empty_rounds(boosted, n_rounds, 0);
    const std::uint64_t seed = Random::derived(options_.seed, static_cast<std::uint64_t>(number) + 1);
    const BagRows bag = draw(number, Random::derived(seed, 0), boosted.in_bag);
    BoostedTreesTrainingSet rows = train_;
    rows.features = &bag.features;
    rows.labels = bag.labels.data();
    rows.sample_weight = bag.weights.empty() ? nullptr : bag.weights.data();
    std::vector<index_t> starts;
    const TreesView init = n_done > 0 ? TreesView{} : trees_before(number, starts);
    LocalBoostedRows bag_rows(rows, options_, init, nullptr, team_, 1);
    if (n_done > 0) bag_rows.go_on_from(std::move(boosted.scores));
    Booster booster(bag_rows.features(), bag_rows, options_, Random::derived(seed, 1), team_, 1);
    for (index_t round = n_done; round < n_rounds && !boosted.has_ended; ++round) {
      MadeRound made = booster.make_round(n_before_ + round);
      boosted.has_ended = made.tree.n_leaves() == 1 && !booster.draws();
      if (!boosted.has_ended) boosted.rounds.push_back(std::move(made));
    }
    if (boosted.has_ended) add_empty_rounds(boosted, n_rounds, booster.risk());
    if (n_rounds < options_.n_rounds) boosted.scores = bag_rows.take_scores();
  }

 private:
  // The trees that a bag has before the fit, whose starts are written to `starts`.
  TreesView trees_before(index_t number, std::vector<index_t>& starts) const {
    TreesView trees = options_.init;
    trees.n_trees = n_before_;
    if (n_before_ == 0) return trees;
    const index_t* start = trees.tree_start + number * n_before_;
    for (index_t t = 0; t <= n_before_; ++t) starts.push_back(start[t] - start[0]);
    trees.nodes += start[0];
    trees.n_nodes = starts.back();
    trees.tree_start = starts.data();
    return trees;
  }

  // Rounds without a tree, for a bag in which nothing is left to gain; `start` is the risk before the first.
  static void add_empty_rounds(BoostedBag& boosted, index_t n_rounds, double start) {
    MadeRound nothing;
    nothing.risk = boosted.rounds.empty() ? start : boosted.rounds.back().risk;
    nothing.tree.add_node(0);
    boosted.rounds.resize(at(n_rounds), nothing);
  }

  std::vector<std::uint32_t> rows_of(int label) const {
    std::vector<std::uint32_t> rows;
    for (index_t i = 0; i < train_.features->n_rows; ++i) {
      const bool counts = train_.sample_weight == nullptr || train_.sample_weight[i] > 0;
      if (counts && train_.labels[i] == label) rows.push_back(static_cast<std::uint32_t>(i));
    }
    return rows;
  }

  BagRows draw(index_t number, std::uint64_t seed, detail::RowSet& in_bag) const {
    Random random(seed);
    std::vector<std::uint32_t> drawn = negative_;
    std::vector<std::uint32_t> places;
    bags_.draw(options_, number, random, places, drawn);
    std::ranges::sort(drawn);
    in_bag = bags_.in_bag(drawn);
    std::vector<index_t> rows;
    BagRows bag;
    for (const std::uint32_t row : drawn) {
      rows.push_back(static_cast<index_t>(row));
      bag.labels.push_back(train_.labels[row]);
      if (train_.sample_weight != nullptr) bag.weights.push_back(train_.sample_weight[row]);
    }
    bag.features = take_rows(*train_.features, rows.data(), static_cast<index_t>(rows.size()), team_);
    return bag;
  }

  const BoostedTreesTrainingSet& train_;
  const BoostedTreesOptions& options_;
  Team& team_;
  detail::PuBags bags_;
  std::vector<std::uint32_t> negative_;
  index_t n_before_;
};

// Boosts all bags until each has n_rounds, as many at once as there are threads, or until the callback says stop.
// Returns how many bags are done.
index_t grow_bags(const BagBooster& booster, index_t n_rounds, index_t n_before, const BoostedTreesCallback& callback,
                  Team& team, std::vector<BoostedBag>& bags, BoostedTreesResult& result) {
  const auto n_bags = static_cast<index_t>(bags.size());
  for (index_t first = 0; first < n_bags; first += team.n_threads()) {
    const index_t n = std::min<index_t>(team.n_threads(), n_bags - first);
    team.for_each(n, [&](index_t k, int) { booster.boost(first + k, n_rounds, bags[at(first + k)]); });
    for (index_t b = first; callback && b < first + n; ++b) {
      const MadeRound& last = bags[at(b)].rounds.back();
      const BoostedTreesRound info{b,
                                   n_before + n_rounds,
                                   last.tree.n_leaves(),
                                   last.tree.depth,
                                   last.risk,
                                   std::numeric_limits<double>::quiet_NaN()};
      if (!callback(info)) continue;
      result.status = BoostedTreesStatus::callback;
      return b + 1;
    }
  }
  return n_bags;
}

void score_out_of_bag(const BoostedTreesTrainingSet& train, const BoostedTreesOptions& options,
                      const std::vector<BoostedBag>& bags, Team& team, BoostedTreesResult& result) {
  result.oob_sum = make_vector<double>(train.features->n_rows, "the out-of-bag scores");
  result.oob_count = make_vector<std::int32_t>(train.features->n_rows, "the out-of-bag scores");
  if (options.init_oob_sum != nullptr) {
    std::copy_n(options.init_oob_sum, result.oob_sum.size(), result.oob_sum.begin());
  }
  for (const BoostedBag& bag : bags) {
    std::vector<detail::LeftOutRows> left_out;
    left_out.reserve(at(result.best_round));
    for (index_t r = 0; r < result.best_round; ++r) left_out.push_back({&bag.rounds[at(r)].tree, &bag.in_bag});
    add_out_of_bag(*train.features, left_out, result.oob_sum.data(), team);
    for (std::int32_t& count : result.oob_count) ++count;
    bag.in_bag.for_each([&](std::size_t row) { --result.oob_count[row]; });
  }
}

// How many rounds all bags have after the next step. Without early stopping one step makes all of them; with it, steps
// of `early_stopping_rounds` and more, so that few rounds are made for nothing and the rows are seldom drawn anew.
index_t end_of_step(index_t n_done, const BoostedTreesOptions& options) {
  const index_t patience = options.early_stopping_rounds;
  if (patience == 0) return options.n_rounds;
  const index_t step = std::max(patience, n_done / 4);
  return step < options.n_rounds - n_done ? n_done + step : options.n_rounds;
}

BoostedTreesResult boost_bags(const BoostedTreesTrainingSet& train, const BoostEvalSet* eval,
                              const BoostedTreesOptions& options, const BoostedTreesCallback& callback, Team& team) {
  const BagBooster booster(train, options, team);
  const index_t n_before = options.init.n_trees / options.n_bags;
  std::vector<BoostedBag> bags(at(options.n_bags));
  BoostedTreesResult result;
  std::unique_ptr<EvalScores> eval_scores;
  if (eval != nullptr) eval_scores = std::make_unique<EvalScores>(*eval, *train.features, options, team);
  bool has_gained = false;
  for (index_t n_done = 0; n_done < options.n_rounds && result.status == BoostedTreesStatus::n_rounds;) {
    const index_t end = end_of_step(n_done, options);
    const index_t n_grown = grow_bags(booster, end, n_before, callback, team, bags, result);
    if (n_grown < options.n_bags && n_done > 0) break;  // all bags must have as many rounds
    bags.resize(at(n_grown));
    for (index_t round = n_done; round < end && result.status != BoostedTreesStatus::early_stopping; ++round) {
      double risk = 0;
      for (const BoostedBag& bag : bags) {
        const MadeRound& made = bag.rounds[at(round)];
        risk += made.risk;
        has_gained = has_gained || made.tree.n_leaves() > 1;
        if (eval_scores) eval_scores->add(made.tree);
      }
      result.risk.push_back(risk / static_cast<double>(bags.size()));
      result.best_round = round + 1;
      if (!eval_scores || !eval_scores->end_round(result)) continue;
      if (result.status == BoostedTreesStatus::callback) break;
      result.status = BoostedTreesStatus::early_stopping;
    }
    n_done = end;
  }
  result.n_bags = static_cast<index_t>(bags.size());
  if (!has_gained && result.status == BoostedTreesStatus::n_rounds) result.status = BoostedTreesStatus::no_gain;
  result.risk.resize(at(result.best_round));
  score_out_of_bag(train, options, bags, team, result);
  for (const BoostedBag& bag : bags)
    keep_rounds(bag.rounds, result.best_round, *train.features->cuts, options.init.n_sets, result);
  return result;
}

}  // namespace

BoostedTreesResult boost_trees(const BoostedTreesTrainingSet& train, const BoostEvalSet* eval,
                               const BoostedTreesOptions& options, const BoostedTreesCallback& callback, Team& team) {
  check_options(*train.features, eval, options);
  if (options.n_bags > 0) return boost_bags(train, eval, options, callback, team);
  LocalBoostedRows rows(train, options, options.init, nullptr, team, team.n_threads());
  return boost_all_rows(rows.features(), rows, eval, options, callback, team);
}

BoostedTreesResult boost_member_trees(const BinnedFeatures& features, const std::uint8_t* categorical,
                                      BoostedRows& rows, const BoostEvalSet* eval, const BoostedTreesOptions& options,
                                      const BoostedTreesCallback& callback, Team& team) {
  check_options(features, eval, options);
  check_option(options.n_bags == 0, "n_bags", "0 for a member of a fit", static_cast<double>(options.n_bags));
  const TreeFeatures tree_features(features, categorical);
  return boost_all_rows(tree_features, rows, eval, options, callback, team);
}

}  // namespace fastpu
