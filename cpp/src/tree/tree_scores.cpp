#include "fastpu/tree/tree_scores.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
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

void check_features(const TreesView& trees, index_t n_features) {
  if (n_features == trees.n_features) return;
  throw std::invalid_argument("X must have the " + std::to_string(trees.n_features) + " features of the model, got " +
                              std::to_string(n_features));
}

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

// Adds the values of all trees to the scores of rows whose codes `codes` computes, block by block.
template <class Code, class RowCodes>
void walk_coded(const WalkTrees& walk, const RowCodes& codes, index_t n_columns, index_t n_rows, double* scores,
                Team& team) {
  std::vector<WalkedRows> rows(at(team.n_threads()));
  detail::for_coded_blocks<Code>(codes, n_columns, n_rows, workers_for(n_rows, walk.n_trees(), team), team,
                                 [&](index_t first, index_t n, const Code* columns, index_t stride, int worker) {
                                   walk_block(walk, columns, stride, n, rows[at(worker)], scores + first, team);
                                 });
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

template <template <class> class RowCodes, class View>
void score_matrix(const TreesView& trees, const View& x, double* scores, Team& team) {
  check_trees(trees);
  check_features(trees, x.n_cols);
  if (2 * x.n_rows * trees.n_trees < trees.n_nodes) return score_few_rows(trees, x, scores, team);
  std::fill_n(scores, x.n_rows, 0.0);
  for_groups(trees, [&](index_t first, index_t end) {
    const index_t first_node = trees.tree_start[first];
    const SplitColumns columns(trees.nodes + first_node, trees.tree_start[end] - first_node, trees.n_features);
    const RowCodes<typename View::Value> codes(x, columns);
    const WalkTrees walk = walk_of(
        trees, first, end, team.isa(), [&](const TreeNode& node) { return columns.column_of(node.feature()); },
        [&](const TreeNode& node) { return columns.cut_of(node); });
    if (columns.most_cuts() <= 255) {
      walk_coded<std::uint8_t>(walk, codes, columns.size(), x.n_rows, scores, team);
    } else {
      walk_coded<std::uint32_t>(walk, codes, columns.size(), x.n_rows, scores, team);
    }
  });
}

// ---- Binned features ----

// The number of the threshold of a node among the cuts of the features.
index_t binned_cut(const BinnedFeatures& x, const TreeNode& node) {
  const double* cuts = x.cuts->of(node.feature());
  const index_t n = x.cuts->count(node.feature());
  const index_t cut = std::lower_bound(cuts, cuts + n, node.threshold) - cuts;
  if (cut == n || cuts[cut] != node.threshold || (node.missing_right() && !x.cuts->has_missing(node.feature()))) {
    throw std::invalid_argument("X is binned at other cuts than the model: threshold " +
                                std::to_string(node.threshold) + " of feature " + std::to_string(node.feature()) +
                                " is not among them");
  }
  return cut;
}

// The feature of a node. Throws std::invalid_argument if the node splits by categories and the feature was not binned
// so.
index_t categorical_feature(const BinnedFeatures& x, const TreeNode& node) {
  const index_t feature = node.feature();
  if (!node.by_categories() || x.cuts->are_of_categories(feature)) return feature;
  throw std::invalid_argument("X is binned at other cuts than the model: feature " + std::to_string(feature) +
                              " is not binned by categories");
}

template <class Code>
void score_dense_binned(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team) {
  const Code* codes = reinterpret_cast<const Code*>(x.by_column.data());
  const index_t at_once = detail::block_rows(x.n_features, sizeof(Code));
  for_groups(trees, [&](index_t first_tree, index_t end_tree) {
    const WalkTrees walk = walk_of(
        trees, first_tree, end_tree, team.isa(), [&](const TreeNode& node) { return categorical_feature(x, node); },
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

void score_sparse_binned(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team) {
  for_groups(trees, [&](index_t first, index_t end) {
    const index_t first_node = trees.tree_start[first];
    const SplitColumns columns(trees.nodes + first_node, trees.tree_start[end] - first_node, trees.n_features);
    const detail::SparseBinnedRowCodes codes(x, columns);
    const WalkTrees walk = walk_of(
        trees, first, end, team.isa(),
        [&](const TreeNode& node) { return columns.column_of(categorical_feature(x, node)); },
        [&](const TreeNode& node) { return binned_cut(x, node); });
    if (codes.are_bytes()) {
      walk_coded<std::uint8_t>(walk, codes, columns.size(), x.n_rows, scores, team);
    } else {
      walk_coded<std::uint32_t>(walk, codes, columns.size(), x.n_rows, scores, team);
    }
  });
}

}  // namespace

template <class T>
void tree_scores(const TreesView& trees, const DenseView<T>& x, double* scores, Team& team) {
  score_matrix<detail::DenseRowCodes>(trees, x, scores, team);
}

template <class T>
void tree_scores(const TreesView& trees, const CsrView<T>& x, double* scores, Team& team) {
  score_matrix<detail::CsrRowCodes>(trees, x, scores, team);
}

void tree_scores(const TreesView& trees, const BinnedFeatures& x, double* scores, Team& team) {
  check_trees(trees);
  check_features(trees, x.n_features);
  std::fill_n(scores, x.n_rows, 0.0);
  if (x.is_sparse()) return score_sparse_binned(trees, x, scores, team);
  with_code_type(x.width, [&]<class Code>(Code) { score_dense_binned<Code>(trees, x, scores, team); });
}

template void tree_scores(const TreesView&, const DenseView<float>&, double*, Team&);
template void tree_scores(const TreesView&, const DenseView<double>&, double*, Team&);
template void tree_scores(const TreesView&, const CsrView<float>&, double*, Team&);
template void tree_scores(const TreesView&, const CsrView<double>&, double*, Team&);

}  // namespace fastpu
