// The weights that boosted stumps give to rows, and numbers by group of rows.
//
// Every row has the pair (exp(f), exp(-f)), each up to a factor common to its group, so that the same code serves all
// groups: an unlabelled row uses both (b and c in boost_loss.hpp), a labelled positive only exp(-f) (a), a labelled
// negative only exp(f) (d); what is not used is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fastpu {

// The four sums over groups of rows that the boosted losses are made of: exp(f) and exp(-f) over U, exp(f) over N,
// exp(-f) over P, each row times its sample weight.
enum Slot : std::size_t { kUnlabelledMinus, kUnlabelledPlus, kLabelledMinus, kLabelledPlus, kSlots };
using PerSlot = std::array<double, kSlots>;

// A number for each group of rows: N, U and P.
struct PerGroup {
  double negative = 0;
  double unlabelled = 0;
  double positive = 0;
};

// Half a cache line per row. f is kept to twice the working precision: f + f_low.
struct RowState {
  double minus;  // exp(f) up to a factor
  double plus;   // exp(-f) up to a factor
  double f;
  double f_low;
};

// Sums of weights in fixed point, which do not depend on the order of the rows.
struct PairSums {
  std::int64_t minus = 0;
  std::int64_t plus = 0;
};

// What happens to a row: its weights are added to a histogram, in fixed point times a scale; then each weight is
// multiplied by its ratio, and `step` is added to f.
struct RowChange {
  double minus_scale = 0;
  double plus_scale = 0;
  double minus_ratio = 1;
  double plus_ratio = 1;
  double step = 0;  // 0: weights and f stay as they are
};

}  // namespace fastpu
