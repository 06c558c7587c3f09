// The weights that boosted stumps give to rows.
//
// Every row carries the pair (exp(f), exp(-f)), each up to a factor common to its group, so that one code serves
// all groups: an unlabelled row uses both (b_j and c_j of the header stump_boost.hpp), a labelled positive only
// exp(-f) (a_i), a labelled negative only exp(f) (d_k); what is not used is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fastpu {

// The four sums over groups of rows that the boosted losses are made of: exp(f) and exp(-f) over U, exp(f) over N,
// exp(-f) over P, each row times its sample weight.
enum Slot : std::size_t { kUnlabelledMinus, kUnlabelledPlus, kLabelledMinus, kLabelledPlus, kSlots };
using PerSlot = std::array<double, kSlots>;

// Half a cache line per row. f is kept to twice the working precision: f + f_low.
struct RowState {
  double minus;  // exp(f) up to a factor
  double plus;   // exp(-f) up to a factor
  double f;
  double f_low;
};

// Sums of weights in fixed point. Such sums do not depend on their order, hence neither on the number of threads nor on
// where the rows are.
struct PairSums {
  std::int64_t minus = 0;
  std::int64_t plus = 0;
};

// What happens to a row: its weights before the change go to the histogram, times `scale` in fixed point; then the
// weights are multiplied and f is moved by `step`.
struct RowChange {
  double minus_scale = 0;
  double plus_scale = 0;
  double minus_ratio = 1;
  double plus_ratio = 1;
  double step = 0;          // 0: the row stays as it is
  double minus_factor = 1;  // what a weight before the change adds to the histogram of weights
  double plus_factor = 1;
};

}  // namespace fastpu
