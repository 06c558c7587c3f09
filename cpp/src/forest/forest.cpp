#include "fastpu/forest/forest.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check_option.hpp"
#include "common/pacer.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "tree/draw_bag.hpp"
#include "tree/out_of_bag.hpp"
#include "tree/pu_dense_rows.hpp"
#include "tree/pu_sparse_rows.hpp"
#include "tree/pu_tree.hpp"

namespace fastpu {

namespace {

using detail::Bag;
using detail::check_at_least;
using detail::check_option;
using detail::DrawnGroup;
using detail::GrownTree;
using detail::PuBags;
using detail::RowSet;

// The number of trees that are grown before their out-of-bag rows are scored: some for each thread, so that no thread
// waits long for the others.
index_t trees_at_once(const Team& team) { return std::max<index_t>(16, index_t{4} * team.n_threads()); }

// ---- Arguments ----

void check_options(const ForestTrainingSet& train, const ForestOptions& options) {
  check_at_least("n_trees", options.n_trees, 1);
  check_at_least("first_tree", options.first_tree, 0);
  check_at_least("first_set", options.first_set, 0);
  detail::check_bag_options(options);
  check_at_least("max_features", options.max_features, 1);
  check_at_least("min_leaf_rows", options.min_leaf_rows, 1);
  check_at_least("max_depth", options.max_depth, -1);
  check_at_least("max_leaves", options.max_leaves, 0);
  check_option(options.prior > 0 && options.prior < 1, "prior", "in (0, 1)", options.prior);
  if (train.features->n_features > kMostTreeFeatures) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMostTreeFeatures) + " features");
  }
}

PuBags bags_of(const ForestTrainingSet& train, Team& team) {
  const index_t n = train.features->n_rows;
  const index_t n_positive = std::count(train.labels, train.labels + n, std::int8_t{1});
  std::vector<std::uint32_t> rows[2] = {reserve_vector<std::uint32_t>(n - n_positive, "the unlabelled rows"),
                                        reserve_vector<std::uint32_t>(n_positive, "the positive rows")};
  detail::Pacer(team).run(0, n, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      const std::int8_t label = train.labels[i];
      if (label != 0 && label != 1) {
        throw std::invalid_argument("labels must be 1 or 0, got " + std::to_string(label));
      }
      rows[label].push_back(static_cast<std::uint32_t>(i));
    }
  });
  if (rows[0].empty() || rows[1].empty()) throw std::invalid_argument("there must be rows of both labels");
  PuBags bags(DrawnGroup(std::move(rows[1]), train.sample_weight), DrawnGroup(std::move(rows[0]), train.sample_weight),
              train.clusters, n);
  if (bags.n_positive() == 0 || bags.n_unlabelled() == 0) {
    throw std::invalid_argument("sample_weight must be positive for a row of each label");
  }
  return bags;
}

// ---- One tree ----

std::uint64_t seed_of(const ForestOptions& options, index_t number) {
  return Random::derived(options.seed, static_cast<std::uint64_t>(options.first_tree + number));
}

index_t draws_of(const ForestOptions& options, index_t number) {
  return detail::draws_of_bag(options, options.first_tree + number);
}

struct BaggedTree {
  GrownTree tree;
  RowSet in_bag;
};

// Grows tree after tree for one worker.
template <class Rows>
class Grower {
 public:
  Grower(const detail::TreeFeatures& features, ForestOptions options, Team& team)
      : features_(features), options_(std::move(options)), team_(team), rows_(features, team.isa()) {}

  // Draws the bag of tree `number`, and grows the tree on it.
  BaggedTree grow(index_t number, const PuBags& bags) {
    Random random(Random::derived(seed_of(options_, number), 0));
    bag_.rows.clear();
    bag_.n_pos =
        static_cast<std::uint32_t>(bags.draw(options_, options_.first_tree + number, random, places_, bag_.rows));
    RowSet in_bag = bags.in_bag(bag_.rows);
    return {grow_on_bag(number), std::move(in_bag)};
  }

  // Grows tree `number` on its bag among those drawn before.
  GrownTree grow(index_t number, const ForestBags& bags) {
    bag_.rows.assign(bags.rows.begin() + bags.start[at(number)], bags.rows.begin() + bags.start[at(number) + 1]);
    bag_.n_pos = static_cast<std::uint32_t>(bags.n_pos);
    return grow_on_bag(number);
  }

 private:
  GrownTree grow_on_bag(index_t number) {
    const detail::PuCounts all = bag_.range().counts();
    const std::uint64_t key = Random::derived(seed_of(options_, number), 1);
    if (options_.loss == ForestLoss::gini) return grow(detail::GiniCriterion(all), key);
    return grow(detail::RiskCriterion(all, options_.prior, options_.loss == ForestLoss::nnpu), key);
  }

