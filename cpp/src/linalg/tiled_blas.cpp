#include "fastpu/linalg/tiled_blas.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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
BlasMatrix<const double> op_cols_of(Op op, BlasMatrix<const double> a, index_t first, index_t n) {
  return op == Op::none ? part(a, 0, a.n_rows, first, n) : part(a, first, n, 0, a.n_cols);
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

void TiledBlas::symmetric_product(Op op, BlasMatrix<const double> a, BlasMatrix<const double> b,
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
      blas_.syrk(op, 1.0, left, 0.0, to);
    } else {
      blas_.gemm(op, other, 1.0, left, op_cols_of(other, b, j, extent(j, n)), 0.0, to);
    }
  });
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

// A single loop over all tiles leaves no thread idle between one column of tiles and the next. They are dealt out in an
// order in which each comes after those that it needs, so that a tile that is waited for is in work already.
index_t TiledBlas::cholesky(BlasMatrix<double> a) const {
  const index_t n = a.n_rows;
  if (a.n_cols != n) throw std::invalid_argument("A must be square");
  const index_t tiles = count_blocks(n, kTile);
  const index_t last = tiles * (tiles + 1) / 2 - 1;
  const auto tile = [&](index_t i, index_t j) {
    return part(a, i * kTile, extent(i * kTile, n), j * kTile, extent(j * kTile, n));
  };
  std::vector<std::atomic<bool>> done(at(tiles * tiles));
  std::atomic<index_t> failed{0};
  const auto is_there = [&](index_t i, index_t j) {
    const std::atomic<bool>& it = done[at(i * tiles + j)];
    team_.wait_until([&] { return it.load(std::memory_order_acquire) || failed.load(std::memory_order_relaxed) != 0; });
    return it.load(std::memory_order_acquire);
  };
  // More threads than a column has tiles would mostly wait for each other.
  const int max_workers = static_cast<int>(std::min<index_t>(workers(n, n, n), std::max<index_t>(tiles - 1, 1)));
  team_.for_each(last + 1, max_workers, [&](index_t block, int) {
    const auto [from_right, from_below] = pair_of(last - block);  // column by column
    const index_t i = tiles - 1 - from_below;
    const index_t j = tiles - 1 - from_right;
    for (index_t k = 0; k < j; ++k) {
      if (!is_there(i, k) || !is_there(j, k)) return;
      if (i == j) {
        blas_.syrk(Op::none, -1.0, tile(i, k), 1.0, tile(i, i));
      } else {
        blas_.gemm(Op::none, Op::transpose, -1.0, tile(i, k), tile(j, k), 1.0, tile(i, j));
      }
    }
    if (i == j) {
      if (const index_t minor = blas_.potrf(tile(i, i)); minor != 0) {
        failed = i * kTile + minor;
        return;
      }
    } else {
      if (!is_there(j, j)) return;
      blas_.trsm(Op::transpose, tile(j, j), tile(i, j));
    }
    done[at(i * tiles + j)].store(true, std::memory_order_release);
  });
  return failed;
}

void TiledBlas::solve(BlasMatrix<const double> l, BlasMatrix<double> b) const {
  constexpr index_t kRows = 64;
  team_.for_each(count_blocks(b.n_rows, kRows), workers(b.n_rows, l.n_rows, l.n_rows), [&](index_t block, int) {
    const index_t row = block * kRows;
    blas_.trsm(Op::transpose, l, part(b, row, std::min(kRows, b.n_rows - row), 0, b.n_cols));
  });
}

}  // namespace fastpu
