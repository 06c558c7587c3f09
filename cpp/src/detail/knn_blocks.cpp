#include "detail/knn_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "detail/distance_filter.hpp"
#include "detail/distance_kernels.hpp"
#include "fastpu/aligned_buffer.hpp"

namespace fastpu::detail {

namespace {

constexpr double kSingle = 0x1p-24;     // half a unit in the last place of 1, float
constexpr double kTiny = 0x1p-149;      // the least float > 0: no rounding of a small number is off by more
constexpr double kSlack = 1 + 0x1p-20;  // more than the roundings of the few operations in double that make a bound
constexpr float kNever = 1e30F;         // half a squared length: a row of the filling is near nobody
constexpr double kEverybody = 1e29;     // a limit above the squared distance of any two rows
constexpr index_t kMostFeatures = index_t{1} << 18;  // up to which the bound is good for something
constexpr index_t kSampledRows = 4096;               // for the centre

// Where the filter finds more than this part of all pairs and so many per row, exact distances take the time.
constexpr index_t kPairsPerFound = 32;
constexpr index_t kFoundPerRow = 256;

index_t block_rows(index_t n, index_t d) {
  const index_t wanted = n >= 10'000 ? 480 : n >= 2'500 ? 240 : n >= 1'000 ? 96 : kFilterPanel;
  // A block against another is some milliseconds of work, or Ctrl-C would not be seen for long.
  index_t rows = wanted;
  while (rows > kFilterPanel && rows * rows * d > (index_t{1} << 27)) rows -= kFilterPanel;
  return rows;
}

template <class T>
class BlockSearch {
 public:
  BlockSearch(const DenseView<T>& x, Isa isa, Team& team, NearestRows& nearest)
      : x_(x),
        filter_(distance_filter(isa)),
        distances_(distance_kernels(isa).of<T>()),
        team_(team),
        nearest_(nearest),
        n_(x.n_rows),
        d_(x.n_cols),
        block_rows_(block_rows(x.n_rows, x.n_cols)),
        n_blocks_(count_blocks(x.n_rows, block_rows_)) {}

  bool run() {
    n_sampled_ = std::min(n_ - 1, 2 * nearest_.n_neighbors() + 54);
    if (n_sampled_ < n_ - 1 && d_ > kMostFeatures) return false;
    if (n_sampled_ < n_ - 1) pack();
    sample();
    if (n_sampled_ < n_ - 1 && !compare_all()) return false;
    team_.for_each(n_blocks_, [&](index_t block, int) {
      for (index_t i = first_row(block); i < end_row(block); ++i) nearest_.sort(i);
    });
    return true;
  }

 private:
  // Memory of one worker.
  struct Scratch {
    std::vector<std::uint32_t> found;
    std::vector<RowPair> pairs;
    std::vector<double> squared;
  };

  index_t first_row(index_t block) const { return block * block_rows_; }
  index_t end_row(index_t block) const { return std::min((block + 1) * block_rows_, n_); }
  index_t n_panels(index_t block) const { return count_blocks(end_row(block) - first_row(block), kFilterPanel); }
  const float* panel(index_t row) const { return packed_.data() + row / kFilterPanel * kFilterPanel * d_; }

  // y = (x - centre) 2^k in float32, |y| about 1, in panels.
  void pack() {
    std::vector<double> centre(static_cast<std::size_t>(d_));
    const index_t step = std::max<index_t>(1, n_ / kSampledRows);
    const auto n_summed = static_cast<double>(count_blocks(n_, step));
    for (index_t i = 0; i < n_; i += step) {
      for (index_t f = 0; f < d_; ++f)
        centre[static_cast<std::size_t>(f)] += static_cast<double>(x_.row(i)[f]) / n_summed;
    }
    std::vector<double> most(static_cast<std::size_t>(n_blocks_));
    team_.for_each(n_blocks_, [&](index_t block, int) {
      double largest = 0;
      for (index_t i = first_row(block); i < end_row(block); ++i) {
        const T* x = x_.row(i);
        for (index_t f = 0; f < d_; ++f)
          largest = std::max(largest, std::abs(static_cast<double>(x[f]) - centre[static_cast<std::size_t>(f)]));
      }
      most[static_cast<std::size_t>(block)] = largest;
    });
    const double largest = *std::max_element(most.begin(), most.end());
    const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
    // Beyond that 2^k is no double; then less than all of the range of float32 is used.
    scale_ = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
    const index_t n_padded = count_blocks(n_, kFilterPanel) * kFilterPanel;
    packed_ = AlignedBuffer<float>(n_padded * d_, "the rows in float32");
    halves_ = AlignedBuffer<float>(n_padded, "the squared lengths of rows");
    limits_ = AlignedBuffer<float>(n_padded, "the limits of rows");
    lengths_ = AlignedBuffer<double>(n_padded, "the lengths of rows");
    team_.for_each(n_blocks_, [&](index_t block, int) {
      const index_t end = first_row(block) + n_panels(block) * kFilterPanel;
      for (index_t i = first_row(block); i < end; ++i) pack_row(i, centre.data());
    });
  }

