#include "fastpu/linalg/tiled_blas.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "fastpu/common/aligned_buffer.hpp"

namespace fastpu {
namespace {

constexpr index_t kTile = 192;
// Rows of a thin matrix are summed in at most so many groups, each by one thread.
constexpr index_t kGroups = 32;
constexpr index_t kLeastRows = 1024;  // of a group
// A thread is woken for so many multiplications at least.
constexpr double kWorthIt = 2e6;

// The most workers of a loop over so many multiplications, a x b x c.
int workers(index_t a, index_t b, index_t c) {
  const bool is_small = static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) < kWorthIt;
  return is_small ? 1 : std::numeric_limits<int>::max();
}

template <class T>
BlasMatrix<T> part(BlasMatrix<T> a, index_t row, index_t n_rows, index_t col, index_t n_cols) {
  return {a.data + row * a.stride + col, n_rows, n_cols, a.stride};
}

// The rows [first, first + n) of op(A).
BlasMatrix<const double> op_rows_of(Op op, BlasMatrix<const double> a, index_t first, index_t n) {
  return op == Op::none ? part(a, first, n, 0, a.n_cols) : part(a, 0, a.n_rows, first, n);
}

index_t extent(index_t first, index_t end) { return std::min(kTile, end - first); }

// The k-th pair (i, j), j <= i, of a triangle.
std::pair<index_t, index_t> pair_of(index_t k) {
  index_t i = 0;
  while ((i + 1) * (i + 2) / 2 <= k) ++i;
  return {i, k - i * (i + 1) / 2};
}

void mirror(BlasMatrix<double> c) {
  for (index_t i = 0; i < c.n_rows; ++i) {
    for (index_t j = 0; j < i; ++j) c.data[j * c.stride + i] = c.data[i * c.stride + j];
  }
}

}  // namespace

void TiledBlas::product(BlasMatrix<const double> a, BlasMatrix<const double> b, BlasMatrix<double> c) const {
  if (a.n_cols != b.n_rows || c.n_rows != a.n_rows || c.n_cols != b.n_cols) {
    throw std::invalid_argument("A must have as many columns as B has rows, got " + std::to_string(a.n_cols) + " and " +
                                std::to_string(b.n_rows) + ", and C the rows of A and the columns of B");
  }
  const index_t down = count_blocks(c.n_rows, kTile);
  const index_t across = count_blocks(c.n_cols, kTile);
  team_.for_each(down * across, workers(c.n_rows, c.n_cols, a.n_cols), [&](index_t block, int) {
    const index_t i = block / across * kTile;
    const index_t j = block % across * kTile;
    const index_t n_rows = extent(i, c.n_rows);
    const index_t n_cols = extent(j, c.n_cols);
    blas_.gemm(Op::none, Op::none, 1.0, part(a, i, n_rows, 0, a.n_cols), part(b, 0, b.n_rows, j, n_cols), 0.0,
               part(c, i, n_rows, j, n_cols));
  });
}

void TiledBlas::add_lower(Op op, double alpha, BlasMatrix<const double> a, BlasMatrix<const double> b, double beta,
                          BlasMatrix<double> c) const {
  const Op other = op == Op::none ? Op::transpose : Op::none;
  const index_t depth = op == Op::none ? a.n_cols : a.n_rows;
  const index_t n = c.n_rows;
  if (c.n_cols != n) throw std::invalid_argument("C must be square");
  const index_t tiles = count_blocks(n, kTile);
  team_.for_each(tiles * (tiles + 1) / 2, workers(depth, n, n), [&](index_t block, int) {
    const auto [row, col] = pair_of(block);
    const index_t i = row * kTile;
    const index_t j = col * kTile;
    const auto left = op_rows_of(op, a, i, extent(i, n));
    const auto to = part(c, i, extent(i, n), j, extent(j, n));
    if (i == j && a.data == b.data) {
      blas_.syrk(op, alpha, left, beta, to);
    } else {
      blas_.gemm(op, other, alpha, left, op_rows_of(op, b, j, extent(j, n)), beta, to);
    }
  });
}

void TiledBlas::symmetric_product(Op op, BlasMatrix<const double> a, BlasMatrix<const double> b,
                                  BlasMatrix<double> c) const {
  add_lower(op, 1.0, a, b, 0.0, c);
  mirror(c);
}

void TiledBlas::gram(BlasMatrix<const double> a, BlasMatrix<double> c) const {
  const index_t n_cols = a.n_cols;
  if (c.n_rows != n_cols || c.n_cols != n_cols) {
    throw std::invalid_argument("C must have " + std::to_string(n_cols) + " rows and columns");
  }
  if (c.stride < n_cols) {
    throw std::invalid_argument("row stride of C must be >= its " + std::to_string(n_cols) + " columns, got " +
                                std::to_string(c.stride));
  }
  if (n_cols > kTile) return symmetric_product(Op::transpose, a, a, c);
  const index_t rows = std::max(kLeastRows, count_blocks(a.n_rows, kGroups));
  const index_t groups = std::max<index_t>(count_blocks(a.n_rows, rows), 1);
  auto sums = AlignedBuffer<double>(groups * n_cols * n_cols, "sums of products");
  team_.for_each(groups, workers(a.n_rows, n_cols, n_cols), [&](index_t group, int) {
    const index_t first = group * rows;
    blas_.syrk(Op::transpose, 1.0, part(a, first, std::max<index_t>(std::min(rows, a.n_rows - first), 0), 0, n_cols),
               0.0, BlasMatrix<double>(sums.data() + group * n_cols * n_cols, n_cols, n_cols));
  });
  for (index_t i = 0; i < n_cols; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (index_t group = 0; group < groups; ++group) sum += sums[(group * n_cols + i) * n_cols + j];
      c.data[i * c.stride + j] = sum;
    }
  }
  mirror(c);
}

index_t TiledBlas::cholesky(BlasMatrix<double> a) const {
  const index_t n = a.n_rows;
  if (a.n_cols != n) throw std::invalid_argument("A must be square");
  for (index_t first = 0; first < n; first += kTile) {
    const index_t size = extent(first, n);
    const index_t end = first + size;
    const auto pivot = part(a, first, size, first, size);
    if (const index_t minor = blas_.potrf(pivot); minor != 0) return first + minor;
    if (end == n) break;
    const auto below = part(a, end, n - end, first, size);
    solve(pivot, below);
    add_lower(Op::none, -1.0, below, below, 1.0, part(a, end, n - end, end, n - end));
  }
  return 0;
}

void TiledBlas::solve(BlasMatrix<const double> l, BlasMatrix<double> b) const {
  constexpr index_t kRows = 64;
  team_.for_blocks(b.n_rows, kRows, workers(b.n_rows, l.n_rows, l.n_rows), [&](index_t first, index_t end, int) {
    blas_.trsm(Op::transpose, l, part(b, first, end - first, 0, b.n_cols));
  });
}

}  // namespace fastpu
