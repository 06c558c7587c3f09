#include "fastpu/forest/forest.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/pacer.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/random.hpp"
#include "forest/draw_bag.hpp"
#include "tree/grow_tree.hpp"
#include "tree/pu_dense_rows.hpp"
#include "tree/pu_sparse_rows.hpp"
#include "tree/row_codes.hpp"
#include "tree/tree_walk.hpp"

namespace fastpu {

namespace {

using detail::Bag;
using detail::GrownTree;
using detail::GrowOptions;

// Trees that are grown before their out-of-bag rows are scored: some for each thread, so that none waits long.
index_t trees_at_once(const Team& team) { return std::max<index_t>(16, index_t{4} * team.n_threads()); }

// ---- Arguments ----

void check_at_least(const char* name, index_t value, index_t least) {
  if (value >= least) return;
  throw std::invalid_argument(std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                              std::to_string(value));
}

void check_options(const ForestTrainingSet& train, const ForestOptions& options) {
  check_at_least("n_trees", options.n_trees, 1);
  check_at_least("first_tree", options.first_tree, 0);
  check_at_least("first_set", options.first_set, 0);
  check_at_least("bag_unl", options.bag_unl, 1);
  check_at_least("max_features", options.max_features, 1);
  check_at_least("min_leaf_rows", options.min_leaf_rows, 1);
  check_at_least("max_depth", options.max_depth, -1);
  check_at_least("max_leaves", options.max_leaves, 0);
  if (!(options.prior > 0) || !(options.prior < 1)) {
    throw std::invalid_argument("prior must be in (0, 1), got " + std::to_string(options.prior));
  }
  if (train.features->n_features > kMostTreeFeatures) {
    throw std::invalid_argument("X must have at most " + std::to_string(kMostTreeFeatures) + " features");
  }
}

struct Groups {
  detail::DrawnGroup positive;
  detail::DrawnGroup unlabelled;
};

Groups groups_of(const ForestTrainingSet& train, Team& team) {
  std::vector<std::uint32_t> rows[2];
  detail::Pacer([&team] { team.poll(); }).run(0, train.features->n_rows, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      const std::int8_t label = train.labels[i];
      if (label != 0 && label != 1) {
        throw std::invalid_argument("labels must be 1 or 0, got " + std::to_string(label));
      }
      rows[label].push_back(static_cast<std::uint32_t>(i));
    }
  });
  if (rows[0].empty() || rows[1].empty()) throw std::invalid_argument("there must be rows of both labels");
  Groups groups{{std::move(rows[1]), train.sample_weight}, {std::move(rows[0]), train.sample_weight}};
  if (groups.positive.size() == 0 || groups.unlabelled.size() == 0) {
    throw std::invalid_argument("sample_weight must be positive for a row of each label");
  }
  return groups;
}

// ---- One tree ----

