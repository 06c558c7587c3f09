#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "data/entries_by_feature.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "knn/knn_searches.hpp"
#include "linalg/row_products.hpp"

namespace fastpu::detail {

namespace {

constexpr index_t kRowsPerBlock = 16;
constexpr index_t kChunk = 64;  // rows whose distances are tested at once, before single ones are

template <class T>
class SparseSearch {
 public:
  SparseSearch(const CsrView<T>& x, Team& team, NearestRows& nearest)
      : x_(x),
        team_(team),
        nearest_(nearest),
        columns_(x, Pacer(team)),
        halves_(x.n_rows, "the squared lengths of rows") {
    Pacer pacer(team);
    for (index_t i = 0; i < x.n_rows; ++i) {
      double sum = 0;
      double largest = 0;
      for (index_t e = x.row_start[i]; e < x.row_start[i + 1]; ++e) {
        const auto value = static_cast<double>(x.values[e]);
        sum += value * value;
        largest = std::max(largest, std::abs(value));
      }
      if (!std::isfinite(8 * sum)) {
        std::ostringstream message;
        message << "X must have squared distances within the range of float64, got row " << i << " with values up to "
                << largest << "; scale X";
        throw std::invalid_argument(message.str());
      }
      halves_[i] = 0.5 * sum;
      pacer.add(x.row_start[i + 1] - x.row_start[i]);
    }
  }

  void run() {
    scratch_.resize(at(team_.n_threads()));
    team_.for_blocks(x_.n_rows, kRowsPerBlock, team_.n_threads(), [&](index_t first, index_t end, int worker) {
      Scratch& scratch = scratch_[at(worker)];
      if (scratch.halves.empty()) {
        scratch.halves = AlignedBuffer<double>(x_.n_rows, "the distances of a row");
        scratch.least = make_vector<double>(nearest_.n_neighbors(), "the least distances of a row");
      }
      for (index_t i = first; i < end; ++i) {
        team_.poll();
        search_row(i, scratch);
      }
    });
  }

 private:
  struct Scratch {
    AlignedBuffer<double> halves;  // half the squared distance to every row, rounded
    std::vector<double> least;     // a heap of the smallest of them
  };

  // |x_i - x_j|^2 / 2 = h_i + h_j - x_i'x_j, and the computed value is off by at most `rounding` (h_i + h_j): each of
  // the three terms is a sum of at most as many products as the two rows have entries, and none exceeds h_i + h_j.
  void search_row(index_t i, Scratch& scratch) {
    const index_t n = x_.n_rows;
    double* const near = scratch.halves.data();
    std::fill_n(near, n, 0.0);
    for (index_t e = x_.row_start[i]; e < x_.row_start[i + 1]; ++e) {
      const auto value = static_cast<double>(x_.values[e]);
      const auto column = at(x_.columns[e]);
      const std::uint32_t* rows = columns_.rows.data();
      const T* values = columns_.values.data();
      for (index_t k = columns_.start[column]; k < columns_.start[column + 1]; ++k)
        near[rows[k]] += value * static_cast<double>(values[k]);
    }
    const double own = halves_[i];
    for (index_t j = 0; j < n; ++j) near[j] = (own + halves_[j]) - near[j];

    const double rounding = 4 * static_cast<double>(x_.row_start[i + 1] - x_.row_start[i] + 8) * 0x1p-53;
    const double most = bound(i, rounding, scratch);
    nearest_.clear(i);
    each_below(
        near, n, [&](index_t j, double value) { return value - rounding * (own + halves_[j]) <= most; },
        [&](index_t j) {
          if (j != i) nearest_.offer(i, j, squared_distance(x_, i, x_, j));
        });
    nearest_.sort(i);
  }

  // An upper bound of half the squared distance of the farthest neighbour, whatever the rounding errors.
  double bound(index_t i, double rounding, Scratch& scratch) const {
    const double own = halves_[i];
    const double* const near = scratch.halves.data();
    std::fill(scratch.least.begin(), scratch.least.end(), kInfinity);
    std::vector<double>& least = scratch.least;
    each_below(
        near, x_.n_rows, [&](index_t, double value) { return value < least.front(); },
        [&](index_t j) {
          const double value = near[j] + rounding * (own + halves_[j]);
          if (j == i || value >= least.front()) return;
          std::pop_heap(least.begin(), least.end());
          least.back() = value;
          std::push_heap(least.begin(), least.end());
        });
    // The exact distances are rounded too, where they are computed, and squares of differences may underflow.
    const double slack = least.front() * (1 + 0x1p-20) + rounding * own;
    return slack + std::numeric_limits<double>::min();
  }

  // Calls visit(j) for every j with passes(j, numbers[j]). A whole chunk is tested first, which compilers vectorise.
  template <class Passes, class Visit>
  static void each_below(const double* numbers, index_t n, Passes&& passes, Visit&& visit) {
    for (index_t first = 0; first < n; first += kChunk) {
      const index_t end = std::min(first + kChunk, n);
      int n_passing = 0;
      for (index_t j = first; j < end; ++j) n_passing += passes(j, numbers[j]) ? 1 : 0;
      if (n_passing == 0) continue;
      for (index_t j = first; j < end; ++j) {
        if (passes(j, numbers[j])) visit(j);
      }
    }
  }

  CsrView<T> x_;
  Team& team_;
  NearestRows& nearest_;
  EntriesByFeature<T> columns_;
  AlignedBuffer<double> halves_;  // |x|^2 / 2
  std::vector<Scratch> scratch_;  // one per worker
};

}  // namespace

template <class T>
void search_sparse(const CsrView<T>& x, Team& team, NearestRows& nearest) {
  SparseSearch<T>(x, team, nearest).run();
}

template void search_sparse(const CsrView<float>& x, Team& team, NearestRows& nearest);
template void search_sparse(const CsrView<double>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
