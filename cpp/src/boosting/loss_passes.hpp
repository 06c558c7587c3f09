// The passes of a loss for trees over the rows, compiled once per instruction-set level. No level fuses or reorders
// operations, and sums are whole numbers, so all levels give the same bits.
#pragma once

#include <cstdint>

#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// What TreeLossTops and TreeLossSums hold. An exponential loss sums e^F and e^-F over groups, in the order of Slot;
// other losses have sums for each of their means (loss_formula.hpp): of the function, and where the loss says so of the
// size of its derivative and of its curvature.
enum ExpSlot : std::uint8_t { kRisingUnlabelled, kFallingUnlabelled, kRisingNegative, kFallingPositive };
inline constexpr int kExpSlots = 4;
inline constexpr int kMostFunctions = 2;  // of the score, in one loss
inline constexpr int kMostMeans = 6;
inline constexpr int kSlopeSlots = kMostMeans;  // the first of the sums of derivatives in TreeLossSums
inline constexpr int kCurveSlots = 2 * kMostMeans;
inline constexpr int kWeightSlots = 3 * kMostMeans;  // the first of the weights of N, U and P in TreeLossSums
enum TopSlot : std::uint8_t { kTopValue = 0, kTopSlope = 1, kTopCurve = 2, kTopWeight = kExpSlots };  // in TreeLossTops
inline constexpr int kGroups = 3;          // an array by group begins with N, then U, then P
inline constexpr double kDigits = 0x1p31;  // a sum is (first + second / kDigits) / kDigits

// Scores, weights and their products must be smaller than this, so that no sum of them overflows.
inline constexpr double kMostSize = 0x1p900;

// Most rows of a pass: sums of so many whole numbers are exact in doubles.
inline constexpr index_t kLossRows = 1 << 14;

struct LossRows {
  const double* scores = nullptr;
  const float* narrow_scores = nullptr;  // read if `scores` is null; both null: 0
  const std::int8_t* labels = nullptr;
  const double* weights = nullptr;      // null: 1
  const double* log_weights = nullptr;  // null: 0; read by the exponential passes only
  const std::uint8_t* takes_part = nullptr;
  index_t n = 0;
};

// The factors and offsets that bring the summands into [-1, 1].
struct LossScale {
  // Powers of two, for weights and for each kind of sum.
  double weight = 1;
  double value = 1;
  double slope = 1;
  double curve = 1;
  // Added to the exponents F and -F of an exponential loss; -infinity for groups where that exponent is not summed.
  PerGroup rising{-kInfinity, -kInfinity, -kInfinity};
  PerGroup falling{-kInfinity, -kInfinity, -kInfinity};
};

// Coefficients by group: of the derivatives of the functions of the score, and of their curvatures. Those of an
// exponential loss are slope[kPlus] and slope[kMinus] of
//     g = plus e^(F + log w + rising) - minus e^(-F + log w + falling),   h the sum of the two.
struct LossSlopes {
  PerGroup slope[static_cast<unsigned>(kMostFunctions)]{};
  PerGroup curve[static_cast<unsigned>(kMostFunctions)]{};
};
enum ExpFunction : std::uint8_t { kPlus, kMinus };

// Whether every row has one exponent: rows of U have both if there are rows of P and of N.
inline bool is_one_way(const LossScale& scale) {
  return scale.rising.unlabelled == -kInfinity || scale.falling.unlabelled == -kInfinity;
}

struct LossPasses {
  // Raises tops so that they bound what these rows add. This and `derive` return false if a score is NaN or its size is
  // kMostSize or more.
  bool (*tops)(const LossRows& rows, double* tops);
  // Writes the sums, but not the weights of the groups. If `kept` is not null and is_one_way(scale), an exponential
  // loss writes the summand of each row there.
  void (*sums)(const LossRows& rows, const LossScale& scale, double* kept, std::int64_t* sums);
  // `kept`, if it is not null, has the summands that `sums` kept at the same scores, so that their exponentials are not
  // computed again.
  bool (*derive)(const LossRows& rows, const LossScale& scale, const LossSlopes& slopes, const double* kept, double* g,
                 double* h);
};

}  // namespace fastpu::detail
