// Cuts and codes of one feature. A binner holds the scratch memory of one worker, which cuts column after column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/pacer.hpp"
#include "data/category_of.hpp"
#include "data/float_key.hpp"
#include "data/radix_sort.hpp"
#include "data/sorted_table.hpp"
#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/data/binned_features.hpp"

namespace fastpu::detail {

// The rows of a feature in ascending order (see FeatureOrder); empty where every boundary is a cut.
struct ColumnOrder {
  AlignedBuffer<std::uint32_t> rows;
  std::vector<std::uint32_t> bin_start;
};

// Writes the codes of n values: the code of a value is the number of cuts below it.
template <class T, class Code>
void encode(const SortedTable<T>& cuts, const T* x, index_t n, Pacer& pacer, Code* codes) {
  pacer.run(0, n, [&](index_t first, index_t end) { cuts.count_below(x + first, end - first, codes + first); });
}

// The cuts of one feature and the values that stand for its bins (both described at Cuts).
struct ColumnCuts {
  std::vector<double> cuts;
  std::vector<double> bin_values;
};

// The choice of cuts from the distinct values of a feature (the rule is in binned_features.hpp). cumulative[j] is the
// weight of the rows whose value is at most distinct value j, ascending. Returns the chosen boundaries j (between
// distinct values j-1 and j), ascending: all of them if there are at most max_cuts. With `keep_first` boundary 1 is
// among them, if need be in place of the lowest.
inline std::vector<index_t> quantile_boundaries(const double* cumulative, index_t n_distinct, index_t max_cuts,
                                                bool keep_first) {
  const index_t n_boundaries = n_distinct - 1;
  if (n_boundaries <= 0) return {};
  auto chosen = reserve_vector<index_t>(std::min(n_boundaries, max_cuts), "the cuts of a feature");
  if (n_boundaries <= max_cuts) {
    for (index_t j = 1; j <= n_boundaries; ++j) chosen.push_back(j);
    return chosen;
  }
  const auto parts = static_cast<double>(max_cuts + 1);
  const double total = cumulative[n_distinct - 1];
  index_t j = 1;
  for (index_t k = 1; k <= max_cuts; ++k) {
    // Products of whole numbers below 2^53, hence exact, where the weights are whole.
    const double target = static_cast<double>(k) * total;
    while (j < n_boundaries && cumulative[j - 1] * parts < target) ++j;
    if (chosen.empty() || chosen.back() != j) chosen.push_back(j);
  }
  if (keep_first && chosen.front() != 1) {
    if (static_cast<index_t>(chosen.size()) == max_cuts) {
      chosen.front() = 1;
    } else {
      chosen.insert(chosen.begin(), 1);
    }
  }
  return chosen;
}

// Cuts at quantiles of the distinct values (see quantile_boundaries); if some values count as -inf, one cut lies just
// above them. The boundaries of the cuts are left in `boundaries`.
template <class T>
ColumnCuts cut_column(const double* cumulative, const KeyOf<T>* distinct, index_t n_distinct, index_t max_cuts,
                      std::vector<index_t>& boundaries) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const bool has_lowest = n_distinct > 0 && distinct[0] == to_key(-kInf);
  boundaries = quantile_boundaries(cumulative, n_distinct, max_cuts, has_lowest);
  const auto value = [&](index_t j) { return static_cast<double>(from_key<T>(distinct[j])); };
  const auto n_cuts = static_cast<index_t>(boundaries.size());
  ColumnCuts column{reserve_vector<double>(n_cuts, "the cuts of a feature"),
                    make_vector<double>(n_cuts + 1, "the values of the bins of a feature")};
  for (const index_t j : boundaries) column.cuts.push_back(midpoint_threshold(value(j - 1), value(j)));

  const index_t first = has_lowest ? 1 : 0;
  const index_t end = n_distinct > first && distinct[n_distinct - 1] == to_key(kInf) ? n_distinct - 1 : n_distinct;
  if (first >= end) return column;  // no finite value
  for (index_t c = 0; c <= n_cuts; ++c) {
    const index_t lo = std::max(first, c == 0 ? 0 : boundaries[at(c - 1)]);
    const index_t hi = std::min(end, c == n_cuts ? n_distinct : boundaries[at(c)]) - 1;
    double& of_bin = column.bin_values[at(c)];
    if (lo == first || hi < first) {
      of_bin = value(first);
    } else if (hi < lo) {  // the bin holds +inf alone; its value exceeds the last by the mean distance of two bins
      const double last = value(end - 1);
      const double step = last / static_cast<double>(c) - value(first) / static_cast<double>(c);
      of_bin = std::min(last + step, std::numeric_limits<double>::max());
    } else {
      of_bin = hi == end - 1 ? value(hi) : 0.5 * value(lo) + 0.5 * value(hi);
    }
  }
  return column;
}

