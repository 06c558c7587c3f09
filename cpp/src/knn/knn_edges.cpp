// The edges that neighbours make, and their weights.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/pacer.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/knn/knn_graph.hpp"

namespace fastpu {

namespace {

constexpr index_t kRowsPerBlock = 1024;
constexpr index_t kFewEntries = 20'000;  // with fewer entries, waking another thread takes longer than the work

int most_workers(index_t n_entries, const Team& team) { return n_entries < kFewEntries ? 1 : team.n_threads(); }

// Calls body(first row, end row, block) for blocks of rows.
template <class Body>
void each_block(index_t n, index_t n_entries, Team& team, Body&& body) {
  team.for_each(count_blocks(n, kRowsPerBlock), most_workers(n_entries, team), [&](index_t block, int) {
    body(block * kRowsPerBlock, std::min((block + 1) * kRowsPerBlock, n), block);
  });
}

// Sorts the entries of a row by column.
class EntrySorter {
 public:
  void sort(std::int32_t* columns, double* values, index_t n) {
    constexpr index_t kFew = 16;
    if (n > kFew) {
      sort_many(columns, values, n);
      return;
    }
    for (index_t m = 1; m < n; ++m) {
      const std::int32_t column = columns[m];
      const double value = values[m];
      index_t place = m;
      for (; place > 0 && columns[place - 1] > column; --place) {
        columns[place] = columns[place - 1];
        values[place] = values[place - 1];
      }
      columns[place] = column;
      values[place] = value;
    }
  }

 private:
  void sort_many(std::int32_t* columns, double* values, index_t n) {
    entries_.resize(at(n));
    for (index_t m = 0; m < n; ++m) entries_[at(m)] = {columns[m], values[m]};
    std::sort(entries_.begin(), entries_.end());
    for (index_t m = 0; m < n; ++m) {
      columns[m] = entries_[at(m)].first;
      values[m] = entries_[at(m)].second;
    }
  }

