// Cuts and codes of one feature. A binner is one worker's scratch, used for column after column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "detail/float_key.hpp"
#include "detail/quantile_cuts.hpp"
#include "detail/radix_sort.hpp"
#include "detail/sorted_table.hpp"
#include "fastpu/aligned_buffer.hpp"
#include "fastpu/binned_features.hpp"
#include "fastpu/types.hpp"

namespace fastpu::detail {

// The rows of a feature in ascending order (see FeatureOrder); empty where every boundary is a cut.
struct ColumnOrder {
  AlignedBuffer<std::uint32_t> rows;
  std::vector<std::uint32_t> bin_start;
};

// Codes of values: the number of cuts below, compared as keys.
template <class T>
class Encoder {
 public:
  explicit Encoder(const std::vector<double>& cuts) : table_(keys_of(cuts)) {}
  std::uint32_t code(T x) const { return table_.count_below(to_key(x)); }
  template <class Code>
  void codes(const T* x, index_t n, Code* out) const {
    constexpr index_t kBlock = 256;
    KeyOf<T> keys[kBlock];
    std::uint32_t counts[kBlock];
    for (index_t first = 0; first < n; first += kBlock) {
      const index_t m = std::min(kBlock, n - first);
      for (index_t i = 0; i < m; ++i) keys[i] = to_key(x[first + i]);
      table_.count_below(keys, m, counts);
      for (index_t i = 0; i < m; ++i) out[first + i] = static_cast<Code>(counts[i]);
    }
  }

 private:
  static std::vector<KeyOf<T>> keys_of(const std::vector<double>& cuts) {
    std::vector<KeyOf<T>> keys;
    keys.reserve(cuts.size());
    for (const double theta : cuts) keys.push_back(to_key(floor_to<T>(theta)));
    return keys;
  }
  SortedTable<KeyOf<T>> table_;
};

// Thresholds at the chosen boundaries between distinct values.
template <class T>
std::vector<double> thresholds(const std::vector<index_t>& boundaries, const KeyOf<T>* distinct) {
  std::vector<double> cuts;
  cuts.reserve(boundaries.size());
  for (const index_t j : boundaries) {
    cuts.push_back(midpoint_threshold(static_cast<double>(from_key<T>(distinct[j - 1])),
                                      static_cast<double>(from_key<T>(distinct[j]))));
  }
  return cuts;
}

// Row weights for the quantiles, in a unit (a power of two) in which no product with a number of cuts overflows.
class QuantileWeights {
 public:
  QuantileWeights(const double* weight, index_t n_rows) : weight_(weight) {
    if (weight == nullptr) return;
    double most = 0;
    for (index_t i = 0; i < n_rows; ++i) most = std::max(most, weight[i]);
    unit_ = most > 0 ? std::ilogb(most) : 0;
  }
  bool given() const { return weight_ != nullptr; }
  bool is_absent(index_t row) const { return weight_ != nullptr && !(weight_[row] > 0); }
  double operator[](index_t row) const { return weight_ != nullptr ? std::scalbn(weight_[row], -unit_) : 1.0; }

 private:
  const double* weight_;
  int unit_ = 0;
};

template <class T>
class ColumnBinner {
  using Key = KeyOf<T>;
  using Pair = KeyRow<Key>;

 public:
  // Scratch is taken at the first column, by the worker that needs it.
  ColumnBinner(index_t n_rows, index_t max_cuts, const QuantileWeights& weight, bool with_order)
      : n_rows_(n_rows), max_cuts_(max_cuts), weight_(weight), pairs_wanted_(with_order || weight.given()) {}

  // The cuts of a column of n_rows values; with `order`, also its order if it has more boundaries than cuts.
  template <class Checkpoint>
  std::vector<double> cuts(const T* column, Checkpoint&& checkpoint, ColumnOrder* order) {
    if (cumulative_.empty()) {
      cumulative_ = AlignedBuffer<double>(n_rows_, "sorting a column");
      keys_ = AlignedBuffer<Key>((pairs_wanted_ ? 1 : 2) * n_rows_, "sorting a column");
      if (pairs_wanted_) pairs_ = AlignedBuffer<Pair>(2 * n_rows_, "sorting a column");
    }
    const index_t n_distinct =
        pairs_wanted_ ? distinct_from_pairs(column, checkpoint) : distinct_from_keys(column, checkpoint);
    const auto boundaries = quantile_boundaries(cumulative_.data(), n_distinct, max_cuts_);
    if (order != nullptr && n_distinct - 1 > max_cuts_) fill_order(boundaries, *order);
    return thresholds<T>(boundaries, distinct_);
  }

  template <class Code>
  void encode(const T* column, const std::vector<double>& cuts, Code* codes) const {
    Encoder<T>(cuts).codes(column, n_rows_, codes);
  }

 private:
  template <class Checkpoint>
  index_t distinct_from_keys(const T* column, Checkpoint&& checkpoint) {
    for (index_t i = 0; i < n_rows_; ++i) keys_[i] = to_key(column[i]);
    Key* sorted = radix_sort(keys_.data(), keys_.data() + n_rows_, n_rows_, checkpoint);
    index_t m = 0;
    for (index_t i = 0; i < n_rows_; ++i) {  // in place: m never passes i
      if (i > 0 && sorted[i] == sorted[m - 1]) {
        cumulative_[m - 1] = static_cast<double>(i + 1);
      } else {
        sorted[m] = sorted[i];
        cumulative_[m++] = static_cast<double>(i + 1);
      }
    }
    distinct_ = sorted;
    return m;
  }

