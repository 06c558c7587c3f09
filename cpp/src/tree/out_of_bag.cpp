#include "tree/out_of_bag.hpp"

#include <algorithm>

#include "tree/row_codes.hpp"
#include "tree/tree_walk.hpp"

namespace fastpu::detail {

namespace {

// Adds to the sums of the n rows from `first` the values of the trees whose bags do not have them. Each column of codes
// begins with that of row `first`.
template <class Code>
void add_out_of_bag(const std::vector<LeftOutRows>& trees, const WalkTrees& walk, index_t first, index_t n,
                    const Code* columns, index_t stride, WalkedRows& rows, double* sums) {
  for (index_t t = 0; t < walk.n_trees();) {
    const RowSet* in_bag = trees[at(t)].in_bag;
    index_t end = t + 1;
    while (end < walk.n_trees() && trees[at(end)].in_bag == in_bag) ++end;
    in_bag->copy_others(first, n, rows.words(n));
    rows.clear_from(n);
    t = walk.add_values(t, end, columns, stride, rows, n, sums);
  }
}

template <class ColumnOf>
WalkTrees walk_of(const std::vector<LeftOutRows>& trees, Isa isa, ColumnOf&& column_of) {
  WalkTrees walk(isa);
  for (const LeftOutRows& left_out : trees) {
    const GrownTree& tree = *left_out.tree;
    walk.add(
        tree.nodes.data(), static_cast<index_t>(tree.nodes.size()), column_of,
        [&](index_t k) { return CodeCut{tree.cuts[at(k)], tree.nodes[at(k)].missing_right()}; },
        [&](const TreeNode& node) { return tree.sets[static_cast<std::size_t>(node.threshold)]; });
  }
  return walk;
}

template <class Code>
void score_out_of_bag_dense(const BinnedFeatures& x, const std::vector<LeftOutRows>& trees, double* sums, Team& team) {
  const auto walk = walk_of(trees, team.isa(), [](const TreeNode& node) { return node.feature(); });
  const Code* codes = reinterpret_cast<const Code*>(x.by_column.data());
  // Every block visits all nodes, so blocks are large, but there is one for every thread.
  const index_t at_once =
      std::clamp<index_t>(round_up(count_blocks(x.n_rows, team.n_threads()), 64), 4096, kMostBlockRows);
  std::vector<WalkedRows> rows(at(team.n_threads()));
  team.for_blocks(x.n_rows, at_once, team.n_threads(), [&](index_t first, index_t end, int worker) {
    add_out_of_bag(trees, walk, first, end - first, codes + first, x.column_stride, rows[at(worker)], sums + first);
  });
}

void score_out_of_bag_sparse(const BinnedFeatures& x, const std::vector<LeftOutRows>& trees, double* sums, Team& team) {
  std::vector<TreeNode> nodes;
  for (const LeftOutRows& t : trees) nodes.insert(nodes.end(), t.tree->nodes.begin(), t.tree->nodes.end());
  const SplitColumns columns(nodes.data(), static_cast<index_t>(nodes.size()), x.n_features, false);
  const SparseBinnedRowCodes row_codes(x, columns);
  const auto walk = walk_of(trees, team.isa(), [&](const TreeNode& node) { return columns.column_of(node.feature()); });
  std::vector<WalkedRows> rows(at(team.n_threads()));
  RowBlocks blocks(x.n_rows);
  for_coded_blocks(row_codes, columns.size(), blocks, team.n_threads(), team,
                   [&](index_t first, index_t n, const auto* codes, index_t stride, int worker) {
                     add_out_of_bag(trees, walk, first, n, codes, stride, rows[at(worker)], sums + first);
                   });
}

}  // namespace

void add_out_of_bag(const BinnedFeatures& x, const std::vector<LeftOutRows>& trees, double* sums, Team& team) {
  if (x.is_sparse()) return score_out_of_bag_sparse(x, trees, sums, team);
  with_code_type(x.width, [&]<class Code>(Code) { score_out_of_bag_dense<Code>(x, trees, sums, team); });
}

}  // namespace fastpu::detail