  void pack_row(index_t i, const double* centre) {
    float* const y = packed_.data() + i / kFilterPanel * kFilterPanel * d_ + i % kFilterPanel;
    limits_[i] = 0;
    if (i >= n_) {
      for (index_t f = 0; f < d_; ++f) y[f * kFilterPanel] = 0;
      halves_[i] = kNever;
      lengths_[i] = 0;
      return;
    }
    const T* x = x_.row(i);
    double sum = 0;
    for (index_t f = 0; f < d_; ++f) {
      const auto value = static_cast<float>((static_cast<double>(x[f]) - centre[f]) * scale_);
      y[f * kFilterPanel] = value;
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    halves_[i] = static_cast<float>(0.5 * sum);
    lengths_[i] = std::sqrt(sum) * kSlack;
  }

  // A limit such that the filter finds every pair of row i at a squared distance, as it is computed, of at most
  // `squared`. With a hat for numbers of the filter, u = 2^-24, r for the scaled distance, a row j at that distance has
  // |y_j| <= |y_i| + r, and
  //     |yhat_i - yhat_j| <= r + u (|y_i| + |y_j|) + tiny,
  //     |computed - (|yhat_i - yhat_j|^2 / 2 - limit)| <= (d + 8) u (h_i + h_j + |yhat_i| |yhat_j| + limit) + tiny,
  // for a sum of n terms in any order is off by at most n - 1 roundings of the sum of their absolute values.
  float limit(index_t i, double squared) const {
    const auto d = static_cast<double>(d_);
    // Squares of differences lose at most the least double > 0 each.
    const double exact = (squared * (1 + (d + 16) * 0x1p-52) + d * 0x1p-1072) * scale_ * scale_;
    const double r = std::sqrt(exact) * kSlack;
    const double own = (lengths_[i] + std::sqrt(d) * kTiny) * (1 + 4 * kSingle);
    const double other = (own + r) * (1 + 4 * kSingle);
    const double apart = r + 2 * kSingle * (own + other) + 4 * std::sqrt(d) * kTiny;
    const double rounding = (d + 8) * kSingle;
    const double halves = 0.5 * (own * own + other * other);
    const double bound =
        (0.5 * apart * apart + rounding * 2 * halves + 4 * d * kTiny) / (1 - rounding) * kSlack + 4 * kTiny;
    return static_cast<float>(std::min(bound * (1 + 4 * kSingle), kEverybody));
  }

  // Exact distances to the rows that follow each: the limits to start with, or, if these are all rows, the result.
  void sample() {
    team_.for_each(n_blocks_, [&](index_t block, int) {
      std::vector<RowPair> pairs(static_cast<std::size_t>(n_sampled_));
      std::vector<double> squared(pairs.size());
      for (index_t i = first_row(block); i < end_row(block); ++i) {
        team_.poll();
        for (index_t k = 0; k < n_sampled_; ++k) {
          const index_t next = i + 1 + k;
          pairs[static_cast<std::size_t>(k)] = {i, next < n_ ? next : next - n_};
        }
        distances_.of_pairs(x_.data, d_, pairs.data(), n_sampled_, squared.data());
        nearest_.clear(i);
        for (index_t k = 0; k < n_sampled_; ++k)
          nearest_.offer(i, pairs[static_cast<std::size_t>(k)].second, squared[static_cast<std::size_t>(k)]);
        if (n_sampled_ == n_ - 1) continue;
        limits_[i] = limit(i, nearest_.worst(i));
        nearest_.clear(i);
      }
    });
  }

  // Every block with itself, and then with every other one, in rounds in which no block meets two others: a pair of
  // blocks has its rows for itself. The rounds are those of a tournament: one block stays, the others go round.
  bool compare_all() {
    scratch_.resize(static_cast<std::size_t>(team_.n_threads()));
    team_.for_each(n_blocks_, [&](index_t block, int worker) { compare(block, block, worker); });
    const index_t n_players = n_blocks_ + n_blocks_ % 2;
    const index_t n_rounds = n_players - 1;
    for (index_t round = 0; round < n_rounds && n_blocks_ > 1; ++round) {
      team_.for_each(n_players / 2, [&](index_t game, int worker) {
        const index_t one = game == 0 ? n_players - 1 : (round + game) % n_rounds;
        const index_t other = game == 0 ? round : (round + n_rounds - game) % n_rounds;
        if (std::max(one, other) < n_blocks_) compare(std::min(one, other), std::max(one, other), worker);
      });
      if (is_hopeless()) return false;
    }
    return !is_hopeless();
  }

  bool is_hopeless() const { return n_found_.load(std::memory_order_relaxed) > most_found_; }

  void compare(index_t block, index_t with, int worker) {
    if (is_hopeless()) return;
    Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
    const index_t n_columns = n_panels(with) * kFilterPanel;
    const auto most = static_cast<std::size_t>(block_rows_ * kMostFilterRows);
    if (scratch.found.size() < most) {
      scratch.found.resize(most);
      scratch.pairs.resize(most);
      scratch.squared.resize(most);
    }
    FilterTask task;
    const index_t other = first_row(with);
    task.panels = panel(other);
    task.halves = halves_.data() + other;
    task.limits = limits_.data() + other;
    task.n_panels = n_panels(with);
    task.n_features = d_;
    index_t n_found = 0;
    for (index_t i = first_row(block); i < end_row(block); i += filter_.rows_at_once) {
      task.rows = panel(i) + i % kFilterPanel;
      task.row_halves = halves_.data() + i;
      task.row_limits = limits_.data() + i;
      const index_t n_now = filter_.find(task, scratch.found.data());
      if (n_now == 0) continue;
      n_found += n_now;
      index_t n_pairs = 0;
      for (index_t k = 0; k < n_now; ++k) {
        const auto code = static_cast<index_t>(scratch.found[static_cast<std::size_t>(k)]);
        const RowPair pair = {i + code / n_columns, other + code % n_columns};
        if (pair.first >= pair.second) continue;  // in a block with itself
        scratch.pairs[static_cast<std::size_t>(n_pairs++)] = pair;
      }
      distances_.of_pairs(x_.data, d_, scratch.pairs.data(), n_pairs, scratch.squared.data());
      for (index_t k = 0; k < n_pairs; ++k) {
        const RowPair pair = scratch.pairs[static_cast<std::size_t>(k)];
        const double squared = scratch.squared[static_cast<std::size_t>(k)];
        take(pair.first, pair.second, squared);
        take(pair.second, pair.first, squared);
      }
    }
    n_found_.fetch_add(n_found, std::memory_order_relaxed);
  }

  void take(index_t row, index_t other, double squared) {
    if (!nearest_.offer(row, other, squared)) return;
    const double worst = nearest_.worst(row);
    if (worst < std::numeric_limits<double>::infinity()) limits_[row] = std::min(limits_[row], limit(row, worst));
  }

  DenseView<T> x_;
  const DistanceFilter& filter_;
  const PairDistances<T>& distances_;
  Team& team_;
  NearestRows& nearest_;
  index_t n_;
  index_t d_;
  index_t block_rows_;
  index_t n_blocks_;
  index_t n_sampled_ = 0;
  double scale_ = 1;
  AlignedBuffer<float> packed_;
  AlignedBuffer<float> halves_;  // |y|^2 / 2
  AlignedBuffer<float> limits_;
  AlignedBuffer<double> lengths_;  // at least |y|
  std::vector<Scratch> scratch_;   // one per worker
  std::atomic<index_t> n_found_{0};
  index_t most_found_ = n_ / kPairsPerFound * n_ / 2 + n_ * (kFoundPerRow + 8 * nearest_.n_neighbors());
};

}  // namespace

template <class T>
bool search_blocks(const DenseView<T>& x, Isa isa, Team& team, NearestRows& nearest) {
  return BlockSearch<T>(x, isa, team, nearest).run();
}

template bool search_blocks(const DenseView<float>& x, Isa isa, Team& team, NearestRows& nearest);
template bool search_blocks(const DenseView<double>& x, Isa isa, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
