// The passes over the rows of a loss for trees, compiled once per instruction-set level. No level fuses or reorders,
// and sums are whole numbers, so all give the same bits.
#pragma once

#include <cstdint>

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// What is summed for a row of weight w: w e^F and w e^-F (pnu_auc), or w log(1 + e^F) and w log(1 + e^-F) (the others).
// These are the sums over groups, in the order of TreeLossTops and TreeLossSums.
enum ExpSlot : std::uint8_t { kFallingPositive, kRisingUnlabelled, kFallingUnlabelled, kRisingNegative };
enum LogSlot : std::uint8_t { kLossPositive, kLossUnlabelled, kLossAsNegative };
inline constexpr int kLossSlots = 4;
inline constexpr int kGroups = 3;                // an array by group begins with N, then U, then P
inline constexpr int kTopWeight = kLossSlots;    // the largest weight
inline constexpr int kWeightSlots = kLossSlots;  // the weights of N, U and P come after the slots
inline constexpr double kDigits = 0x1p31;        // a sum is (first + second / kDigits) / kDigits

// Scores, weights and their products are smaller than this, so that no sum of them overflows.
inline constexpr double kMostSize = 0x1p900;

// At most kLossRows rows, which keeps sums of doubles exact.
inline constexpr index_t kLossRows = 1 << 14;

struct LossRows {
  const double* scores = nullptr;
  const float* narrow_scores = nullptr;  // read where `scores` is null; both null: 0
  const std::int8_t* labels = nullptr;
  const double* weights = nullptr;      // null: 1
  const double* log_weights = nullptr;  // null: 0; read by the exponential passes alone
  const std::uint8_t* takes_part = nullptr;
  index_t n = 0;
};

struct PerGroup {
  double negative;
  double unlabelled;
  double positive;
};

// What brings the summands into [0, 1].
struct LossScale {
  double weight = 1;  // a power of two
  double loss = 1;    // the same, for the logistic losses
  // Added to the exponents of pnu_auc; -infinity where nothing is summed.
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

// What derivatives and sums can have in common, so that they need one exponential of a row and not two.
struct LossReuse {
  const double* kept = nullptr;  // exponential: what `sums` has kept
  std::int64_t* sums = nullptr;  // logistic: `derive` writes the sums of log(1 + e^F) there
};

// Rows of U have both exponents if there are rows of P and of N; all others have one.
inline bool is_one_way(const LossScale& scale) {
  return scale.rising.unlabelled == -kInfinity || scale.falling.unlabelled == -kInfinity;
}

struct LossPasses {
  // Raises tops to what the rows need. This and `derive` return false if a score is NaN or has a size of kMostSize or
  // more.
  bool (*tops)(const LossRows& rows, double* tops);
  // Writes all but the weights of the groups. If `kept` is not null and no row has both exponents (is_one_way), the
  // exponential passes leave there what they sum.
  void (*sums)(const LossRows& rows, const LossScale& scale, double* kept, std::int64_t* sums);
  bool (*derive)(const LossRows& rows, const LossScale& scale, const LossSlopes& slopes, const LossReuse& reuse,
                 double* g, double* h);
};

struct LossKernels {
  LossPasses exponential;
  LossPasses logistic;
  // Writes the weights of the groups.
  void (*group_weights)(const LossRows& rows, double scale, std::int64_t* sums);
};

FASTPU_KERNEL_LEVELS(LossKernels, kLossKernels, loss_kernels)

}  // namespace fastpu::detail
