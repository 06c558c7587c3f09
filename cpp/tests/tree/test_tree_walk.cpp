// Rows of codes that are taken down trees: the sums of the values of their leaves, one by one and many at once.
#include "tree/tree_walk.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::CategorySet;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::TreeNode;
using fastpu::detail::CodeCut;
using fastpu::detail::WalkedRows;
using fastpu::detail::WalkTrees;

constexpr index_t kColumns = 5;

struct Tree {
  std::vector<TreeNode> nodes;
  std::vector<std::uint32_t> cuts;  // beside them
};

// A tree whose leaves are split in random order; every fifth split has missing values right.
Tree random_tree(index_t n_leaves, std::uint32_t most_code, bool has_set, std::mt19937& random) {
  Tree tree;
  const auto number = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto add_leaf = [&] {
    tree.nodes.push_back({static_cast<double>(random()) / 1e9 - 2, 0, 0, 0, 0.0F});
    tree.cuts.push_back(0);
  };
  add_leaf();
  for (index_t n = 1; n < n_leaves; ++n) {
    std::size_t k = number(static_cast<std::uint32_t>(tree.nodes.size()));
    while (!tree.nodes[k].is_leaf()) k = (k + 1) % tree.nodes.size();
    tree.nodes[k].split = 4 * number(kColumns) + (number(5) == 0 ? 1 : 0) + (has_set && n == 1 ? 2 : 0);
    tree.nodes[k].threshold = 0;
    tree.nodes[k].left = static_cast<std::int32_t>(tree.nodes.size());
    tree.cuts[k] = 1 + number(most_code);
    add_leaf();
    add_leaf();
  }
  return tree;
}

bool goes_left(const TreeNode& node, std::uint32_t cut, const CategorySet& set, std::uint32_t code) {
  if (node.by_categories()) return set.has(code);
  if (code == 0 && node.missing_right()) return false;
  return code <= cut;
}

template <class Code>
void adds_the_values_of_leaves(Isa isa, index_t n_rows, std::uint32_t most_code) {
  std::mt19937 random(static_cast<std::uint32_t>(n_rows));
  const index_t stride = 64 * fastpu::count_blocks(n_rows, 64);
  std::vector<Code> codes(fastpu::at(kColumns * stride));
  for (auto& code : codes) code = static_cast<Code>(random() % (most_code + 1));
  CategorySet set;
  for (std::uint32_t code = 0; code <= 255; code += 1 + static_cast<std::uint32_t>(random() % 3)) set.add(code);
  std::vector<Tree> trees;
  for (const index_t n_leaves : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 90}) {
    for (const bool has_set : {false, true}) {
      trees.push_back(random_tree(n_leaves, most_code, has_set && n_leaves > 1 && most_code < 256, random));
    }
  }
  WalkTrees walk(isa);
  for (const Tree& tree : trees) {
    walk.add(
        tree.nodes.data(), static_cast<index_t>(tree.nodes.size()), [](const TreeNode& node) { return node.feature(); },
        [&](index_t k) { return CodeCut{tree.cuts[fastpu::at(k)], tree.nodes[fastpu::at(k)].missing_right()}; },
        [&](const TreeNode&) { return set; });
  }
  std::vector<std::uint8_t> takes_part(fastpu::at(n_rows));
  for (auto& part : takes_part) part = random() % 4 != 0 ? 1 : 0;
  std::vector<double> scores(fastpu::at(n_rows), 0.25);
  std::vector<double> expected = scores;
  WalkedRows rows;
  for (index_t t = 0; t < walk.n_trees();) {
    std::uint64_t* words = rows.words(n_rows);
    for (index_t w = 0; w < stride / 64; ++w) words[w] = 0;
    for (index_t i = 0; i < n_rows; ++i) {
      words[i / 64] |= static_cast<std::uint64_t>(takes_part[fastpu::at(i)]) << static_cast<unsigned>(i % 64);
    }
    t = walk.add_values(t, walk.n_trees(), codes.data(), stride, rows, n_rows, scores.data());
  }
  for (const Tree& tree : trees) {
    for (index_t i = 0; i < n_rows; ++i) {
      std::size_t k = 0;
      while (!tree.nodes[k].is_leaf()) {
        const TreeNode& node = tree.nodes[k];
        const std::uint32_t code = codes[fastpu::at(node.feature() * stride + i)];
        k = static_cast<std::size_t>(node.left) + (goes_left(node, tree.cuts[k], set, code) ? 0 : 1);
      }
      if (takes_part[fastpu::at(i)] != 0) expected[fastpu::at(i)] += tree.nodes[k].threshold;
    }
  }
  CHECK(scores == expected);
}

}  // namespace

CASE("every row gets the values of its leaves, in the order of the trees") {
  for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
    for (const index_t n_rows : {1, 64, 130, 1000}) {
      adds_the_values_of_leaves<std::uint8_t>(static_cast<Isa>(level), n_rows, 255);
      adds_the_values_of_leaves<std::uint16_t>(static_cast<Isa>(level), n_rows, 700);
      adds_the_values_of_leaves<std::uint32_t>(static_cast<Isa>(level), n_rows, 700);
    }
  }
}
