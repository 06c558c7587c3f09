// The graph that neighbours make: its edges and their weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fastpu/aligned_buffer.hpp"
#include "fastpu/knn_graph.hpp"

namespace fastpu {

namespace {

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

// The neighbours of each row in ascending order of index.
struct ByIndex {
  index_t k;
  std::vector<std::int32_t> rows;
  std::vector<double> squared;

  explicit ByIndex(const KnnView& neighbors)
      : k(neighbors.n_neighbors),
        rows(make_vector<std::int32_t>(neighbors.n_rows * k, "the neighbours in order")),
        squared(make_vector<double>(neighbors.n_rows * k, "the neighbours in order")) {
    constexpr index_t kFew = 16;
    std::vector<std::pair<std::int32_t, double>> sorted(at(k > kFew ? k : 0));
    for (index_t i = 0; i < neighbors.n_rows; ++i) {
      const index_t* from = neighbors.indices + i * k;
      for (index_t m = 0; m < k; ++m) {
        if (from[m] < 0 || from[m] >= neighbors.n_rows) {
          throw std::invalid_argument("neighbour " + std::to_string(m) + " of row " + std::to_string(i) +
                                      " must be in [0, " + std::to_string(neighbors.n_rows) + "), got " +
                                      std::to_string(from[m]));
        }
      }
      if (k > kFew) {
        for (index_t m = 0; m < k; ++m)
          sorted[at(m)] = {static_cast<std::int32_t>(from[m]), neighbors.squared[i * k + m]};
        std::sort(sorted.begin(), sorted.end());
        for (index_t m = 0; m < k; ++m) {
          rows[at(i * k + m)] = sorted[at(m)].first;
          squared[at(i * k + m)] = sorted[at(m)].second;
        }
        continue;
      }
      std::int32_t* const to = rows.data() + i * k;
      double* const length = squared.data() + i * k;
      for (index_t m = 0; m < k; ++m) {
        const auto row = static_cast<std::int32_t>(from[m]);
        index_t place = m;
        for (; place > 0 && to[place - 1] > row; --place) {
          to[place] = to[place - 1];
          length[place] = length[place - 1];
        }
        to[place] = row;
        length[place] = neighbors.squared[i * k + m];
      }
    }
  }

