// The passes of a loss for trees over the rows, compiled once per instruction-set level. No level fuses or reorders
// operations, and sums are whole numbers, so all levels give the same bits.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/boosting/row_weights.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// A row of weight w adds w e^F or w e^-F to the sums over its group (exponential loss), or w log(1 + e^F) and
// w log(1 + e^-F) (logistic loss). These are the sums, in the order of TreeLossTops and TreeLossSums; those of an
// exponential loss are in the order of Slot, too.
enum ExpSlot : std::uint8_t { kRisingUnlabelled, kFallingUnlabelled, kRisingNegative, kFallingPositive };
enum LogSlot : std::uint8_t { kLossPositive, kLossUnlabelled, kLossAsNegative };
static_assert(int{kRisingUnlabelled} == int{kUnlabelledMinus} && int{kFallingUnlabelled} == int{kUnlabelledPlus} &&
              int{kRisingNegative} == int{kLabelledMinus} && int{kFallingPositive} == int{kLabelledPlus});
inline constexpr int kLossSlots = 4;
inline constexpr int kGroups = 3;                // an array by group begins with N, then U, then P
inline constexpr int kTopWeight = kLossSlots;    // the place of the largest weight in TreeLossTops
inline constexpr int kWeightSlots = kLossSlots;  // the first of the weights of N, U and P in TreeLossSums
inline constexpr double kDigits = 0x1p31;        // a sum is (first + second / kDigits) / kDigits

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

// The factors and offsets that bring the summands into [0, 1].
struct LossScale {
  double weight = 1;  // a power of two
  double loss = 1;    // of the logistic losses, a power of two
  // Added to the exponents F and -F of an exponential loss; -infinity for groups where that exponent is not summed.
  PerGroup rising{-kInfinity, -kInfinity, -kInfinity};
  PerGroup falling{-kInfinity, -kInfinity, -kInfinity};
};

// Coefficients by group.
//     exponential   g = plus e^(F + log w + rising) - minus e^(-F + log w + falling),   h the sum of the two
//     logistic      g = w (plus s(F) - minus s(-F)),  s(F) = 1 / (1 + e^-F),            h = w curve s(F) s(-F)
struct LossSlopes {
  PerGroup plus{};
  PerGroup minus{};
  PerGroup curve{};
};

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

struct LossKernels {
  LossPasses exponential;
  LossPasses logistic;
  // Writes the weights of the groups.
  void (*group_weights)(const LossRows& rows, double scale, std::int64_t* sums);
};

FASTPU_KERNEL_LEVELS(LossKernels, kLossKernels, loss_kernels)

}  // namespace fastpu::detail
