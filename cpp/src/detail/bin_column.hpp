// Cuts and codes of one feature. A binner is one worker's scratch, used for column after column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "detail/float_key.hpp"
#include "detail/quantile_cuts.hpp"
#include "detail/radix_sort.hpp"
#include "fastpu/aligned_buffer.hpp"
#include "fastpu/binned_features.hpp"
#include "fastpu/types.hpp"

namespace fastpu::detail {

// The rows of a feature in ascending order (see FeatureOrder); empty where every boundary is a cut.
struct ColumnOrder {
  AlignedBuffer<std::uint32_t> rows;
  std::vector<std::uint32_t> bin_start;
};

// Keys of the cuts, in the type of the values: code(x) = number of them below the key of x.
template <class T>
class Encoder {
 public:
  using Key = KeyOf<T>;
  explicit Encoder(const std::vector<double>& cuts) {
    keys_.reserve(cuts.size());
    for (const double theta : cuts) keys_.push_back(to_key(floor_to<T>(theta)));
  }
  index_t code(T x) const {
    const Key key = to_key(x);
    const Key* base = keys_.data();
    auto n = static_cast<index_t>(keys_.size());
    if (n == 0) return 0;
    while (n > 1) {  // no branch depends on the data
      const index_t half = n / 2;
      base += base[half - 1] < key ? half : 0;
      n -= half;
    }
    return (base - keys_.data()) + (*base < key ? 1 : 0);
  }

 private:
  std::vector<Key> keys_;
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

template <class T>
class ColumnBinner {
  using Key = KeyOf<T>;
  using Pair = KeyRow<Key>;

 public:
  // Scratch is taken at the first column, by the worker that needs it.
  ColumnBinner(index_t n_rows, index_t max_cuts, const double* weight, bool with_order)
      : n_rows_(n_rows), max_cuts_(max_cuts), weight_(weight), pairs_wanted_(with_order || weight != nullptr) {}

  // The cuts of a column of n_rows values; with `order`, also its order if it has more boundaries than cuts.
  template <class Checkpoint>
  std::vector<double> cuts(const T* column, Checkpoint&& checkpoint, ColumnOrder* order) {
    if (cumulative_.empty()) {
      cumulative_ = AlignedBuffer<double>(n_rows_, "sorting a column");
      keys_ = AlignedBuffer<Key>((pairs_wanted_ ? 1 : 2) * n_rows_, "sorting a column");
      if (pairs_wanted_) pairs_ = AlignedBuffer<Pair>(2 * n_rows_, "sorting a column");
    }
    const index_t n_distinct = pairs_wanted_ ? distinct_from_pairs(column, checkpoint) : distinct_from_keys(column, checkpoint);
    const auto boundaries = quantile_boundaries(cumulative_.data(), n_distinct, max_cuts_);
    if (order != nullptr && n_distinct - 1 > max_cuts_) fill_order(boundaries, *order);
    return thresholds<T>(boundaries, distinct_);
  }

  template <class Code>
  void encode(const T* column, const std::vector<double>& cuts, Code* codes) const {
    const Encoder<T> encoder(cuts);
    for (index_t i = 0; i < n_rows_; ++i) codes[i] = static_cast<Code>(encoder.code(column[i]));
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
      if (weight_ != nullptr && !(weight_[i] > 0)) continue;
      pairs_[n_sorted_++] = Pair{to_key(column[i]), static_cast<std::uint32_t>(i)};
    }
    sorted_ = radix_sort(pairs_.data(), pairs_.data() + n_rows_, n_sorted_, checkpoint);
    index_t m = 0;
    double sum = 0;
    for (index_t i = 0; i < n_sorted_; ++i) {
      sum += weight_ != nullptr ? weight_[sorted_[i].row] : 1.0;
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
  const double* weight_;
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
  SparseColumnBinner(index_t n_rows, index_t longest, index_t max_cuts, const double* weight)
      : max_cuts_(max_cuts > 0 ? max_cuts : longest + 1), longest_(longest), weight_(weight) {
    for (index_t i = 0; i < n_rows; ++i) {
      const double w = weight_ != nullptr ? weight_[i] : 1.0;
      if (!(w > 0)) continue;
      ++total_rows_;
      total_weight_ += w;
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
      const double w = weight_ != nullptr ? weight_[rows[p]] : 1.0;
      if (!(w > 0)) continue;
      stored_weight += w;
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
      add(sorted[i].key, weight_ != nullptr ? weight_[sorted[i].row] : 1.0);
    }
    if (zero_pending) add(zero, zero_weight);
    return thresholds<T>(quantile_boundaries(cumulative_.data(), n_distinct, max_cuts_), keys_.data());
  }

  // Writes the codes of the stored values and returns the code of zero.
  std::uint32_t encode(const T* values, index_t n, const std::vector<double>& cuts, std::uint32_t* codes) const {
    const Encoder<T> encoder(cuts);
    for (index_t p = 0; p < n; ++p) codes[p] = static_cast<std::uint32_t>(encoder.code(values[p]));
    return static_cast<std::uint32_t>(encoder.code(T(0)));
  }

 private:
  index_t max_cuts_;
  index_t longest_;
  const double* weight_;
  index_t total_rows_ = 0;
  double total_weight_ = 0;
  AlignedBuffer<Pair> pairs_;
  AlignedBuffer<Key> keys_;
  AlignedBuffer<double> cumulative_;
};

}  // namespace fastpu::detail