  template <class Criterion>
  GrownTree grow(const Criterion& criterion, std::uint64_t key) {
    detail::PuTreeGrower<Rows, Criterion> grower(features_, options_, rows_);
    detail::Pacer pacer(team_);
    const index_t row_steps = 1 + options_.max_features + features_.binned().n_features / 16;
    return grower.grow(rows_.start(bag_), criterion, key, [&](std::uint32_t n) { pacer.add((n + 8) * row_steps); });
  }

  const detail::TreeFeatures& features_;
  ForestOptions options_;
  Team& team_;
  Rows rows_;
  Bag bag_;
  std::vector<std::uint32_t> places_;
};

// Returns body(std::type_identity<Rows>()) with the kind of rows for codes of this width.
template <class Body>
ForestResult with_rows_type(CodeWidth width, Body&& body) {
  if (width == CodeWidth::sparse) return body(std::type_identity<detail::PuSparseRows>());
  return with_code_type(width, [&]<class Code>(Code) { return body(std::type_identity<detail::PuDenseRows<Code>>()); });
}

// ---- All trees ----

// Makes room for the other trees, taken to be like the first ones: a vector that grows by doubling would hold all nodes
// twice for a while. Memory that is never written to costs nothing.
void reserve_others(index_t n_trees, ForestResult& result) {
  constexpr double kMost = 1 << 27;
  const auto n_nodes = static_cast<double>(result.nodes.size());
  const double expected =
      1.1 * n_nodes * static_cast<double>(n_trees) / static_cast<double>(result.tree_start.size() - 1);
  or_out_of_memory<TreeNode>(static_cast<index_t>(std::min(expected, kMost)), "the nodes of the trees",
                             [&](std::size_t size) { result.nodes.reserve(size); });
}

template <class Rows>
ForestResult grow_and_score(const ForestTrainingSet& train, const ForestOptions& options,
                            const ForestCallback& callback, Team& team) {
  const detail::TreeFeatures features(*train.features, train.categorical);
  const PuBags bags = bags_of(train, team);
  ForestResult result;
  result.oob_sum = make_vector<double>(train.features->n_rows, "the out-of-bag scores");
  result.oob_count = make_vector<std::int32_t>(train.features->n_rows, "the out-of-bag scores");
  if (options.oob_sum != nullptr) std::copy_n(options.oob_sum, result.oob_sum.size(), result.oob_sum.begin());
  if (options.oob_count != nullptr) std::copy_n(options.oob_count, result.oob_count.size(), result.oob_count.begin());
  std::vector<std::unique_ptr<Grower<Rows>>> growers(at(team.n_threads()));
  const index_t at_once = trees_at_once(team);
  const auto is_going_on = [&] { return result.status == ForestStatus::n_trees; };
  for (index_t first = 0; first < options.n_trees && is_going_on(); first += at_once) {
    const index_t n = std::min(at_once, options.n_trees - first);
    std::vector<BaggedTree> trees(at(n), BaggedTree{{}, RowSet(0)});
    team.for_each(n, [&](index_t k, int worker) {
      auto& grower = growers[at(worker)];
      if (!grower) grower = std::make_unique<Grower<Rows>>(features, options, team);
      trees[at(k)] = grower->grow(first + k, bags);
    });
    for (std::size_t k = 0; k < trees.size() && callback && is_going_on(); ++k) {
      const index_t number = options.first_tree + first + static_cast<index_t>(k);
      if (!callback({number, trees[k].tree.n_leaves(), trees[k].tree.depth})) continue;
      result.status = ForestStatus::callback;
      trees.erase(trees.begin() + static_cast<std::ptrdiff_t>(k) + 1, trees.end());
    }
    std::vector<detail::LeftOutRows> left_out;
    left_out.reserve(trees.size());
    for (const BaggedTree& tree : trees) left_out.push_back({&tree.tree, &tree.in_bag});
    add_out_of_bag(*train.features, left_out, result.oob_sum.data(), team);
    for (std::int32_t& count : result.oob_count) count += static_cast<std::int32_t>(trees.size());
    for (const BaggedTree& tree : trees) tree.in_bag.for_each([&](std::size_t row) { --result.oob_count[row]; });
    for (const BaggedTree& tree : trees) append_tree(tree.tree, *train.features->cuts, options.first_set, result);
    if (first == 0) reserve_others(options.n_trees, result);
  }
  return result;
}

// ---- Trees on bags that were drawn before ----

void check_bags(const BinnedFeatures& features, const ForestBags& bags, const ForestOptions& options) {
  check_at_least("n_pos", bags.n_pos, 1);
  const auto n_rows = static_cast<index_t>(bags.rows.size());
  if (std::ssize(bags.start) != options.n_trees + 1 || bags.start.front() != 0 || bags.start.back() != n_rows) {
    throw std::invalid_argument("start must have the beginnings of " + std::to_string(options.n_trees) +
                                " bags, and the end of the last, " + std::to_string(n_rows));
  }
  for (index_t t = 0; t < options.n_trees; ++t) {
    check_at_least("n_unl", bags.start[at(t + 1)] - bags.start[at(t)] - bags.n_pos, 1);
  }
  for (const std::uint32_t row : bags.rows) {
    if (static_cast<index_t>(row) < features.n_rows) continue;
    throw std::invalid_argument("row " + std::to_string(row) + " is out of range for binned features of " +
                                std::to_string(features.n_rows) + " rows");
  }
}