template <class T, class Code>
ColumnCuts bin_categories(const T* column, index_t n_rows, Pacer& pacer, Code* codes) {
  int largest = -1;
  pacer.run(0, n_rows, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) {
      const int category = category_of(column[i]);
      largest = std::max(largest, category);
      codes[i] = static_cast<Code>(category + 1);
    }
  });
  ColumnCuts result;
  result.cuts.push_back(-kInfinity);
  for (int category = 0; category < largest; ++category) result.cuts.push_back(category + 0.5);
  result.bin_values.resize(result.cuts.size() + 1);
  return result;
}

// Row weights for the quantiles, in a unit (a power of two) in which no product with a number of cuts overflows. Rows
// of equal weight count 1 each: with another common factor, rounding would decide the ties of the rule.
class QuantileWeights {
 public:
  QuantileWeights(const double* weight, index_t n_rows, Pacer& pacer) : n_present_(n_rows) {
    if (weight == nullptr) return;
    double least = kInfinity;
    double most = 0;
    n_present_ = 0;
    pacer.run(0, n_rows, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        if (!(weight[i] > 0)) continue;
        ++n_present_;
        least = std::min(least, weight[i]);
        most = std::max(most, weight[i]);
      }
    });
    are_equal_ = least >= most;
    if (are_equal_ && n_present_ == n_rows) return;
    weight_ = weight;
    unit_ = most > 0 ? std::ilogb(most) : 0;
  }
  // Whether rows have different weights, or some are absent.
  bool given() const { return weight_ != nullptr; }
  bool is_absent(index_t row) const { return weight_ != nullptr && !(weight_[row] > 0); }
  // The weight of a row that is not absent.
  double operator[](index_t row) const { return are_equal_ ? 1.0 : std::scalbn(weight_[row], -unit_); }
  index_t n_present() const { return n_present_; }
  double total(index_t n_rows, Pacer& pacer) const {
    if (are_equal_) return static_cast<double>(n_present_);
    double sum = 0;
    pacer.run(0, n_rows, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        if (!is_absent(i)) sum += (*this)[i];
      }
    });
    return sum;
  }

 private:
  const double* weight_ = nullptr;  // null where every row counts 1
  bool are_equal_ = true;
  int unit_ = 0;
  index_t n_present_;
};

// Scratch memory is allocated at the first column, by the worker that needs it.
template <class T>
class ColumnBinner {
  using Key = KeyOf<T>;
  using Pair = KeyRow<Key>;

 public:
  // No column stores more than `longest` values. Sparse columns need the weight of all rows; with options.max_bins = 0
  // every boundary of these is a cut, in columns of at most most_distinct distinct values.
  ColumnBinner(index_t longest, const BinOptions& options, const QuantileWeights& weight, bool with_order,
               double total_weight = 0)
      : longest_(longest),
        max_cuts_(options.max_bins),
        most_distinct_(options.most_distinct),
        n_quantiles_(options.n_quantiles),
        weight_(weight),
        total_weight_(total_weight),
        pairs_first_(weight.given() || (with_order && longest <= options.most_distinct)) {}

  // The cuts of a dense column. If it has more boundaries than cuts, but at most `most_distinct` distinct values, its
  // order is left in `order` unless that is null. Where it may have more distinct values than that, the values are
  // sorted without their rows first, in half the time.
  ColumnCuts cuts(const T* column, Pacer& pacer, ColumnOrder* order) {
    const index_t n_distinct =
        pairs_first_ ? distinct_from_pairs(column, nullptr, longest_, pacer) : distinct_from_keys(column, pacer);
    const bool ordered = order != nullptr && n_distinct - 1 > max_cuts_ && n_distinct <= most_distinct_;
    if (ordered && !pairs_first_) distinct_from_pairs(column, nullptr, longest_, pacer);
    std::vector<index_t> boundaries;
    ColumnCuts column_cuts = cut_column<T>(cumulative_.data(), distinct_, n_distinct, max_cuts_, boundaries);
    if (ordered) fill_order(boundaries, pacer, *order);
    return column_cuts;
  }

