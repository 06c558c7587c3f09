// Trees from outside: what is no tree is refused.
#include "fastpu/tree/tree_nodes.hpp"

#include <chrono>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "fastpu/tree/tree_scores.hpp"

namespace {

using fastpu::CategorySet;
using fastpu::index_t;
using fastpu::TreeNode;
using fastpu::TreesView;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Trees {
  // The first splits feature 0 at 1, and its right child feature 2 by the categories 1 and 3; the second is a leaf.
  std::vector<TreeNode> nodes{{1.0, 0, 1, 9, 0.5F}, {0.25, 0, 0, 4, 0.0F}, {0.0, 11, 3, 5, 0.1F},
                              {0.5, 0, 0, 3, 0.0F}, {2.0, 0, 0, 2, 0.0F},  {8.0, 0, 0, 9, 0.0F}};
  std::vector<index_t> start{0, 5, 6};
  std::vector<CategorySet> sets{{{10, 0, 0, 0}}};
  index_t n_features = 3;

  TreesView view() const {
    return {nodes.data(), static_cast<index_t>(nodes.size()), start.data(), static_cast<index_t>(start.size()) - 1,
            sets.data(),  static_cast<index_t>(sets.size()),  n_features};
  }
};

void refused(const char* message, void (*change)(Trees&)) {
  Trees trees;
  change(trees);
  CHECK_THROWS(std::invalid_argument, check_trees(trees.view()), message);
}

}  // namespace

CASE("a tree is walked as its nodes say") {
  const Trees trees;
  check_trees(trees.view());
  const std::vector<std::vector<double>> rows{{1, 0, 0},   {1.5, 0, 1},  {2, 0, 3},     {2, 0, 2},    {kInf, 0, 300},
                                              {2, 0, 1.5}, {kNaN, 0, 1}, {-kInf, 0, 1}, {2, 0, kNaN}, {2, 0, -1}};
  const std::vector<double> values{0.25, 0.5, 0.5, 2, 2, 2, 0.25, 0.25, 2, 2};
  fastpu::Team team(1);
  for (const std::size_t copies : {1U, 50U}) {
    std::vector<double> x;
    for (std::size_t k = 0; k < copies; ++k) {
      for (const auto& row : rows) x.insert(x.end(), row.begin(), row.end());
    }
    std::vector<double> scores(copies * rows.size());
    tree_scores(trees.view(), fastpu::DenseView<double>{x.data(), static_cast<index_t>(scores.size()), 3},
                scores.data(), team);
    for (std::size_t i = 0; i < scores.size(); ++i) CHECK(scores[i] == 8.0 + values[i % values.size()]);
  }
  std::vector<double> narrow(4);
  CHECK_THROWS(std::invalid_argument,
               tree_scores(trees.view(), fastpu::DenseView<double>{narrow.data(), 2, 2}, narrow.data(), team),
               "3 features of the model, got 2");
}

CASE("nodes that are no trees are refused") {
  refused("starts", [](Trees& t) { t.start.front() = 1; });
  refused("starts", [](Trees& t) { t.start.back() = 5; });
  refused("tree 0 has no node", [](Trees& t) { t.start[1] = 0; });
  refused("tree 1 has no node", [](Trees& t) { t.start[1] = 7; });
  refused("features", [](Trees& t) { t.n_features = 0; });
  refused("node 2 splits feature 2 of 2", [](Trees& t) { t.n_features = 2; });
  refused("left child", [](Trees& t) { t.nodes[0].left = 3; });
  refused("left child", [](Trees& t) { t.nodes[2].left = 1; });
  refused("left child", [](Trees& t) { t.nodes[2].left = -3; });
  refused("left child", [](Trees& t) { t.nodes[2].left = 2'000'000'000; });
  refused("left child", [](Trees& t) { t.nodes[3].left = 5; });
  refused("left child", [](Trees& t) { t.nodes[5].left = 1; });
  refused("no children of any node", [](Trees& t) { t.nodes[2] = t.nodes[1]; });
  refused("NaN", [](Trees& t) { t.nodes[0].threshold = kNaN; });
  refused("value that is not finite", [](Trees& t) { t.nodes[1].threshold = kInf; });
  refused("gain", [](Trees& t) { t.nodes[0].gain = std::numeric_limits<float>::quiet_NaN(); });
  refused("leaf that splits", [](Trees& t) { t.nodes[1].split = 4; });
  refused("no value that goes left", [](Trees& t) { t.nodes[0].threshold = -kInf, t.nodes[0].split = 1; });
  for (const double set : {-1.0, 1.0, 0.5, 1e300, kInf, -kInf}) {
    Trees trees;
    trees.nodes[2].threshold = set;
    CHECK_THROWS(std::invalid_argument, check_trees(trees.view()), "set of categories");
  }
  refused("unlike the others", [](Trees& t) { t.nodes[2].split = 3; });
}

std::mt19937 random_numbers(unsigned seed) { return std::mt19937(seed); }

CASE("nodes of any bytes are refused or walked") {
  std::mt19937 random = random_numbers(1);
  int n_walked = 0;
  for (int round = 0; round < 20'000; ++round) {
    Trees trees;
    for (auto k = random() % 3; k-- > 0;) {
      TreeNode& node = trees.nodes[random() % trees.nodes.size()];
      switch (random() % 4) {
        case 0:
          node.left = static_cast<std::int32_t>(random() % 8) - 1;
          break;
        case 1:
          node.split = static_cast<std::uint32_t>(random() % 16);
          break;
        case 2:
          node.threshold = static_cast<double>(random() % 4) - 1;
          break;
        default:
          trees.start[1] = static_cast<index_t>(random() % 8) - 1;
      }
    }
    std::vector<double> x(60, 1.0);
    std::vector<double> scores(20);
    fastpu::Team team(1);
    try {
      tree_scores(trees.view(), fastpu::DenseView<double>{x.data(), 20, 3}, scores.data(), team);
      ++n_walked;
    } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): what is wanted
    }
  }
  CHECK(n_walked > 1000 && n_walked < 19'000);
}

CASE("any worker of a team scores rows within a loop of the team") {
  const Trees trees;
  const std::vector<double> x(300, 1.0);
  std::vector<double> scores(600);
  fastpu::Team team(3);
  team.for_each(6, [&](index_t block, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that others get a block
    tree_scores(trees.view(), fastpu::DenseView<double>{x.data(), 100, 3}, scores.data() + 100 * block, team);
  });
  for (const double score : scores) CHECK(score == 8.25);
}
