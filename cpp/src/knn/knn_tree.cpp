#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "common/pacer.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "knn/distance_kernels.hpp"
#include "knn/knn_searches.hpp"

namespace fastpu::detail {

namespace {

// The node over leaves [first, end). Nodes are numbered in the order of a walk that goes left first: a node over m
// leaves is followed by 2 m - 2 nodes below it.
struct Node {
  index_t number = 0;
  index_t first = 0;
  index_t end = 0;

  bool is_leaf() const { return end - first == 1; }
  index_t middle() const { return first + (end - first + 1) / 2; }
  Node left() const { return {number + 1, first, middle()}; }
  Node right() const { return {number + 2 * (middle() - first), middle(), end}; }
};

// Nodes are split level by level until a level has so many; the subtree below each of these is one block of work.
constexpr index_t kNodesPerLevel = 64;
constexpr index_t kPointsPerBlock = 64;
constexpr index_t kFewFeatures = 8;
constexpr index_t kMostDepth = 64;  // deeper than any tree: every split halves a node's leaves

template <class T>
class Tree {
 public:
  Tree(const DenseView<T>& x, Team& team)
      : x_(x),
        kernels_(distance_kernels(team.isa())),
        d_(x.n_cols),
        leaf_points_(d_ <= kFewFeatures ? kPanelPoints : 4 * kPanelPoints),
        n_leaves_(count_blocks(x.n_rows, leaf_points_)),
        keys_(x.n_rows, "the rows of a k-d tree"),
        points_(n_leaves_ * leaf_points_ * d_, "the points of a k-d tree"),
        boxes_((2 * n_leaves_ - 1) * 2 * d_, "the boxes of a k-d tree"),
        lowest_(2 * n_leaves_ - 1, "the nodes of a k-d tree") {
    for (index_t i = 0; i < x.n_rows; ++i) keys_[i] = {0.0, i};
    std::vector<Node> nodes = {{0, 0, n_leaves_}};
    while (!nodes.empty() && static_cast<index_t>(nodes.size()) < kNodesPerLevel) {
      team.for_each(static_cast<index_t>(nodes.size()), [&](index_t k, int) { split(nodes[at(k)], team); });
      std::vector<Node> below;
      for (const Node& node : nodes) {
        if (node.is_leaf()) continue;
        below.push_back(node.left());
        below.push_back(node.right());
      }
      nodes = std::move(below);
    }
    team.for_each(static_cast<index_t>(nodes.size()), [&](index_t k, int) { split_all(nodes[at(k)], team); });
  }

  void search(Team& team, NearestRows& nearest) const {
    team.for_blocks(x_.n_rows, kPointsPerBlock, team.n_threads(), [&](index_t first, index_t end, int) {
      std::vector<double> point(at(d_));
      for (index_t p = first; p < end; ++p) {
        if (d_ > kFewFeatures) team.poll();
        const index_t row = keys_[p].row;
        std::copy_n(x_.row(row), d_, point.begin());
        nearest.clear(row);
        search_row(row, point.data(), nearest);
        nearest.sort(row);
      }
    });
  }

 private:
  double* low(index_t node) { return boxes_.data() + node * 2 * d_; }
  const double* low(index_t node) const { return boxes_.data() + node * 2 * d_; }

  // Computes the box of the node; then packs the points of a leaf, or halves the rows of another node along the feature
  // in which its box is widest.
  void split(const Node& node, Team& team) {
    const index_t first = node.first * leaf_points_;
    const index_t end = std::min(node.end * leaf_points_, x_.n_rows);
    team.poll();
    Pacer pacer(team);
    double* const least = low(node.number);
    double* const most = least + d_;
    std::copy_n(x_.row(keys_[first].row), d_, least);
    std::copy_n(least, d_, most);
    index_t lowest = keys_[first].row;
    for (index_t p = first + 1; p < end; ++p) {
      pacer.add(d_);
      const T* x = x_.row(keys_[p].row);
      lowest = std::min(lowest, keys_[p].row);
      for (index_t f = 0; f < d_; ++f) {
        const auto value = static_cast<double>(x[f]);
        least[f] = std::min(least[f], value);
        most[f] = std::max(most[f], value);
      }
    }
    lowest_[node.number] = lowest;
    if (node.is_leaf()) {
      pack(first, end);
      return;
    }
    index_t widest = 0;
    for (index_t f = 1; f < d_; ++f) {
      if (most[f] - least[f] > most[widest] - least[widest]) widest = f;
    }
    for (index_t p = first; p < end; ++p) {
      pacer.add(1);
      keys_[p].value = static_cast<double>(x_.row(keys_[p].row)[widest]);
    }
    RowKey* const middle = keys_.data() + node.middle() * leaf_points_;
    std::nth_element(keys_.data() + first, middle, keys_.data() + end, [&](const RowKey& a, const RowKey& b) {
      pacer.add(1);
      return a < b;
    });
  }