  std::vector<std::pair<std::int32_t, double>> entries_;
};

bool is_neighbor(const KnnView& near, index_t i, index_t other) {
  const index_t* const first = near.indices + i * near.n_neighbors;
  bool is_there = false;
  for (index_t m = 0; m < near.n_neighbors; ++m) is_there |= first[m] == other;
  return is_there;
}

void check_indices(const KnnView& near, Team& team) {
  each_block(near.n_rows, near.n_rows * near.n_neighbors, team, [&](index_t first, index_t end, index_t) {
    for (index_t e = first * near.n_neighbors; e < end * near.n_neighbors; ++e) {
      if (near.indices[e] >= 0 && near.indices[e] < near.n_rows) continue;
      throw std::invalid_argument("indices must be in [0, " + std::to_string(near.n_rows) + "), got " +
                                  std::to_string(near.indices[e]) + " for row " + std::to_string(e / near.n_neighbors));
    }
  });
}

void add_up(std::vector<index_t>& counts) {
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

// Closes the gaps that blocks of rows have left behind their entries; block b has written its own from written_from[b].
void close_gaps(KnnMatrix& matrix, const std::vector<index_t>& written_from) {
  for (std::size_t block = 0; block < written_from.size(); ++block) {
    const index_t first = matrix.row_start[block * kRowsPerBlock];
    const index_t end = matrix.row_start[std::min(matrix.row_start.size() - 1, (block + 1) * kRowsPerBlock)];
    const index_t from = written_from[block];
    if (from == first || end == first) continue;
    std::memmove(matrix.columns.data() + first, matrix.columns.data() + from, at(end - first) * sizeof(std::int32_t));
    std::memmove(matrix.values.data() + first, matrix.values.data() + from, at(end - first) * sizeof(double));
  }
  matrix.columns.resize(at(matrix.row_start.back()));
  matrix.values.resize(at(matrix.row_start.back()));
}

KnnMatrix empty_matrix(index_t n, index_t n_entries, const char* what_for) {
  KnnMatrix matrix;
  matrix.row_start = make_vector<index_t>(n + 1, what_for);
  matrix.columns = make_vector<std::int32_t>(n_entries, what_for);
  matrix.values = make_vector<double>(n_entries, what_for);
  return matrix;
}

KnnMatrix mutual_edges(const KnnView& near, Team& team) {
  const index_t n = near.n_rows;
  const index_t k = near.n_neighbors;
  KnnMatrix edges = empty_matrix(n, n * k, "the edges of a graph");
  std::vector<index_t> written_from(at(count_blocks(n, kRowsPerBlock)));
  each_block(n, n * k, team, [&](index_t first, index_t end, index_t block) {
    EntrySorter sorter;
    index_t to = written_from[at(block)] = first * k;
    for (index_t i = first; i < end; ++i) {
      const index_t start = to;
      for (index_t e = i * k; e < (i + 1) * k; ++e) {
        if (!is_neighbor(near, near.indices[e], i)) continue;
        edges.columns[at(to)] = static_cast<std::int32_t>(near.indices[e]);
        edges.values[at(to++)] = near.squared[e];
      }
      sorter.sort(edges.columns.data() + start, edges.values.data() + start, to - start);
      edges.row_start[at(i) + 1] = to - start;
    }
  });
  add_up(edges.row_start);
  close_gaps(edges, written_from);
  return edges;
}

// The edges of a row: to its neighbours, and to the rows whose neighbour it is.
KnnMatrix union_edges(const KnnView& near, Team& team) {
  // The edge of a row to one that has it as a neighbour, but is not its neighbour.
  struct BackEdge {
    std::int32_t row;
    double squared;
  };
  const index_t n = near.n_rows;
  const index_t k = near.n_neighbors;
  auto is_one_way = make_vector<std::uint8_t>(n * k, "the edges of a graph");
  each_block(n, n * k, team, [&](index_t first, index_t end, index_t) {
    for (index_t e = first * k; e < end * k; ++e) is_one_way[at(e)] = is_neighbor(near, near.indices[e], e / k) ? 0 : 1;
  });
  auto back_start = make_vector<index_t>(n + 1, "the rows of a graph");
  detail::Pacer pacer([&team] { team.poll(); });
  pacer.run(0, n * k, [&](index_t first, index_t end) {
    for (index_t e = first; e < end; ++e) back_start[at(near.indices[e]) + 1] += is_one_way[at(e)];
  });
  add_up(back_start);
  auto back = make_vector<BackEdge>(back_start.back(), "the edges of a graph");
  std::vector<index_t> next(back_start.begin(), back_start.end() - 1);
  pacer.run(0, n * k, [&](index_t first, index_t end) {
    for (index_t e = first; e < end; ++e) {
      if (is_one_way[at(e)] == 0) continue;
      back[at(next[at(near.indices[e])]++)] = {static_cast<std::int32_t>(e / k), near.squared[e]};
    }
  });
  KnnMatrix edges = empty_matrix(n, n * k + back_start.back(), "the edges of a graph");
  each_block(n, n * k, team, [&](index_t first, index_t end, index_t) {
    EntrySorter sorter;
    for (index_t i = first; i < end; ++i) {
      const index_t start = i * k + back_start[at(i)];
      index_t to = start;
      for (index_t e = i * k; e < (i + 1) * k; ++e) {
        edges.columns[at(to)] = static_cast<std::int32_t>(near.indices[e]);
        edges.values[at(to++)] = near.squared[e];
      }
      for (index_t b = back_start[at(i)]; b < back_start[at(i) + 1]; ++b) {
        edges.columns[at(to)] = back[at(b)].row;
        edges.values[at(to++)] = back[at(b)].squared;
      }
      sorter.sort(edges.columns.data() + start, edges.values.data() + start, to - start);
      edges.row_start[at(i) + 1] = to;
    }
  });
  return edges;
}

}  // namespace

KnnMatrix knn_edges(const KnnView& neighbors, bool is_union, Team& team) {
  if (neighbors.n_rows > std::numeric_limits<std::int32_t>::max()) {
    throw std::invalid_argument("a graph has at most 2147483647 rows, got " + std::to_string(neighbors.n_rows));
  }
  check_indices(neighbors, team);
  return is_union ? union_edges(neighbors, team) : mutual_edges(neighbors, team);
}

KnnSimilarity knn_similarity(const KnnEdges& edges, double sigma, Team& team) {
  const index_t n = edges.n_rows;
  const index_t n_entries = edges.row_start[n];
  KnnMatrix weights = empty_matrix(n, n_entries, "W");
  KnnMatrix laplacian = empty_matrix(n, n_entries + n, "R");
  const double per_row = 1.0 / static_cast<double>(n);
  std::vector<index_t> w_from(at(count_blocks(n, kRowsPerBlock)));
  std::vector<index_t> r_from(w_from.size());
  each_block(n, n_entries, team, [&](index_t first, index_t end, index_t block) {
    index_t w = w_from[at(block)] = edges.row_start[first];
    index_t r = r_from[at(block)] = edges.row_start[first] + first;
    for (index_t i = first; i < end; ++i) {
      const index_t w_start = w;
      const index_t r_start = r;
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
      if (w > w_start) {
        if (diagonal < 0) diagonal = r++;
        laplacian.columns[at(diagonal)] = static_cast<std::int32_t>(i);
        laplacian.values[at(diagonal)] = sum;
      }
      weights.row_start[at(i) + 1] = w - w_start;
      laplacian.row_start[at(i) + 1] = r - r_start;
    }
  });
  add_up(weights.row_start);
  add_up(laplacian.row_start);
  close_gaps(weights, w_from);
  close_gaps(laplacian, r_from);
  return {std::move(weights), std::move(laplacian)};
}

}  // namespace fastpu
