#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "knn/distance_filter.hpp"
#include "knn/distance_kernels.hpp"
#include "knn/knn_searches.hpp"

namespace fastpu::detail {

namespace {

constexpr double kUnit = 0x1p-24;       // half a unit in the last place of 1, float
constexpr double kTiny = 0x1p-149;      // the least float > 0; rounding a smaller number is off by no more than this
constexpr double kSlack = 1 + 0x1p-20;  // covers the roundings of the few operations that compute a bound
constexpr float kPaddingHalf = 1e30F;   // half the squared length given to padding rows: so large that no row is near
constexpr double kMostLimit = 1e29;     // a limit that every pair of rows passes, and no pair with a padding row
// With more features the bound on rounding errors is too loose to exclude pairs.
constexpr index_t kMostFeatures = index_t{1} << 18;
constexpr index_t kGroupRows = 64;      // groups of at most so many rows are not sorted further
constexpr index_t kRowsToShare = 4096;  // with fewer rows, waking another thread takes longer than sorting them
constexpr index_t kCentreRows = 4096;   // from which the centre is estimated

// If more than one pair in so many passes the filter, and so many per row, computing exact distances takes most of the
// time, and the tree is faster.
constexpr index_t kPairsPerPassing = 32;
constexpr index_t kPassingPerRow = 256;

// The least power of two that is at least n.
index_t power_of_two(index_t n) { return static_cast<index_t>(std::bit_ceil(static_cast<std::uint64_t>(n))); }

// The rows of a block: whole panels, such that the number of blocks is a power of two or a little less.
index_t block_rows(index_t n, index_t d) {
  index_t most = n >= 10'000 ? 576 : n >= 2'500 ? 288 : n >= 1'000 ? 96 : kFilterPanel;
  // Ctrl-C is polled between pairs of blocks, so comparing two blocks must take no more than some milliseconds.
  while (most > kFilterPanel && most * most * d > (index_t{1} << 27)) most -= kFilterPanel;
  const index_t n_blocks = power_of_two(count_blocks(n, most));
  return count_blocks(count_blocks(n, n_blocks), kFilterPanel) * kFilterPanel;
}

template <class T>
class BlockSearch {
 public:
  BlockSearch(const DenseView<T>& x, Team& team, NearestRows& nearest)
      : x_(x),
        filter_(distance_filter(team.isa())),
        distances_(distance_kernels(team.isa()).of_pairs<T>()),
        team_(team),
        nearest_(nearest),
        n_(x.n_rows),
        d_(x.n_cols),
        block_rows_(block_rows(x.n_rows, x.n_cols)),
        n_blocks_(count_blocks(x.n_rows, block_rows_)),
        n_sampled_(std::min(n_ - 1, 2 * nearest_.n_neighbors() + 54)),
        samples_all_(n_sampled_ == n_ - 1),
        bound_(static_cast<double>(x.n_cols)) {}

  bool run() {
    if (!samples_all_ && d_ > kMostFeatures) return false;
    arrange();
    if (!samples_all_) pack();
    sample();
    if (!samples_all_ && !compare_all()) return false;
    team_.for_each(n_blocks_, [&](index_t block, int) {
      for (index_t i = first_row(block); i < end_row(block); ++i) nearest_.sort(i);
    });
    put_back();
    return true;
  }

 private:
  // The pairs that pass the filter at once, in memory of one worker.
  struct Pairs {
    std::vector<std::uint32_t> codes;  // as the filter writes them
    std::vector<RowPair> places;       // positions in the order of the blocks
    std::vector<RowPair> rows;         // the same pairs as rows of X
    std::vector<double> squared;
  };

  index_t first_row(index_t block) const { return block * block_rows_; }
  index_t end_row(index_t block) const { return std::min((block + 1) * block_rows_, n_); }
  index_t n_panels(index_t block) const { return count_blocks(end_row(block) - first_row(block), kFilterPanel); }
  const float* panel(index_t row) const { return packed_.data() + row / kFilterPanel * kFilterPanel * d_; }

  const T* row_at(index_t position) const { return x_.row(order_[position].row); }

  // Positions [first, end), to be split at first + half.
  struct Range {
    index_t first;
    index_t end;
    index_t half;
  };

