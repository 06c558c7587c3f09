// The passes of loss "pnu_auc" over the rows, for tree_loss_kernels.cpp. A row of weight w adds e^(log w + F) and
// e^(log w - F), each less the largest exponent of its group, so that nothing overflows.
#pragma once

#include <cstdint>

#include "boosting/loss_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

bool exponential_tops(const LossRows& rows, double* tops) {
  Doubles most[static_cast<unsigned>(kExpSlots) + 1];
  for (Doubles& slot : most) slot = all(kNone);
  Refused refused;
  for_lanes(rows, [&](const Lanes& lanes) {
    refused.see(lanes);
    const Doubles rising = lanes.log_weight + lanes.score;
    const Doubles falling = lanes.log_weight - lanes.score;
    const auto see = [&](int slot, double label, Doubles v) {
      most[slot] = more_of(most[slot], lanes.of_group(label, v, kNone));
    };
    see(kFallingPositive, 1, falling);
    see(kRisingUnlabelled, 0, rising);
    see(kFallingUnlabelled, 0, falling);
    see(kRisingNegative, -1, rising);
    most[kTopWeight] = more_of(most[kTopWeight], lanes.weight);
  });
  for (int slot = 0; slot <= kExpSlots; ++slot) raise(tops[slot], most[slot]);
  return refused.none();
}

// The exponent sign * F + offset of each group, if every row has only one exponent.
struct OneWay {
  PerGroup sign;
  PerGroup offset;

  Doubles value(const Lanes& lanes) const {
    return exp_of_vector<double>((lanes.log_weight + lanes.pick(sign, 0) * lanes.score) + lanes.pick(offset, kNone));
  }
};

inline PerGroup of_one_way(const LossScale& scale, const PerGroup& rising, const PerGroup& falling) {
  const bool rises = scale.rising.unlabelled > kNone;
  return {rising.negative, rises ? rising.unlabelled : falling.unlabelled, falling.positive};
}
inline OneWay one_way(const LossScale& scale) {
  return {of_one_way(scale, {1, 1, 1}, {-1, -1, -1}), of_one_way(scale, scale.rising, scale.falling)};
}
inline Doubles rising_value(const Lanes& lanes, const PerGroup& offset) {
  return exp_of_vector<double>((lanes.log_weight + lanes.score) + lanes.pick(offset, kNone));
}
inline Doubles falling_value(const Lanes& lanes, const PerGroup& offset) {
  return exp_of_vector<double>((lanes.log_weight - lanes.score) + lanes.pick(offset, kNone));
}

void exponential_sums(const LossRows& rows, const LossScale& scale, double* kept, std::int64_t* sums) {
  DigitSums slots[static_cast<unsigned>(kExpSlots)];
  if (!is_one_way(scale)) {
    for_lanes(rows, [&](const Lanes& lanes) {
      const Digits up = digits_of(rising_value(lanes, scale.rising));
      const Digits down = digits_of(falling_value(lanes, scale.falling));
      const Digits unlabelled_up = in_group(lanes, 0, up);
      const Digits unlabelled_down = in_group(lanes, 0, down);
      slots[kRisingUnlabelled].add(unlabelled_up);
      slots[kRisingNegative].add(without(up, unlabelled_up));
      slots[kFallingUnlabelled].add(unlabelled_down);
      slots[kFallingPositive].add(without(down, unlabelled_down));
    });
  } else {
    const OneWay way = one_way(scale);
    DigitSums& unlabelled_slot = slots[way.sign.unlabelled > 0 ? kRisingUnlabelled : kFallingUnlabelled];
    for_lanes(rows, [&](const Lanes& lanes) {
      const Doubles summed = way.value(lanes);
      if (kept != nullptr) store_lanes(lanes, kept, summed);
      const Digits value = digits_of(summed);
      slots[kFallingPositive].add(in_group(lanes, 1, value));
      slots[kRisingNegative].add(in_group(lanes, -1, value));
      unlabelled_slot.add(value);
    });
    unlabelled_slot.take_off(slots[kFallingPositive]);
    unlabelled_slot.take_off(slots[kRisingNegative]);
  }
  for (index_t slot = 0; slot < kExpSlots; ++slot) slots[slot].write(sums + 2 * slot);
}

bool exponential_derive(const LossRows& rows, const LossScale& scale, const LossSlopes& slopes, const double* kept,
                        double* g, double* h) {
  Refused refused;
  if (!is_one_way(scale)) {
    for_lanes(rows, [&](const Lanes& lanes) {
      refused.see(lanes);
      const Doubles up = lanes.pick(slopes.slope[kPlus], 0) * rising_value(lanes, scale.rising);
      const Doubles down = lanes.pick(slopes.slope[kMinus], 0) * falling_value(lanes, scale.falling);
      store_lanes(lanes, g, up - down);
      store_lanes(lanes, h, up + down);
    });
    return refused.none();
  }
  const OneWay way = one_way(scale);
  const PerGroup factor = of_one_way(scale, slopes.slope[kPlus], slopes.slope[kMinus]);
  const auto write = [&](const Lanes& lanes, const Doubles& summed) {
    const Doubles value = lanes.pick(factor, 0) * summed;
    store_lanes(lanes, g, lanes.pick(way.sign, 0) * value);
    store_lanes(lanes, h, value);
  };
  if (kept != nullptr) {
    for_lanes(rows, [&](const Lanes& lanes) { write(lanes, load_lanes(lanes, kept)); });
  } else {
    for_lanes(rows, [&](const Lanes& lanes) {
      refused.see(lanes);
      write(lanes, way.value(lanes));
    });
  }
  return refused.none();
}

}  // namespace

}  // namespace fastpu::detail::FASTPU_LEVEL