template <class Rows>
ForestResult grow_on_drawn_bags(const ForestTrainingSet& train, const ForestBags& bags, const ForestOptions& options,
                                Team& team) {
  const detail::TreeFeatures features(*train.features, train.categorical);
  std::vector<std::unique_ptr<Grower<Rows>>> growers(at(team.n_threads()));
  std::vector<GrownTree> trees(at(options.n_trees));
  team.for_each(options.n_trees, [&](index_t k, int worker) {
    auto& grower = growers[at(worker)];
    if (!grower) grower = std::make_unique<Grower<Rows>>(features, options, team);
    trees[at(k)] = grower->grow(k, bags);
  });
  ForestResult result;
  for (const GrownTree& tree : trees) append_tree(tree, *train.features->cuts, options.first_set, result);
  return result;
}

std::vector<std::uint32_t> numbers_from(index_t first, index_t n) {
  auto numbers = make_vector<std::uint32_t>(n, "the rows of a group");
  std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(first));
  return numbers;
}

// Appends the draws of U for a bag, where all of its rows are alike.
void draw_alike(const BagGroups& groups, index_t draws, bool replaces, Random& random,
                std::vector<std::uint32_t>& drawn) {
  const std::size_t first = drawn.size();
  if (replaces) {
    for (index_t i = 0; i < draws; ++i) drawn.push_back(random.scaled(static_cast<std::uint32_t>(groups.n_unl)));
  } else {
    detail::draw_places(groups.n_unl, draws, random, drawn);
  }
  for (std::size_t i = first; i < drawn.size(); ++i) drawn[i] += static_cast<std::uint32_t>(groups.n_pos);
}

}  // namespace

ForestBags draw_bags(const BagGroups& groups, const ForestOptions& options, Team& team) {
  check_at_least("n_trees", options.n_trees, 1);
  check_at_least("first_tree", options.first_tree, 0);
  detail::check_bag_options(options);
  const index_t n_rows = groups.n_pos + groups.n_unl;
  if (groups.n_pos < 1 || groups.n_unl < 1 || n_rows > index_t{0xffffffff}) {
    throw std::invalid_argument("there must be rows of both labels, 4294967295 at most together, got " +
                                std::to_string(groups.n_pos) + " and " + std::to_string(groups.n_unl));
  }
  const bool are_alike = groups.sample_weight == nullptr && groups.clusters == nullptr;  // then U is not listed
  const PuBags bags(DrawnGroup(numbers_from(0, groups.n_pos), groups.sample_weight),
                    DrawnGroup(numbers_from(groups.n_pos, are_alike ? 0 : groups.n_unl), groups.sample_weight),
                    groups.clusters, n_rows, groups.n_clusters);
  if (bags.n_positive() < groups.n_pos || (!are_alike && bags.n_unlabelled() < groups.n_unl)) {
    throw std::invalid_argument("the weights of rows to be drawn must be positive");
  }
  std::vector<std::vector<std::uint32_t>> drawn(at(options.n_trees));
  std::vector<std::vector<std::uint32_t>> places(at(team.n_threads()));
  team.for_each(options.n_trees, [&](index_t k, int worker) {
    team.poll();
    Random random(Random::derived(seed_of(options, k), 0));
    bags.draw(options, options.first_tree + k, random, places[at(worker)], drawn[at(k)]);
    if (are_alike) draw_alike(groups, draws_of(options, k), options.replace_unl, random, drawn[at(k)]);
  });
  ForestBags result;
  result.n_pos = groups.n_pos * options.repeats_pos;
  result.start.push_back(0);
  for (const auto& bag : drawn) result.start.push_back(result.start.back() + std::ssize(bag));
  result.rows = reserve_vector<std::uint32_t>(result.start.back(), "the bags");
  for (const auto& bag : drawn) result.rows.insert(result.rows.end(), bag.begin(), bag.end());
  return result;
}

ForestResult grow_on_bags(const BinnedFeatures& features, const std::uint8_t* categorical, const ForestBags& bags,
                          const ForestOptions& options, Team& team) {
  ForestTrainingSet train;
  train.features = &features;
  train.categorical = categorical;
  check_options(train, options);
  check_bags(features, bags, options);
  return with_rows_type(features.width, [&]<class Rows>(std::type_identity<Rows>) {
    return grow_on_drawn_bags<Rows>(train, bags, options, team);
  });
}

ForestResult grow_forest(const ForestTrainingSet& train, const ForestOptions& options, const ForestCallback& callback,
                         Team& team) {
  check_options(train, options);
  return with_rows_type(train.features->width, [&]<class Rows>(std::type_identity<Rows>) {
    return grow_and_score<Rows>(train, options, callback, team);
  });
}

}  // namespace fastpu
