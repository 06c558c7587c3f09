// The nearest rows so far of every row: a heap for each row, the farthest first, in the arrays of the result.
#pragma once

#include <algorithm>
#include <limits>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// A row with a number by which it is sorted, such as its distance; ties have a fixed order.
struct RowKey {
  double value;
  index_t row;
  bool operator<(const RowKey& other) const { return value < other.value || (value == other.value && row < other.row); }
};

class NearestRows {
 public:
  static constexpr index_t kNoRow = std::numeric_limits<index_t>::max();

  NearestRows(index_t n_neighbors, index_t* indices, double* squared)
      : n_(n_neighbors), indices_(indices), squared_(squared) {}

  // Empties the heap of a row: unused places are infinitely far away.
  void clear(index_t row) {
    std::fill_n(indices_ + row * n_, n_, kNoRow);
    std::fill_n(squared_ + row * n_, n_, kInfinity);
  }

  index_t n_neighbors() const { return n_; }

  // The squared distance of the farthest row in the heap; infinity while the heap is not full.
  double worst(index_t row) const { return squared_[row * n_]; }
  RowKey farthest(index_t row) const { return {worst(row), indices_[row * n_]}; }

  // Adds `other` if it is nearer than the farthest row in the heap, or as near with a lower index; returns whether it
  // was added.
  bool offer(index_t row, index_t other, double squared) {
    double* const s = squared_ + row * n_;
    index_t* const r = indices_ + row * n_;
    if (squared > s[0] || (squared == s[0] && other > r[0])) return false;
    sift(s, r, n_, squared, other);
    return true;
  }

  void swap(index_t row, index_t other) {
    std::swap_ranges(indices_ + row * n_, indices_ + (row + 1) * n_, indices_ + other * n_);
    std::swap_ranges(squared_ + row * n_, squared_ + (row + 1) * n_, squared_ + other * n_);
  }

  // Sorts the heap of a row, nearest first.
  void sort(index_t row) {
    double* const s = squared_ + row * n_;
    index_t* const r = indices_ + row * n_;
    for (index_t last = n_ - 1; last > 0; --last) {
      const double squared = s[last];
      const index_t other = r[last];
      s[last] = s[0];
      r[last] = r[0];
      sift(s, r, last, squared, other);
    }
  }

 private:
  // Replaces the farthest entry of a heap of n entries.
  static void sift(double* s, index_t* r, index_t n, double squared, index_t other) {
    index_t hole = 0;
    for (index_t child = 1; child < n; child = 2 * hole + 1) {
      if (child + 1 < n && is_worse(s[child + 1], r[child + 1], s[child], r[child])) ++child;
      if (!is_worse(s[child], r[child], squared, other)) break;
      s[hole] = s[child];
      r[hole] = r[child];
      hole = child;
    }
    s[hole] = squared;
    r[hole] = other;
  }
  static bool is_worse(double a, index_t i, double b, index_t j) { return a > b || (a == b && i > j); }

  index_t n_;
  index_t* indices_;
  double* squared_;
};

}  // namespace fastpu::detail