  // Sorts the rows such that near ones lie side by side: the first blocks compared then give small limits, and few
  // later pairs pass the filter. Ranges of rows are halved again and again, at the median of the column in which a
  // sample of their rows differs most. A half that spans several blocks has a power of two of them.
  void arrange() {
    order_ = AlignedBuffer<RowKey>(n_, "the order of the rows");
    for (index_t i = 0; i < n_; ++i) order_[i] = {0.0, i};
    const int max_workers = n_ < kRowsToShare ? 1 : team_.n_threads();
    std::vector<Range> ranges = {{0, n_, power_of_two(n_blocks_) / 2 * block_rows_}};
    while (!ranges.empty()) {
      team_.for_each(static_cast<index_t>(ranges.size()), max_workers, [&](index_t k, int) { halve(ranges[at(k)]); });
      std::vector<Range> below;
      for (const Range& range : ranges) {
        const index_t middle = std::min(range.first + range.half, range.end);
        const index_t half = range.half > block_rows_ ? range.half / 2 : 0;
        for (const auto& [first, end] : {std::pair(range.first, middle), std::pair(middle, range.end)}) {
          if (end - first > kGroupRows) below.push_back({first, end, half > 0 ? half : (end - first) / 2});
        }
      }
      ranges = std::move(below);
    }
  }

  void halve(const Range& range) {
    constexpr index_t kSampled = 32;
    const index_t middle = range.first + range.half;
    if (middle >= range.end || middle == range.first) return;
    const index_t step = count_blocks(range.end - range.first, kSampled);
    index_t widest = 0;
    double most = -1;
    for (index_t f = 0; f < d_; ++f) {
      T low = row_at(range.first)[f];
      T high = low;
      for (index_t p = range.first + step; p < range.end; p += step) {
        low = std::min(low, row_at(p)[f]);
        high = std::max(high, row_at(p)[f]);
      }
      const double apart = static_cast<double>(high) - static_cast<double>(low);
      if (apart > most) {
        most = apart;
        widest = f;
      }
    }
    for (index_t p = range.first; p < range.end; ++p) order_[p].value = static_cast<double>(row_at(p)[widest]);
    RowKey* const keys = order_.data();
    std::nth_element(keys + range.first, keys + middle, keys + range.end);
  }

  // Moves the neighbours of the row at each position from there to the row's own place.
  void put_back() {
    for (index_t p = 0; p < n_; ++p) {
      while (order_[p].row != p) {
        const index_t row = order_[p].row;
        nearest_.swap(p, row);
        std::swap(order_[p], order_[row]);
      }
    }
  }

  // Computes y = (x - centre) 2^k in float32, in panels, with k such that |y| is about 1.
  void pack() {
    std::vector<double> centre(at(d_));
    const index_t step = std::max<index_t>(1, n_ / kCentreRows);
    const auto n_summed = static_cast<double>(count_blocks(n_, step));
    for (index_t i = 0; i < n_; i += step) {
      for (index_t f = 0; f < d_; ++f) centre[at(f)] += static_cast<double>(x_.row(i)[f]) / n_summed;
    }
    std::vector<double> most(at(n_blocks_));
    team_.for_each(n_blocks_, [&](index_t block, int) {
      double largest = 0;
      for (index_t i = first_row(block); i < end_row(block); ++i) {
        const T* x = row_at(i);
        for (index_t f = 0; f < d_; ++f)
          largest = std::max(largest, std::abs(static_cast<double>(x[f]) - centre[at(f)]));
      }
      most[at(block)] = largest;
    });
    const double largest = *std::max_element(most.begin(), most.end());
    const int exponent = largest > 0 ? -std::ilogb(largest) : 0;
    // Outside of this range 2^k is no double; rows of such a size then use a part of float32's range only.
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
      halves_[i] = kPaddingHalf;
      lengths_[i] = 0;
      return;
    }
    const T* x = row_at(i);
    double sum = 0;
    for (index_t f = 0; f < d_; ++f) {
      const auto value = static_cast<float>((static_cast<double>(x[f]) - centre[f]) * scale_);
      y[f * kFilterPanel] = value;
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    halves_[i] = static_cast<float>(0.5 * sum);
    lengths_[i] = (std::sqrt(sum) + bound_.tiny) * kSlack;
  }

