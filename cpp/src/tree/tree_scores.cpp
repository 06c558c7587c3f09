#include "fastpu/tree/tree_scores.hpp"

#include <algorithm>
#include <vector>

#include "data/category_of.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "tree/row_codes.hpp"
#include "tree/tree_walk.hpp"

namespace fastpu {

namespace {

using detail::SplitColumns;
using detail::WalkedRows;
using detail::WalkTrees;

constexpr index_t kGroupNodes = index_t{1} << 22;  // nodes that are held in the form of WalkTrees at a time
constexpr index_t kStepsPerWorker = 100'000;       // fewer rows times trees are not worth waking a thread

int workers_for(index_t n_rows, index_t n_trees, const Team& team) {
  return static_cast<int>(std::min<index_t>(team.n_threads(), 1 + n_rows * n_trees / kStepsPerWorker));
}

const CategorySet& categories_of(const TreesView& trees, const TreeNode& node) {
  return trees.sets[static_cast<std::size_t>(node.threshold)];
}

// The codes that go left where a node splits by categories; code 0 stands for missing values.
CategorySet left_codes(const TreesView& trees, const TreeNode& node) {
  const CategorySet& categories = categories_of(trees, node);
  CategorySet codes;
  if (!node.missing_right()) codes.add(0);
  for (std::uint32_t category = 0; category < std::uint32_t{kMostCategories}; ++category) {
    if (categories.has(category)) codes.add(category + 1);
  }
  return codes;
}

// Calls body(first tree, end) for groups of consecutive trees that have at most kGroupNodes nodes, or for single trees.
template <class Body>
void for_groups(const TreesView& trees, Body&& body) {
  for (index_t first = 0; first < trees.n_trees;) {
    index_t end = first + 1;
    while (end < trees.n_trees && trees.tree_start[end + 1] - trees.tree_start[first] <= kGroupNodes) ++end;
    body(first, end);
    first = end;
  }
}

// ---- Few rows go down the nodes as they are ----

template <class ValueOf>
double leaf_value(const TreesView& trees, index_t t, ValueOf&& value_of) {
  const TreeNode* tree = trees.nodes + trees.tree_start[t];
  const TreeNode* node = tree;
  while (!node->is_leaf()) {
    const auto x = value_of(node->feature());
    bool left = false;
    if (node->by_categories()) {
      const int category = detail::category_of(x);
      left =
          category < 0 ? !node->missing_right() : categories_of(trees, *node).has(static_cast<std::uint32_t>(category));
    } else {
      const bool missing = !(x > -kInfinity);
      left = missing ? !node->missing_right() : static_cast<double>(x) <= node->threshold;
    }
    node = tree + node->left + (left ? 0 : 1);
  }
  return node->threshold;
}

template <class T>
T value_at(const DenseView<T>& x, index_t row, index_t feature) {
  return x.row(row)[feature];
}
template <class T>
T value_at(const CsrView<T>& x, index_t row, index_t feature) {
  const std::int32_t* end = x.columns + x.row_start[row + 1];
  const std::int32_t* entry = std::lower_bound(x.columns + x.row_start[row], end, static_cast<std::int32_t>(feature));
  return entry != end && *entry == feature ? x.values[entry - x.columns] : T(0);
}

template <class View>
void score_few_rows(const TreesView& trees, const View& x, double* scores, Team& team) {
  team.for_each(x.n_rows, workers_for(x.n_rows, trees.n_trees, team), [&](index_t i, int) {
    double sum = 0;
    for (index_t t = 0; t < trees.n_trees; ++t) {
      sum += leaf_value(trees, t, [&](index_t feature) { return value_at(x, i, feature); });
    }
    scores[i] = sum;
  });
}

// ---- Many rows are coded, and go down the trees together ----

// Adds the values of all trees to the scores of the n rows of a block.
template <class Code>
void walk_block(const WalkTrees& walk, const Code* columns, index_t stride, index_t n, WalkedRows& rows, double* scores,
                Team& team) {
  for (index_t t = 0; t < walk.n_trees(); team.poll()) {
    rows.fill(n);
    t = walk.add_values(t, walk.n_trees(), columns, stride, rows, n, scores);
  }
}

// Trees [first, end), for rows of codes: column_of(node) and cut_of(node) say in which column the codes of a split are,
// and its cut.
template <class ColumnOf, class CutOf>
WalkTrees walk_of(const TreesView& trees, index_t first, index_t end, Isa isa, ColumnOf&& column_of, CutOf&& cut_of) {
  WalkTrees walk(isa);
  for (index_t t = first; t < end; ++t) {
    const TreeNode* nodes = trees.nodes + trees.tree_start[t];
    walk.add(
        nodes, trees.tree_start[t + 1] - trees.tree_start[t], column_of, [&](index_t k) { return cut_of(nodes[k]); },
        [&](const TreeNode& node) { return left_codes(trees, node); });
  }
  return walk;
}

// Scores rows whose codes RowCodes computes, block by block: feature_of(node) is the feature of a node, and
// cut_of(columns, node) its cut.
template <class RowCodes, class Rows, class FeatureOf, class CutOf>
void score_coded(const TreesView& trees, const Rows& x, double* scores, Team& team, FeatureOf&& feature_of,
                 CutOf&& cut_of) {
  std::vector<WalkedRows> rows(at(team.n_threads()));
  for_groups(trees, [&](index_t first_tree, index_t end_tree) {
    const index_t first_node = trees.tree_start[first_tree];
    detail::RowBlocks blocks(x.n_rows);
    for (const bool missing_have_codes : {false, true}) {
      const SplitColumns columns(trees.nodes + first_node, trees.tree_start[end_tree] - first_node, trees.n_features,
                                 missing_have_codes);
      const WalkTrees walk = walk_of(
          trees, first_tree, end_tree, team.isa(),
          [&](const TreeNode& node) { return columns.column_of(feature_of(node)); },
          [&](const TreeNode& node) { return cut_of(columns, node); });
      const int workers = workers_for(x.n_rows, walk.n_trees(), team);
      detail::for_coded_blocks(RowCodes(x, columns), columns.size(), blocks, workers, team,
                               [&](index_t first, index_t n, const auto* codes, index_t stride, int worker) {
                                 walk_block(walk, codes, stride, n, rows[at(worker)], scores + first, team);
                               });
      if (blocks.all_done()) return;
    }
  });
}

template <class View>
void score_matrix(const TreesView& trees, const View& x, double* scores, Team& team) {
  check_trees(trees);
  detail::check_features(trees.n_features, x.n_cols);
  if (2 * x.n_rows * trees.n_trees < trees.n_nodes) return score_few_rows(trees, x, scores, team);
  std::fill_n(scores, x.n_rows, 0.0);
  score_coded<detail::MatrixRowCodes<View>>(
      trees, x, scores, team, [](const TreeNode& node) { return node.feature(); },
      [](const SplitColumns& columns, const TreeNode& node) { return columns.cut_of(node); });
}

// ---- Binned features ----

// The cut of a node among those of the features.
detail::CodeCut binned_cut(const BinnedFeatures& x, const TreeNode& node) {
  const index_t feature = node.feature();
  return {detail::cut_at(x, feature, node.threshold), node.missing_right() && x.cuts->has_missing(feature)};
}

// The feature of a node.
index_t feature_of(const BinnedFeatures& x, const TreeNode& node) {
  if (node.by_categories()) detail::check_categories(x, node.feature());
  return node.feature();
}

template <class Code>
void score_dense_binned(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team) {
  const Code* codes = reinterpret_cast<const Code*>(x.by_column.data());
  const index_t at_once = detail::block_rows(x.n_features, sizeof(Code));
  for_groups(trees, [&](index_t first_tree, index_t end_tree) {
    const WalkTrees walk = walk_of(
        trees, first_tree, end_tree, team.isa(), [&](const TreeNode& node) { return feature_of(x, node); },
        [&](const TreeNode& node) { return binned_cut(x, node); });
    const int workers = workers_for(x.n_rows, walk.n_trees(), team);
    std::vector<WalkedRows> scratch(at(team.n_threads()));
    team.for_each(count_blocks(x.n_rows, at_once), workers, [&](index_t block, int worker) {
      const index_t first = block * at_once;
      walk_block(walk, codes + first, x.column_stride, std::min(at_once, x.n_rows - first), scratch[at(worker)],
                 scores + first, team);
    });
  });
}

}  // namespace

template <class T>
void tree_scores(const TreesView& trees, const DenseView<T>& x, double* scores, Team& team) {
  score_matrix(trees, x, scores, team);
}

template <class T>
void tree_scores(const TreesView& trees, const CsrView<T>& x, double* scores, Team& team) {
  score_matrix(trees, x, scores, team);
}

void tree_scores(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team) {
  check_trees(trees);
  detail::check_features(trees.n_features, x.n_features);
  std::fill_n(scores, x.n_rows, 0.0);
  if (x.is_sparse()) {
    return score_coded<detail::SparseBinnedRowCodes>(
        trees, x, scores, team, [&](const TreeNode& node) { return feature_of(x, node); },
        [&](const SplitColumns&, const TreeNode& node) { return binned_cut(x, node); });
  }
  with_code_type(x.width, [&]<class Code>(Code) { score_dense_binned<Code>(trees, x, scores, team); });
}

template void tree_scores(const TreesView&, const DenseView<float>&, double*, Team&);
template void tree_scores(const TreesView&, const DenseView<double>&, double*, Team&);
template void tree_scores(const TreesView&, const CsrView<float>&, double*, Team&);
template void tree_scores(const TreesView&, const CsrView<double>&, double*, Team&);

}  // namespace fastpu