  template <class Checkpoint>
  index_t distinct_from_pairs(const T* column, Checkpoint&& checkpoint) {
    n_sorted_ = 0;
    for (index_t i = 0; i < n_rows_; ++i) {
      if (weight_.is_absent(i)) continue;
      pairs_[n_sorted_++] = Pair{to_key(column[i]), static_cast<std::uint32_t>(i)};
    }
    sorted_ = radix_sort(pairs_.data(), pairs_.data() + n_rows_, n_sorted_, checkpoint);
    index_t m = 0;
    double sum = 0;
    for (index_t i = 0; i < n_sorted_; ++i) {
      sum += weight_[sorted_[i].row];
      if (i == 0 || sorted_[i].key != keys_[m - 1]) keys_[m++] = sorted_[i].key;
      cumulative_[m - 1] = sum;
    }
    distinct_ = keys_.data();
    return m;
  }

  void fill_order(const std::vector<index_t>& boundaries, ColumnOrder& order) const {
    order.rows = AlignedBuffer<std::uint32_t>(n_sorted_, "the sorted rows of the exact search");
    order.bin_start.assign(1, 0);
    index_t run = -1;
    std::size_t next = 0;
    for (index_t i = 0; i < n_sorted_; ++i) {
      const bool starts = i == 0 || sorted_[i].key != sorted_[i - 1].key;
      order.rows[i] = sorted_[i].row | (starts ? FeatureOrder::kRunStart : 0U);
      if (!starts) continue;
      ++run;
      if (next < boundaries.size() && boundaries[next] == run) {
        order.bin_start.push_back(static_cast<std::uint32_t>(i));
        ++next;
      }
    }
    order.bin_start.push_back(static_cast<std::uint32_t>(n_sorted_));
  }

  index_t n_rows_;
  index_t max_cuts_;
  QuantileWeights weight_;
  bool pairs_wanted_;
  AlignedBuffer<Key> keys_;
  AlignedBuffer<Pair> pairs_;
  AlignedBuffer<double> cumulative_;
  const Key* distinct_ = nullptr;
  const Pair* sorted_ = nullptr;
  index_t n_sorted_ = 0;
};

// The same for a sparse column: the rows that are not stored hold zero.
template <class T>
class SparseColumnBinner {
  using Key = KeyOf<T>;
  using Pair = KeyRow<Key>;

 public:
  // max_cuts 0 means every boundary.
  SparseColumnBinner(index_t n_rows, index_t longest, index_t max_cuts, const QuantileWeights& weight)
      : max_cuts_(max_cuts > 0 ? max_cuts : longest + 1), longest_(longest), weight_(weight) {
    for (index_t i = 0; i < n_rows; ++i) {
      if (weight_.is_absent(i)) continue;
      ++total_rows_;
      total_weight_ += weight_[i];
    }
  }

  std::vector<double> cuts(const T* values, const std::uint32_t* rows, index_t n) {
    if (cumulative_.empty()) {
      pairs_ = AlignedBuffer<Pair>(2 * longest_ + 1, "sorting a sparse column");
      keys_ = AlignedBuffer<Key>(longest_ + 1, "sorting a sparse column");
      cumulative_ = AlignedBuffer<double>(longest_ + 1, "sorting a sparse column");
    }
    index_t m = 0;
    double stored_weight = 0;
    for (index_t p = 0; p < n; ++p) {
      if (weight_.is_absent(rows[p])) continue;
      stored_weight += weight_[rows[p]];
      pairs_[m++] = Pair{to_key(values[p]), rows[p]};
    }
    const Pair* sorted = radix_sort(pairs_.data(), pairs_.data() + longest_, m, [] {});
    const Key zero = to_key(T(0));
    bool zero_pending = m < total_rows_;
    const double zero_weight = total_weight_ - stored_weight;
    index_t n_distinct = 0;
    double sum = 0;
    const auto add = [&](Key key, double w) {
      sum += w;
      if (n_distinct == 0 || key != keys_[n_distinct - 1]) keys_[n_distinct++] = key;
      cumulative_[n_distinct - 1] = sum;
    };
    for (index_t i = 0; i < m; ++i) {
      if (zero_pending && sorted[i].key >= zero) {
        add(zero, zero_weight);
        zero_pending = false;
      }
      add(sorted[i].key, weight_[sorted[i].row]);
    }
    if (zero_pending) add(zero, zero_weight);
    return thresholds<T>(quantile_boundaries(cumulative_.data(), n_distinct, max_cuts_), keys_.data());
  }

  // Writes the codes of the stored values and returns the code of zero.
  std::uint32_t encode(const T* values, index_t n, const std::vector<double>& cuts, std::uint32_t* codes) const {
    const Encoder<T> encoder(cuts);
    encoder.codes(values, n, codes);
    return encoder.code(T(0));
  }

 private:
  index_t max_cuts_;
  index_t longest_;
  QuantileWeights weight_;
  index_t total_rows_ = 0;
  double total_weight_ = 0;
  AlignedBuffer<Pair> pairs_;
  AlignedBuffer<Key> keys_;
  AlignedBuffer<double> cumulative_;
};

}  // namespace fastpu::detail