  // The cuts of a sparse column, of which n rows have a stored value; the others hold zero.
  ColumnCuts cuts(const T* values, const std::uint32_t* rows, index_t n, Pacer& pacer) {
    const index_t n_distinct = distinct_from_pairs(values, rows, n, pacer);
    const index_t most_cuts = max_cuts_ > 0 ? max_cuts_ : n_distinct <= most_distinct_ ? n_distinct : n_quantiles_;
    std::vector<index_t> boundaries;
    return cut_column<T>(cumulative_.data(), distinct_, n_distinct, most_cuts, boundaries);
  }

 private:
  void allocate(index_t n_keys) {
    if (!cumulative_.empty()) return;
    cumulative_ = AlignedBuffer<double>(longest_ + 1, "sorting a column");
    keys_ = AlignedBuffer<Key>(n_keys, "sorting a column");
  }

  index_t distinct_from_keys(const T* column, Pacer& pacer) {
    allocate(2 * longest_);
    pacer.run(0, longest_, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) keys_[i] = to_key(column[i]);
    });
    Key* sorted = radix_sort(keys_.data(), keys_.data() + longest_, longest_, pacer);
    index_t m = 0;
    pacer.run(0, longest_, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {  // in place, as m is never larger than i
        if (i > 0 && sorted[i] == sorted[m - 1]) {
          cumulative_[m - 1] = static_cast<double>(i + 1);
        } else {
          sorted[m] = sorted[i];
          cumulative_[m++] = static_cast<double>(i + 1);
        }
      }
    });
    distinct_ = sorted;
    return m;
  }

  // `rows` are those of the n values; null if all rows have one.
  index_t distinct_from_pairs(const T* values, const std::uint32_t* rows, index_t n, Pacer& pacer) {
    allocate(longest_ + 1);
    if (pairs_.empty()) pairs_ = AlignedBuffer<Pair>(2 * longest_, "sorting a column");
    n_sorted_ = 0;
    double stored_weight = 0;
    pacer.run(0, n, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        const std::uint32_t row = rows == nullptr ? static_cast<std::uint32_t>(i) : rows[i];
        if (weight_.is_absent(row)) continue;
        stored_weight += weight_[row];
        pairs_[n_sorted_++] = Pair{to_key(values[i]), row};
      }
    });
    sorted_ = radix_sort(pairs_.data(), pairs_.data() + longest_, n_sorted_, pacer);
    const Key zero = to_key(T(0));
    bool zero_pending = n_sorted_ < weight_.n_present();
    const double zero_weight = total_weight_ - stored_weight;
    index_t m = 0;
    double sum = 0;
    const auto add = [&](Key key, double w) {
      sum += w;
      if (m == 0 || key != keys_[m - 1]) keys_[m++] = key;
      cumulative_[m - 1] = sum;
    };
    pacer.run(0, n_sorted_, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        if (zero_pending && sorted_[i].key >= zero) {
          add(zero, zero_weight);
          zero_pending = false;
        }
        add(sorted_[i].key, weight_[sorted_[i].row]);
      }
    });
    if (zero_pending) add(zero, zero_weight);
    distinct_ = keys_.data();
    return m;
  }

  void fill_order(const std::vector<index_t>& boundaries, Pacer& pacer, ColumnOrder& order) const {
    constexpr const char* kWhat = "the sorted rows of the exact search";
    order.rows = AlignedBuffer<std::uint32_t>(n_sorted_, kWhat);
    order.bin_start = reserve_vector<std::uint32_t>(static_cast<index_t>(boundaries.size()) + 2, kWhat);
    order.bin_start.push_back(0);
    index_t run = -1;
    std::size_t next = 0;
    pacer.run(0, n_sorted_, [&](index_t first, index_t end) {
      for (index_t i = first; i < end; ++i) {
        const bool starts = i == 0 || sorted_[i].key != sorted_[i - 1].key;
        order.rows[i] = sorted_[i].row | (starts ? FeatureOrder::kRunStart : 0U);
        if (!starts) continue;
        ++run;
        if (next < boundaries.size() && boundaries[next] == run) {
          order.bin_start.push_back(static_cast<std::uint32_t>(i));
          ++next;
        }
      }
    });
    order.bin_start.push_back(static_cast<std::uint32_t>(n_sorted_));
  }

  index_t longest_;
  index_t max_cuts_;
  index_t most_distinct_;
  index_t n_quantiles_;
  QuantileWeights weight_;
  double total_weight_;
  bool pairs_first_;
  AlignedBuffer<Key> keys_;
  AlignedBuffer<Pair> pairs_;
  AlignedBuffer<double> cumulative_;
  const Key* distinct_ = nullptr;
  const Pair* sorted_ = nullptr;
  index_t n_sorted_ = 0;
};

}  // namespace fastpu::detail