  bool has(index_t i, std::int32_t other) const {
    const std::int32_t* const first = rows.data() + i * k;
    constexpr index_t kFew = 8;
    if (k > kFew) return std::binary_search(first, first + k, other);
    bool found = false;
    for (index_t m = 0; m < k; ++m) found |= first[m] == other;
    return found;
  }
};

void add_up(std::vector<index_t>& counts) {
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

KnnMatrix mutual_edges(const ByIndex& near, index_t n) {
  KnnMatrix edges;
  edges.row_start = make_vector<index_t>(n + 1, "the rows of a graph");
  edges.columns = reserve_vector<std::int32_t>(n * near.k, "the edges of a graph");
  edges.values = reserve_vector<double>(n * near.k, "the edges of a graph");
  for (index_t i = 0; i < n; ++i) {
    for (index_t e = i * near.k; e < (i + 1) * near.k; ++e) {
      if (!near.has(near.rows[at(e)], static_cast<std::int32_t>(i))) continue;
      edges.columns.push_back(near.rows[at(e)]);
      edges.values.push_back(near.squared[at(e)]);
    }
    edges.row_start[at(i) + 1] = static_cast<index_t>(edges.columns.size());
  }
  return edges;
}

// A row's neighbours and the rows that it is a neighbour of, merged: both ascend.
KnnMatrix union_edges(const ByIndex& near, index_t n) {
  struct Back {
    std::int32_t row;
    double squared;
  };
  auto back_start = make_vector<index_t>(n + 1, "the rows of a graph");
  const index_t n_entries = n * near.k;
  const auto is_one_way = [&](index_t e) { return !near.has(near.rows[at(e)], static_cast<std::int32_t>(e / near.k)); };
  index_t n_back = 0;
  for (index_t e = 0; e < n_entries; ++e) {
    if (!is_one_way(e)) continue;
    ++back_start[at(near.rows[at(e)]) + 1];
    ++n_back;
  }
  add_up(back_start);
  auto back = make_vector<Back>(n_back, "the edges of a graph");
  std::vector<index_t> next(back_start.begin(), back_start.end() - 1);
  for (index_t e = 0; e < n_entries; ++e) {
    if (!is_one_way(e)) continue;
    back[at(next[at(near.rows[at(e)])]++)] = {static_cast<std::int32_t>(e / near.k), near.squared[at(e)]};
  }
  KnnMatrix edges;
  edges.row_start = make_vector<index_t>(n + 1, "the rows of a graph");
  edges.columns = make_vector<std::int32_t>(n_entries + n_back, "the edges of a graph");
  edges.values = make_vector<double>(n_entries + n_back, "the edges of a graph");
  index_t to = 0;
  for (index_t i = 0; i < n; ++i) {
    index_t own = i * near.k;
    index_t b = back_start[at(i)];
    while (own < (i + 1) * near.k || b < back_start[at(i) + 1]) {
      const bool is_own =
          b == back_start[at(i) + 1] || (own < (i + 1) * near.k && near.rows[at(own)] < back[at(b)].row);
      edges.columns[at(to)] = is_own ? near.rows[at(own)] : back[at(b)].row;
      edges.values[at(to)] = is_own ? near.squared[at(own)] : back[at(b)].squared;
      ++(is_own ? own : b);
      ++to;
    }
    edges.row_start[at(i) + 1] = to;
  }
  return edges;
}

}  // namespace

KnnMatrix knn_edges(const KnnView& neighbors, bool is_union) {
  if (neighbors.n_rows > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("a graph has at most 2147483647 rows, got " + std::to_string(neighbors.n_rows));
  }
  const ByIndex near(neighbors);
  return is_union ? union_edges(near, neighbors.n_rows) : mutual_edges(near, neighbors.n_rows);
}

KnnSimilarity knn_similarity(const KnnEdges& edges, double sigma) {
  const index_t n = edges.n_rows;
  const index_t n_entries = edges.row_start[n];
  KnnMatrix weights;
  KnnMatrix laplacian;
  weights.row_start = make_vector<index_t>(n + 1, "the rows of W");
  weights.columns = make_vector<std::int32_t>(n_entries, "W");
  weights.values = make_vector<double>(n_entries, "W");
  laplacian.row_start = make_vector<index_t>(n + 1, "the rows of R");
  laplacian.columns = make_vector<std::int32_t>(n_entries + n, "R");
  laplacian.values = make_vector<double>(n_entries + n, "R");
  const double per_row = 1.0 / static_cast<double>(n);
  index_t w = 0;
  index_t r = 0;
  for (index_t i = 0; i < n; ++i) {
    const index_t first = w;
    index_t diagonal = -1;
    double sum = 0;
    for (index_t e = edges.row_start[i]; e < edges.row_start[i + 1]; ++e) {
      const double weight = std::exp(-edges.squared[e] / sigma);
      if (weight == 0) continue;
      const std::int32_t column = edges.columns[e];
      weights.columns[at(w)] = column;
      weights.values[at(w++)] = weight;
      if (diagonal < 0 && column > i) diagonal = r++;
      const double share = weight * per_row;
      laplacian.columns[at(r)] = column;
      laplacian.values[at(r++)] = -share;
      sum += share;
    }
    if (w > first) {
      if (diagonal < 0) diagonal = r++;
      laplacian.columns[at(diagonal)] = static_cast<std::int32_t>(i);
      laplacian.values[at(diagonal)] = sum;
    }
    weights.row_start[at(i) + 1] = w;
    laplacian.row_start[at(i) + 1] = r;
  }
  weights.columns.resize(at(w));
  weights.values.resize(at(w));
  laplacian.columns.resize(at(r));
  laplacian.values.resize(at(r));
  return {std::move(weights), std::move(laplacian)};
}

}  // namespace fastpu