  // Returns a limit with which the filter passes every pair of row i whose squared distance, as computed, is at most
  // `squared`. Let yhat be y rounded to float32, h = |yhat|^2 / 2, u = 2^-24 and r the scaled distance. A row j at that
  // distance has |y_j| <= |y_i| + r, and
  //     |yhat_i - yhat_j| <= r + u (|y_i| + |y_j|) + tiny,
  //     |computed - (|yhat_i - yhat_j|^2 / 2 - limit)| <= (d + 8) u (h_i + h_j + |yhat_i| |yhat_j| + limit) + tiny,
  // since a sum of n terms, in any order, is off by at most n - 1 roundings of the sum of their absolute values.
  float limit(index_t i, double squared) const {
    const double r = std::sqrt((squared * bound_.growth + bound_.lost) * scale_ * scale_) * kSlack;
    const double own = lengths_[i];
    const double other = (own + r) * (1 + 4 * kUnit);
    const double apart = r + 2 * kUnit * (own + other) + bound_.tiny;
    const double most =
        (0.5 * apart * apart + bound_.rounding * (own * own + other * other) + bound_.tiny) * bound_.slack;
    return static_cast<float>(std::min(most, kMostLimit));
  }

  // The terms of a limit that are the same for all rows.
  struct Bound {
    double growth;    // an exact squared distance is at most this times the computed one, plus `lost`:
    double lost;      // the square of each difference may lose up to the least double > 0 to underflow
    double rounding;  // (d + 8) u
    double slack;
    double tiny;

    explicit Bound(double d)
        : growth(1 + (d + 16) * 0x1p-52),
          lost(d * 0x1p-1072),
          rounding((d + 8) * kUnit),
          slack(kSlack / (1 - rounding)),
          tiny((4 * d + 4) * kTiny) {}
  };

  // Computes exact distances to the rows next to each row in the order of blocks. They are the first limits, or the
  // result where these are all rows.
  void sample() {
    team_.for_each(n_blocks_, [&](index_t block, int) {
      std::vector<RowPair> pairs(at(n_sampled_));
      std::vector<double> squared(pairs.size());
      for (index_t i = first_row(block); i < end_row(block); ++i) {
        team_.poll();
        const index_t row = order_[i].row;
        const index_t from =
            std::clamp<index_t>(i / kGroupRows * kGroupRows + kGroupRows / 2 - n_sampled_ / 2, 0, n_ - 1 - n_sampled_);
        for (index_t k = 0; k < n_sampled_; ++k) {
          const index_t other = from + k + (from + k >= i ? 1 : 0);
          pairs[at(k)] = {row, order_[other].row};
        }
        distances_(x_.data, d_, pairs.data(), n_sampled_, squared.data());
        nearest_.clear(i);
        for (index_t k = 0; k < n_sampled_; ++k) nearest_.offer(i, pairs[at(k)].second, squared[at(k)]);
        if (samples_all_) continue;
        limits_[i] = limit(i, nearest_.worst(i));
        nearest_.clear(i);
      }
    });
  }

  // Compares every block with itself, then with every other one. The pairs of blocks are scheduled in rounds, as in a
  // tournament: in round r block b meets block b xor r, so that no block is in two pairs of a round, threads never
  // share a row, and near blocks meet first.
  bool compare_all() {
    pairs_.resize(at(team_.n_threads()));
    team_.for_each(n_blocks_, [&](index_t block, int worker) { compare(block, block, pairs_[at(worker)]); });
    const index_t n_players = power_of_two(n_blocks_);
    for (index_t round = 1; round < n_players; ++round) {
      if (is_hopeless()) return false;
      const index_t bit = round & -round;
      team_.for_each(n_players / 2, [&](index_t game, int worker) {
        const index_t one = game + (game & -bit);  // the number whose bit is 0 of the two that meet
        const index_t other = one ^ round;
        if (std::max(one, other) < n_blocks_) compare(one, other, pairs_[at(worker)]);
      });
    }
    return !is_hopeless();
  }

  bool is_hopeless() const { return n_passing_.load(std::memory_order_relaxed) > most_passing_; }

