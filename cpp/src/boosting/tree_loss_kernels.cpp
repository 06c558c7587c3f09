#include "boosting/tree_loss_kernels.hpp"

#include <cstdint>

#include "boosting/loss_lanes.hpp"
#include "boosting/pnu_auc_passes.hpp"
#include "boosting/tree_losses.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

void group_weights(const LossRows& rows, double scale, std::int64_t* sums) {
  DigitSums groups[static_cast<unsigned>(kGroups)];
  for_lanes(rows, [&](const Lanes& lanes) {
    const Digits digits = digits_of(lanes.weight * all(scale));
    for (int g = 0; g < kGroups; ++g) groups[g].add(in_group(lanes, g - 1.0, digits));
  });
  for (index_t g = 0; g < kGroups; ++g) groups[g].write(sums + 2 * (kWeightSlots + g));
}

// The passes of a loss of plain means (loss_formula.hpp says what its class has).
template <class Loss>
struct MeansPasses {
  static constexpr int kMeans = static_cast<int>(sizeof(Loss::kMeans) / sizeof(Loss::kMeans[0]));
  static_assert(kMeans <= kMostMeans && Loss::kFunctions <= kMostFunctions && Loss::kCurves <= Loss::kFunctions);
  static_assert(!Loss::kSumsBounds || Loss::kCurves == Loss::kFunctions,
                "with kSumsBounds every function of the score needs a curvature of its own");

  static bool tops(const LossRows& rows, double* tops) {
    Doubles value = all(kNone);
    Doubles slope = all(kNone);  // NOLINT(misc-const-correctness): some losses write to it
    Doubles curve = all(kNone);  // NOLINT(misc-const-correctness): as above
    Doubles weight = all(kNone);
    Refused refused;
    for_lanes(rows, [&](const Lanes& lanes) {
      refused.see(lanes);
      weight = more_of(weight, lanes.weight);
      if constexpr (!Loss::kSumsBounds) {
        value = more_of(value, lanes.weight * Loss::template size<Math>(lanes.score));
      } else {
        const Row row(lanes);
        for (int k = 0; k < Loss::kFunctions; ++k) {
          value = more_of(value, lanes.weight * magnitude(row.value[k]));
          slope = more_of(slope, lanes.weight * magnitude(row.slope[k]));
        }
        for (int k = 0; k < Loss::kCurves; ++k) curve = more_of(curve, lanes.weight * row.curve[k]);
      }
    });
    raise(tops[kTopValue], value);
    raise(tops[kTopSlope], slope);
    raise(tops[kTopCurve], curve);
    raise(tops[kTopWeight], weight);
    return refused.none();
  }

  static void sums(const LossRows& rows, const LossScale& scale, double* /*kept*/, std::int64_t* sums) {
    DigitSums values[static_cast<unsigned>(kMeans)];
    DigitSums slopes[static_cast<unsigned>(kMeans)];  // NOLINT(misc-const-correctness): some losses write to it
    DigitSums curves[static_cast<unsigned>(kMeans)];  // NOLINT(misc-const-correctness): as above
    for_lanes(rows, [&](const Lanes& lanes) {
      Doubles value[static_cast<unsigned>(Loss::kFunctions)];
      Loss::template values<Math>(lanes.score, value);
      add(lanes, values, scale.value, value);
      if constexpr (Loss::kSumsBounds) {
        const Row row(lanes);
        Doubles slope[static_cast<unsigned>(Loss::kFunctions)];
        for (int k = 0; k < Loss::kFunctions; ++k) slope[k] = magnitude(row.slope[k]);
        add(lanes, slopes, scale.slope, slope);
        add(lanes, curves, scale.curve, row.curve);
      }
    });
    for (index_t m = 0; m < kMeans; ++m) {
      values[m].write(sums + 2 * m);
      if constexpr (Loss::kSumsBounds) {
        slopes[m].write(sums + 2 * (kSlopeSlots + m));
        curves[m].write(sums + 2 * (kCurveSlots + m));
      }
    }
  }

  static bool derive(const LossRows& rows, const LossScale& /*scale*/, const LossSlopes& slopes, const double* /*kept*/,
                     double* g, double* h) {
    Refused refused;
    for_lanes(rows, [&](const Lanes& lanes) {
      refused.see(lanes);
      Doubles slope[static_cast<unsigned>(kMostFunctions)];
      Doubles curve[static_cast<unsigned>(kMostFunctions)];
      Loss::template derivatives<Math>(lanes.score, slope, curve);
      Doubles of_slopes = lanes.pick(slopes.slope[0], 0) * slope[0];
      Doubles of_curves = lanes.pick(slopes.curve[0], 0) * curve[0];
      for (int k = 1; k < Loss::kFunctions; ++k) of_slopes = of_slopes + lanes.pick(slopes.slope[k], 0) * slope[k];
      for (int k = 1; k < Loss::kCurves; ++k) of_curves = of_curves + lanes.pick(slopes.curve[k], 0) * curve[k];
      store_lanes(lanes, g, lanes.weight * of_slopes);
      store_lanes(lanes, h, lanes.weight * of_curves);
    });
    return refused.none();
  }

 private:
  struct Row {
    explicit Row(const Lanes& lanes) {
      Loss::template values<Math>(lanes.score, value);
      Loss::template derivatives<Math>(lanes.score, slope, curve);
    }
    Doubles value[static_cast<unsigned>(kMostFunctions)];
    Doubles slope[static_cast<unsigned>(kMostFunctions)];
    Doubles curve[static_cast<unsigned>(kMostFunctions)];
  };

  // Adds numbers by function to the sums by mean.
  static void add(const Lanes& lanes, DigitSums* sums, double scale, const Doubles* numbers) {
    const Doubles weight = lanes.weight * all(scale);
    Digits digits[static_cast<unsigned>(kMostFunctions)];
    for (int k = 0; k < Loss::kFunctions; ++k) digits[k] = digits_of(weight * numbers[k]);
    for (int m = 0; m < kMeans; ++m) {
      const auto label = static_cast<double>(Loss::kMeans[m].group);
      sums[m].add(in_group(lanes, label, digits[Loss::kMeans[m].function]));
    }
  }
};

template <class Loss>
constexpr LossPasses passes_of() {
  return {MeansPasses<Loss>::tops, MeansPasses<Loss>::sums, MeansPasses<Loss>::derive};
}
template <>
constexpr LossPasses passes_of<PnuAucLoss>() {
  return {exponential_tops, exponential_sums, exponential_derive};
}

template <class List>
struct PassesOf;
template <class... Losses>
struct PassesOf<LossList<Losses...>> {
  static constexpr LossPasses kPasses[] = {passes_of<Losses>()...};
};

}  // namespace

const LossKernels kLossKernels = {PassesOf<TreeLosses>::kPasses, group_weights};

}  // namespace fastpu::detail::FASTPU_LEVEL