// A bit for every row.
class RowSet {
 public:
  explicit RowSet(index_t n_rows) : words_(make_vector<std::uint64_t>(count_blocks(n_rows, 64), "the rows of a bag")) {}
  void add(std::uint32_t row) { words_[row >> 6U] |= std::uint64_t{1} << (row & 63U); }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(64 * w + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }
  // The n rows from `first` that are not in the set; `first` is a multiple of 64.
  void copy_others(index_t first, index_t n, std::uint64_t* words) const {
    for (index_t w = 0; w < count_blocks(n, 64); ++w) words[w] = ~words_[at(first / 64 + w)];
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct BaggedTree {
  GrownTree tree;
  RowSet in_bag;
};

// What one worker needs to grow tree after tree.
template <class Rows>
class Grower {
 public:
  Grower(const detail::TreeFeatures& features, const Groups& groups, const ForestOptions& options)
      : features_(features), groups_(groups), options_(options), rows_(make_rows(features, options)) {}

  template <class Checkpoint>
  BaggedTree grow(index_t number, Checkpoint checkpoint) {
    const std::uint64_t seed = Random::derived(options_.seed, static_cast<std::uint64_t>(options_.first_tree + number));
    draw_bag(Random::derived(seed, 0));
    RowSet in_bag(features_.binned().n_rows);
    for (const std::uint32_t row : bag_.rows) in_bag.add(row);
    const detail::PuCounts all = bag_.range().counts();
    const std::uint64_t key = Random::derived(seed, 1);
    switch (options_.criterion) {
      case ForestCriterion::nnpu:
        return {grow(detail::RiskCriterion<true>(all, options_.prior), key, checkpoint), std::move(in_bag)};
      case ForestCriterion::upu:
        return {grow(detail::RiskCriterion<false>(all, options_.prior), key, checkpoint), std::move(in_bag)};
      case ForestCriterion::gini:
        break;
    }
    return {grow(detail::GiniCriterion(all), key, checkpoint), std::move(in_bag)};
  }

 private:
  static Rows make_rows(const detail::TreeFeatures& features, const ForestOptions& options) {
    if constexpr (std::is_same_v<Rows, detail::PuSparseRows>) {
      return Rows(features);
    } else {
      return Rows(features, options.max_leaves == 0, options.isa);
    }
  }

  void draw_bag(std::uint64_t seed) {
    Random random(seed);
    bag_.rows.clear();
    groups_.positive.draw_with_replacement(groups_.positive.size(), random, bag_.rows);
    bag_.n_pos = static_cast<std::uint32_t>(bag_.rows.size());
    if (options_.replace_unl) {
      groups_.unlabelled.draw_with_replacement(options_.bag_unl, random, bag_.rows);
    } else {
      groups_.unlabelled.draw_without_replacement(options_.bag_unl, random, places_, bag_.rows);
    }
  }

  template <class Criterion, class Checkpoint>
  GrownTree grow(const Criterion& criterion, std::uint64_t key, Checkpoint checkpoint) {
    GrowOptions options;
    options.random_cuts = options_.random_cuts;
    options.max_features = options_.max_features;
    options.min_leaf_rows = static_cast<std::uint32_t>(std::min<index_t>(options_.min_leaf_rows, kMaxRows));
    options.max_depth = options_.max_depth;
    options.max_leaves = options_.max_leaves;
    detail::TreeGrower<Rows, Criterion> grower(features_, options, rows_);
    detail::Pacer pacer(checkpoint);
    const index_t row_steps = 1 + options_.max_features + features_.binned().n_features / 16;
    return grower.grow(rows_.start(bag_), criterion, key, [&](std::uint32_t n) { pacer.add((n + 8) * row_steps); });
  }

  const detail::TreeFeatures& features_;
  const Groups& groups_;
  ForestOptions options_;
  Rows rows_;
  Bag bag_;
  std::vector<std::uint32_t> places_;
};

// ---- Out-of-bag scores ----

// Adds to the sums of the n rows from `first` the values of the trees whose bags they are not in. Columns of codes
// begin with that of row `first`.
template <class Code>
void add_out_of_bag(const std::vector<BaggedTree>& trees, const detail::WalkTrees& walk, index_t first, index_t n,
                    const Code* columns, index_t stride, detail::WalkedRows& rows, ForestResult& result) {
  double* sums = result.oob_sum.data() + first;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::uint64_t* words = rows.words(n);
    trees[t].in_bag.copy_others(first, n, words);
    rows.clear_from(n);
    walk.walk(static_cast<index_t>(t), columns, stride, rows,
              [&](std::uint16_t row, double value) { sums[row] += value; });
  }
}

template <class ColumnOf>
detail::WalkTrees walk_of(const std::vector<BaggedTree>& trees, Isa isa, ColumnOf&& column_of) {
  detail::WalkTrees walk(isa);
  for (const BaggedTree& bagged : trees) {
    const GrownTree& tree = bagged.tree;
    walk.add(
        tree.nodes.data(), static_cast<index_t>(tree.nodes.size()), column_of,
        [&](index_t k) { return tree.cuts[at(k)]; },
        [&](const TreeNode& node) { return tree.sets[static_cast<std::size_t>(node.threshold)]; });
  }
  return walk;
}

template <class Code>
void score_out_of_bag_dense(const BinnedFeatures& x, const std::vector<BaggedTree>& trees, Isa isa, Team& team,
                            ForestResult& result) {
  const auto walk = walk_of(trees, isa, [](const TreeNode& node) { return node.feature(); });
  const Code* codes = reinterpret_cast<const Code*>(x.by_column.data());
  // A node is looked at once for every block: few blocks, but some for every thread.
  const index_t at_once =
      std::clamp<index_t>(round_up(count_blocks(x.n_rows, team.n_threads()), 64), 4096, detail::kMostBlockRows);
  std::vector<detail::WalkedRows> rows(at(team.n_threads()));
  team.for_each(count_blocks(x.n_rows, at_once), [&](index_t block, int worker) {
    const index_t first = block * at_once;
    add_out_of_bag(trees, walk, first, std::min(at_once, x.n_rows - first), codes + first, x.column_stride,
                   rows[at(worker)], result);
  });
}

void score_out_of_bag_sparse(const BinnedFeatures& x, const std::vector<BaggedTree>& trees, Isa isa, Team& team,
                             ForestResult& result) {
  std::vector<TreeNode> nodes;
  for (const BaggedTree& bagged : trees) nodes.insert(nodes.end(), bagged.tree.nodes.begin(), bagged.tree.nodes.end());
  const detail::SplitColumns columns(nodes.data(), static_cast<index_t>(nodes.size()), x.n_features);
  const detail::SparseBinnedRowCodes row_codes(x, columns);
  const auto walk = walk_of(trees, isa, [&](const TreeNode& node) { return columns.column_of(node.feature()); });
  const index_t stride = detail::block_rows(columns.size(), sizeof(std::uint32_t));
  struct Scratch {
    AlignedBuffer<std::uint32_t> codes;
    detail::WalkedRows rows;
  };
  std::vector<Scratch> scratch(at(team.n_threads()));
  team.for_each(count_blocks(x.n_rows, stride), [&](index_t block, int worker) {
    auto& [codes, rows] = scratch[at(worker)];
    if (codes.empty()) {
      codes = AlignedBuffer<std::uint32_t>(std::max<index_t>(columns.size(), 1) * stride, "the codes of rows");
    }
    const index_t first = block * stride;
    const index_t end = std::min(x.n_rows, first + stride);
    row_codes.fill(first, end, stride, codes.data());
    add_out_of_bag(trees, walk, first, end - first, codes.data(), stride, rows, result);
  });
}

void score_out_of_bag(const BinnedFeatures& x, const std::vector<BaggedTree>& trees, Isa isa, Team& team,
                      ForestResult& result) {
  if (x.is_sparse()) return score_out_of_bag_sparse(x, trees, isa, team, result);
  if (x.width == CodeWidth::two_bytes) return score_out_of_bag_dense<std::uint16_t>(x, trees, isa, team, result);
  score_out_of_bag_dense<std::uint8_t>(x, trees, isa, team, result);
}

// ---- All trees ----

// A set of codes as the set of their categories; what is no category is on the side of missing values.
CategorySet categories_of_codes(const CategorySet& codes) {
  CategorySet categories;
  for (std::uint32_t v = 0; v < 256; ++v) {
    if (codes.has((v + 1) % 256)) categories.add(v);
  }
  return categories;
}

void append(const BaggedTree& bagged, index_t first_set, ForestResult& result) {
  const double n_sets = static_cast<double>(first_set + static_cast<index_t>(result.sets.size()));
  for (TreeNode node : bagged.tree.nodes) {
    if (node.by_categories()) node.threshold += n_sets;
    result.nodes.push_back(node);
  }
  result.tree_start.push_back(static_cast<index_t>(result.nodes.size()));
  for (const CategorySet& codes : bagged.tree.sets) result.sets.push_back(categories_of_codes(codes));
}

// Makes room for trees like the first ones: a vector that grows by doubling holds everything twice meanwhile. Memory
// that is not written to costs nothing.
void reserve_others(index_t n_trees, ForestResult& result) {
  constexpr double kMost = 1 << 27;
  const auto n_nodes = static_cast<double>(result.nodes.size());
  const double expected =
      1.1 * n_nodes * static_cast<double>(n_trees) / static_cast<double>(result.tree_start.size() - 1);
  result.nodes.reserve(static_cast<std::size_t>(std::min(expected, kMost)));
}

template <class Rows>
ForestResult grow_all(const ForestTrainingSet& train, const ForestOptions& options, const ForestCallback& callback,
                      Team& team) {
  const detail::TreeFeatures features(*train.features, train.categorical);
  const Groups groups = groups_of(train, team);
  ForestResult result;
  result.tree_start.push_back(0);
  result.oob_sum = make_vector<double>(train.features->n_rows, "the out-of-bag scores");
  result.oob_count = make_vector<std::int32_t>(train.features->n_rows, "the out-of-bag scores");
  if (options.oob_sum != nullptr) std::copy_n(options.oob_sum, result.oob_sum.size(), result.oob_sum.begin());
  if (options.oob_count != nullptr) std::copy_n(options.oob_count, result.oob_count.size(), result.oob_count.begin());
  std::vector<std::unique_ptr<Grower<Rows>>> growers(at(team.n_threads()));
  const index_t at_once = trees_at_once(team);
  for (index_t first = 0; first < options.n_trees && !result.stopped; first += at_once) {
    const index_t n = std::min(at_once, options.n_trees - first);
    std::vector<BaggedTree> trees(at(n), BaggedTree{{}, RowSet(0)});
    team.for_each(n, [&](index_t k, int worker) {
      auto& grower = growers[at(worker)];
      if (!grower) grower = std::make_unique<Grower<Rows>>(features, groups, options);
      trees[at(k)] = grower->grow(first + k, [&team] { team.poll(); });
    });
    for (std::size_t k = 0; k < trees.size() && callback && !result.stopped; ++k) {
      const index_t number = options.first_tree + first + static_cast<index_t>(k);
      result.stopped = callback({number, trees[k].tree.n_leaves(), trees[k].tree.depth});
      if (result.stopped) trees.erase(trees.begin() + static_cast<std::ptrdiff_t>(k) + 1, trees.end());
    }
    score_out_of_bag(*train.features, trees, options.isa, team, result);
    for (std::int32_t& count : result.oob_count) count += static_cast<std::int32_t>(trees.size());
    for (const BaggedTree& tree : trees) tree.in_bag.for_each([&](std::size_t row) { --result.oob_count[row]; });
    for (const BaggedTree& tree : trees) append(tree, options.first_set, result);
    if (first == 0) reserve_others(options.n_trees, result);
  }
  return result;
}

}  // namespace

ForestResult grow_forest(const ForestTrainingSet& train, const ForestOptions& options, const ForestCallback& callback,
                         Team& team) {
  check_options(train, options);
  switch (train.features->width) {
    case CodeWidth::sparse:
      return grow_all<detail::PuSparseRows>(train, options, callback, team);
    case CodeWidth::two_bytes:
      return grow_all<detail::PuDenseRows<std::uint16_t>>(train, options, callback, team);
    case CodeWidth::one_byte:
      break;
  }
  return grow_all<detail::PuDenseRows<std::uint8_t>>(train, options, callback, team);
}

}  // namespace fastpu