  void compare(index_t block, index_t other_block, Pairs& pairs) {
    if (is_hopeless()) return;
    const auto most = at(block_rows_ * kMostFilterRows);
    if (pairs.codes.size() < most) {
      pairs.codes.resize(most);
      pairs.places.resize(most);
      pairs.rows.resize(most);
      pairs.squared.resize(most);
    }
    FilterTask task;
    const index_t other = first_row(other_block);
    task.panels = panel(other);
    task.halves = halves_.data() + other;
    task.limits = limits_.data() + other;
    task.n_panels = n_panels(other_block);
    task.n_features = d_;
    index_t n_passing = 0;
    for (index_t i = first_row(block); i < end_row(block); i += filter_.rows_at_once) {
      task.rows = panel(i) + i % kFilterPanel;
      task.row_halves = halves_.data() + i;
      task.row_limits = limits_.data() + i;
      const index_t n_codes = filter_.find(task, pairs.codes.data());
      if (n_codes == 0) continue;
      n_passing += n_codes;
      const index_t n_pairs = read_codes(i, other, n_codes, pairs);
      distances_(x_.data, d_, pairs.rows.data(), n_pairs, pairs.squared.data());
      for (index_t k = 0; k < n_pairs; ++k) {
        const RowPair place = pairs.places[at(k)];
        const RowPair rows = pairs.rows[at(k)];
        offer(place.first, rows.second, pairs.squared[at(k)]);
        offer(place.second, rows.first, pairs.squared[at(k)]);
      }
    }
    n_passing_.fetch_add(n_passing, std::memory_order_relaxed);
  }

  // Fills in the places and rows of the pairs that the filter has found for the rows from `first` and the panels from
  // `other`. A block compared with itself finds every pair twice: one of them is left out. Returns the number of pairs.
  index_t read_codes(index_t first, index_t other, index_t n_codes, Pairs& pairs) const {
    const bool is_one_block = first / block_rows_ == other / block_rows_;
    index_t n_pairs = 0;
    for (index_t k = 0; k < n_codes; ++k) {
      const std::uint32_t code = pairs.codes[at(k)];
      const RowPair place = {first + static_cast<index_t>(code >> kCodeRowShift),
                             other + static_cast<index_t>(code & ((1U << kCodeRowShift) - 1))};
      if (is_one_block && place.first >= place.second) continue;
      pairs.places[at(n_pairs)] = place;
      pairs.rows[at(n_pairs++)] = {order_[place.first].row, order_[place.second].row};
    }
    return n_pairs;
  }

  void offer(index_t place, index_t other, double squared) {
    if (!nearest_.offer(place, other, squared)) return;
    const double worst = nearest_.worst(place);
    if (worst < kInfinity) limits_[place] = std::min(limits_[place], limit(place, worst));
  }

  DenseView<T> x_;
  const DistanceFilter& filter_;
  PairDistances<T> distances_;
  Team& team_;
  NearestRows& nearest_;
  index_t n_;
  index_t d_;
  index_t block_rows_;
  index_t n_blocks_;
  index_t n_sampled_;  // rows that each row is compared with before the blocks
  bool samples_all_;   // whether these are all others
  Bound bound_;
  double scale_ = 1;
  AlignedBuffer<RowKey> order_;  // the row at each position of the blocks
  AlignedBuffer<float> packed_;
  AlignedBuffer<float> halves_;  // |y|^2 / 2
  AlignedBuffer<float> limits_;
  AlignedBuffer<double> lengths_;      // upper bounds of |y|
  std::vector<Pairs> pairs_;           // one per worker
  std::atomic<index_t> n_passing_{0};  // pairs that have passed the filter
  index_t most_passing_ = n_ / kPairsPerPassing * n_ / 2 + n_ * (kPassingPerRow + 8 * nearest_.n_neighbors());
};

}  // namespace

template <class T>
bool search_blocks(const DenseView<T>& x, Team& team, NearestRows& nearest) {
  return BlockSearch<T>(x, team, nearest).run();
}

template bool search_blocks(const DenseView<float>& x, Team& team, NearestRows& nearest);
template bool search_blocks(const DenseView<double>& x, Team& team, NearestRows& nearest);

}  // namespace fastpu::detail