  void split_all(const Node& node, Team& team) {
    split(node, team);
    if (node.is_leaf()) return;
    split_all(node.left(), team);
    split_all(node.right(), team);
  }

  // A panel has a fixed number of points: the unused ones repeat the leaf's last point, and their distances are
  // ignored.
  void pack(index_t first, index_t end) {
    for (index_t p = first; p < first + leaf_points_; ++p) {
      const T* x = x_.row(keys_[std::min(p, end - 1)].row);
      double* const to = points_.data() + p / kPanelPoints * kPanelPoints * d_ + p % kPanelPoints;
      for (index_t f = 0; f < d_; ++f) to[f * kPanelPoints] = static_cast<double>(x[f]);
    }
  }

  // Nodes are visited in the order of the squared distances of their boxes, ties by their lowest row.
  RowKey reach(const Node& node, const double* point) const {
    const double* const box = low(node.number);
    if (d_ > 3) return {kernels_.of_box(box, box + d_, point, d_), lowest_[node.number]};
    // In few dimensions a call of the kernel would cost more than its work.
    double squares[3] = {};
    for (index_t f = 0; f < d_; ++f) {
      const double gap = std::max({box[f] - point[f], point[f] - box[d_ + f], 0.0});
      squares[f] = gap * gap;
    }
    return {(squares[0] + squares[2]) + squares[1], lowest_[node.number]};
  }

  void search_row(index_t row, const double* point, NearestRows& nearest) const {
    struct Open {
      Node node;
      RowKey reach;
    };
    std::array<Open, kMostDepth> open;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    std::size_t n_open = 0;
    Open next = {{0, 0, n_leaves_}, {0.0, lowest_[0]}};
    for (;;) {
      while (!next.node.is_leaf()) {
        Open near = {next.node.left(), {}};
        Open far = {next.node.right(), {}};
        near.reach = reach(near.node, point);
        far.reach = reach(far.node, point);
        if (far.reach < near.reach) std::swap(near, far);
        assert(n_open < open.size());
        if (far.reach < nearest.farthest(row)) open[n_open++] = far;
        next = near;
      }
      if (next.reach < nearest.farthest(row)) search_leaf(next.node, row, point, nearest);
      do {
        if (n_open == 0) return;
        next = open[--n_open];
      } while (!(next.reach < nearest.farthest(row)));
    }
  }

  void search_leaf(const Node& leaf, index_t row, const double* point, NearestRows& nearest) const {
    const index_t end = std::min(leaf.end * leaf_points_, x_.n_rows);
    for (index_t first = leaf.first * leaf_points_; first < end; first += kPanelPoints) {
      alignas(64) double squared[kPanelPoints];
      kernels_.of_panel(points_.data() + first * d_, point, d_, squared);
      const index_t n_points = std::min(kPanelPoints, end - first);
      for (index_t k = 0; k < n_points; ++k) {
        if (squared[k] <= nearest.worst(row) && keys_[first + k].row != row) {
          nearest.offer(row, keys_[first + k].row, squared[k]);
        }
      }
    }
  }

  DenseView<T> x_;
  const DistanceKernels& kernels_;
  index_t d_;
  index_t leaf_points_;
  index_t n_leaves_;
  AlignedBuffer<RowKey> keys_;    // rows in the order of the leaves
  AlignedBuffer<double> points_;  // panels of points in that order
  AlignedBuffer<double> boxes_;   // the least and the largest value of each feature, for each node
  AlignedBuffer<index_t> lowest_;
};

}  // namespace

template <class T>
void search_tree(const DenseView<T>& x, Team& team, NearestRows& nearest) {
  const Tree<T> tree(x, team);
  tree.search(team, nearest);
}

template void search_tree(const DenseView<float>& x, Team& team, NearestRows& nearest);
template void search_tree(const DenseView<double>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
