#include "fastpu/knn/knn_graph.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/pacer.hpp"
#include "common/to_text.hpp"
#include "knn/knn_searches.hpp"
#include "knn/nearest_rows.hpp"

namespace fastpu {

namespace {

// The number of points that a search of the tree visits grows quickly with the dimension and slowly with n. Normally
// distributed rows are its worst case: on these it is faster than blocks up to this many features, and up to one more
// for every factor of four in n.
constexpr index_t kTreeFeatures = 3;
constexpr index_t kRowsForMore = 20'000;

void check_neighbors(index_t n_neighbors, index_t n_rows) {
  if (n_neighbors < 0 || n_neighbors > std::max<index_t>(n_rows - 1, 0)) {
    throw std::invalid_argument("n_neighbors must be in [0, " + std::to_string(std::max<index_t>(n_rows - 1, 0)) +
                                "], got " + std::to_string(n_neighbors));
  }
}

// Throws if the sum of the squared ranges of the columns overflows: no squared distance exceeds it, not even when
// rounded.
template <class T>
void check_ranges(const DenseView<T>& x, Team& team) {
  std::vector<T> least(x.row(0), x.row(0) + x.n_cols);
  std::vector<T> most(least);
  int n_nan = 0;  // NaN has to be counted: comparisons with it are false, so that the range would not show it
  detail::Pacer pacer(team);
  for (index_t i = 0; i < x.n_rows; ++i) {
    const T* row = x.row(i);
    for (std::size_t f = 0; f < least.size(); ++f) {
      least[f] = std::min(least[f], row[f]);
      most[f] = std::max(most[f], row[f]);
      n_nan |= static_cast<int>(row[f] != row[f]);
    }
    pacer.add(x.n_cols);
  }
  double sum = 0;
  double widest = 0;
  std::size_t widest_column = 0;
  for (std::size_t f = 0; f < least.size(); ++f) {
    const double range = static_cast<double>(most[f]) - static_cast<double>(least[f]);
    sum += range * range;
    if (range > widest) {
      widest = range;
      widest_column = f;
    }
  }
  if (n_nan != 0) throw std::invalid_argument("X must have finite entries, got NaN");
  if (!std::isfinite(4 * sum)) {
    throw std::invalid_argument("X must have squared distances within the range of float64, got column " +
                                std::to_string(widest_column) + " with values that differ by " +
                                detail::to_text(widest) + "; scale X");
  }
}

bool prefers_tree(index_t n, index_t d) {
  index_t most = kTreeFeatures;
  for (index_t rows = n; rows >= kRowsForMore; rows /= 4) ++most;
  return d <= most;
}

}  // namespace

template <class T>
void knn_search(const DenseView<T>& x, const KnnOptions& options, Team& team, index_t* indices, double* squared) {
  check_neighbors(options.n_neighbors, x.n_rows);
  if (x.n_rows == 0) return;
  check_ranges(x, team);
  if (options.n_neighbors == 0) return;
  if (x.n_cols == 0) {  // all rows are alike
    for (index_t i = 0; i < x.n_rows; ++i) {
      for (index_t k = 0; k < options.n_neighbors; ++k) indices[i * options.n_neighbors + k] = k < i ? k : k + 1;
    }
    std::fill_n(squared, x.n_rows * options.n_neighbors, 0.0);
    return;
  }
  detail::NearestRows nearest(options.n_neighbors, indices, squared);
  const bool is_tree =
      options.method == KnnMethod::automatic ? prefers_tree(x.n_rows, x.n_cols) : options.method == KnnMethod::tree;
  if (!is_tree && detail::search_blocks(x, team, nearest)) return;
  detail::search_tree(x, team, nearest);
}

template <class T>
void knn_search(const CsrView<T>& x, const KnnOptions& options, Team& team, index_t* indices, double* squared) {
  check_neighbors(options.n_neighbors, x.n_rows);
  if (options.n_neighbors == 0) return;
  detail::NearestRows nearest(options.n_neighbors, indices, squared);
  detail::search_sparse(x, team, nearest);
}

template void knn_search(const DenseView<float>&, const KnnOptions&, Team&, index_t*, double*);
template void knn_search(const DenseView<double>&, const KnnOptions&, Team&, index_t*, double*);
template void knn_search(const CsrView<float>&, const KnnOptions&, Team&, index_t*, double*);
template void knn_search(const CsrView<double>&, const KnnOptions&, Team&, index_t*, double*);

}  // namespace fastpu
