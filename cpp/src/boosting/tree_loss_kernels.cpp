#include "boosting/tree_loss_kernels.hpp"

#include <cstdint>

#include "common/vector_exp.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr double kNone = -kInfinity;  // the exponent of 0

inline Doubles all(double value) { return splat<Doubles>(value); }
inline Doubles magnitude(Doubles v) { return more_of(v, Doubles{} - v); }
inline bool all_zero(Doubles v) {
  bool are_zero = true;
  for (int l = 0; l < kDoubles; ++l) are_zero = are_zero && v[l] == 0;
  return are_zero;
}

template <class Small>
inline Doubles widen(const Small* from) {
  return convert<Doubles>(convert<Vec<std::int32_t, kDoubles>>(load<Vec<Small, kDoubles>>(from)));
}

// kDoubles rows side by side, of which the first n are those from number `first` on and the others are padding.
struct Lanes {
  Doubles score;
  Doubles weight;
  Doubles log_weight;
  Doubles group;  // the label, or 2 for a row that does not take part
  index_t first;
  index_t n;

  // The number of each row's group, or `none` for rows that do not take part.
  Doubles pick(const PerGroup& of, double none) const {
    const Doubles positive = where_less(group, all(1.5), all(of.positive), all(none));
    const Doubles labelled = where_less(group, all(-0.5), all(of.negative), positive);
    return where_less(group * group, all(0.25), all(of.unlabelled), labelled);
  }
  // v for the rows of a group, and `none` for the others.
  Doubles of_group(double label, Doubles v, double none) const {
    const Doubles apart = group - all(label);
    return where_less(apart * apart, all(0.25), v, all(none));
  }
};

inline Lanes lanes_at(const LossRows& rows, index_t at, index_t first, index_t n) {
  Lanes lanes{};
  if (rows.scores != nullptr) {
    lanes.score = load<Doubles>(rows.scores + at);
  } else if (rows.narrow_scores != nullptr) {
    lanes.score = convert<Doubles>(load<Vec<float, kDoubles>>(rows.narrow_scores + at));
  }
  lanes.weight = rows.weights == nullptr ? all(1.0) : load<Doubles>(rows.weights + at);
  lanes.log_weight = rows.log_weights == nullptr ? Doubles{} : load<Doubles>(rows.log_weights + at);
  lanes.group = widen(rows.labels + at);
  if (rows.takes_part != nullptr) {
    lanes.group = where_less(widen(rows.takes_part + at), all(0.5), all(2.0), lanes.group);
  }
  lanes.first = first;
  lanes.n = n;
  return lanes;
}

// Calls body(lanes) for all rows; the last lanes are filled up with rows that do not take part.
template <class Body>
inline void for_lanes(const LossRows& rows, Body&& body) {
  index_t i = 0;
  for (; i + kDoubles <= rows.n; i += kDoubles) body(lanes_at(rows, i, i, kDoubles));
  const index_t rest = rows.n - i;
  if (rest == 0) return;
  double scores[static_cast<unsigned>(kDoubles)] = {};
  double weights[static_cast<unsigned>(kDoubles)] = {};
  double log_weights[static_cast<unsigned>(kDoubles)] = {};
  std::int8_t labels[static_cast<unsigned>(kDoubles)] = {};
  std::uint8_t takes_part[static_cast<unsigned>(kDoubles)] = {};
  for (index_t k = 0; k < rest; ++k) {
    if (rows.scores != nullptr) scores[k] = rows.scores[i + k];
    if (rows.narrow_scores != nullptr) scores[k] = static_cast<double>(rows.narrow_scores[i + k]);
    if (rows.weights != nullptr) weights[k] = rows.weights[i + k];
    if (rows.log_weights != nullptr) log_weights[k] = rows.log_weights[i + k];
    labels[k] = rows.labels[i + k];
    takes_part[k] = rows.takes_part == nullptr ? std::uint8_t{1} : rows.takes_part[i + k];
  }
  const LossRows padded{scores,
                        nullptr,
                        labels,
                        rows.weights == nullptr ? nullptr : weights,
                        rows.log_weights == nullptr ? nullptr : log_weights,
                        takes_part,
                        kDoubles};
  body(lanes_at(padded, 0, i, rest));
}

inline void store_lanes(const Lanes& lanes, double* to, const Doubles& v) {
  if (lanes.n == kDoubles) {
    store(to + lanes.first, v);
  } else {
    for (int l = 0; l < lanes.n; ++l) to[lanes.first + l] = v[l];
  }
}

inline Doubles load_lanes(const Lanes& lanes, const double* from) {
  if (lanes.n == kDoubles) return load<Doubles>(from + lanes.first);
  Doubles v{};
  for (int l = 0; l < lanes.n; ++l) v[l] = from[lanes.first + l];
  return v;
}

// ---- Sums of numbers in [0, 1], as whole numbers ----

struct Digits {
  Doubles first;
  Doubles second;
};

inline Doubles nearest_whole(Doubles v) {
  const Doubles round = all(ExpConstants<double>::kRound);
  return (v + round) - round;
}

inline Digits digits_of(Doubles v) {
  const Doubles scaled = v * all(kDigits);
  const Doubles first = nearest_whole(scaled);
  return {first, nearest_whole((scaled - first) * all(kDigits))};
}

struct DigitSums {
  Doubles first{};
  Doubles second{};

  void add(const Digits& digits) {
    first = first + digits.first;
    second = second + digits.second;
  }
  void take_off(const DigitSums& other) {
    first = first - other.first;
    second = second - other.second;
  }
  void write(std::int64_t* to) const {
    to[0] = to[1] = 0;
    for (int l = 0; l < kDoubles; ++l) {
      to[0] += static_cast<std::int64_t>(first[l]);
      to[1] += static_cast<std::int64_t>(second[l]);
    }
  }
};

inline Digits in_group(const Lanes& lanes, double label, const Digits& digits) {
  return {lanes.of_group(label, digits.first, 0.0), lanes.of_group(label, digits.second, 0.0)};
}
inline Digits without(const Digits& a, const Digits& b) { return {a.first - b.first, a.second - b.second}; }

void group_weights(const LossRows& rows, double scale, std::int64_t* sums) {
  DigitSums groups[static_cast<unsigned>(kGroups)];
  for_lanes(rows, [&](const Lanes& lanes) {
    const Digits digits = digits_of(lanes.weight * all(scale));
    for (int g = 0; g < kGroups; ++g) groups[g].add(in_group(lanes, g - 1.0, digits));
  });
  for (index_t g = 0; g < kGroups; ++g) groups[g].write(sums + 2 * (kWeightSlots + g));
}

// Remembers whether some score was refused.
struct Refused {
  Doubles is_refused{};

  void see(const Lanes& lanes) {
    is_refused = more_of(is_refused, where_less(magnitude(lanes.score), all(kMostSize), Doubles{}, all(1.0)));
  }
  bool none() const { return all_zero(is_refused); }
};

// ---- Tops ----

inline void raise(double& top, Doubles v) {
  for (int l = 0; l < kDoubles; ++l) top = top < v[l] ? v[l] : top;
}

bool exponential_tops(const LossRows& rows, double* tops) {
  Doubles most[static_cast<unsigned>(kLossSlots) + 1];
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
  for (int slot = 0; slot <= kLossSlots; ++slot) raise(tops[slot], most[slot]);
  return refused.none();
}

bool logistic_tops(const LossRows& rows, double* tops) {
  Doubles loss = all(kNone);
  Doubles weight = all(kNone);
  Refused refused;
  for_lanes(rows, [&](const Lanes& lanes) {
    refused.see(lanes);
    loss = more_of(loss, lanes.weight * (magnitude(lanes.score) + all(1.0)));
    weight = more_of(weight, lanes.weight);
  });
  raise(tops[0], loss);
  raise(tops[kTopWeight], weight);
  return refused.none();
}

// ---- Sums ----

// The exponent sign F + offset of each group, where every row has one exponent.
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
  DigitSums slots[static_cast<unsigned>(kLossSlots)];
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
  for (index_t slot = 0; slot < kLossSlots; ++slot) slots[slot].write(sums + 2 * slot);
}

// log(1 + t) for t in [0, 1]: s (2 + 2/3 s^2 + ...) with s = t / (2 + t), by a polynomial with a relative error of
// 1e-18.
inline Doubles log_of_one_and(Doubles t) {
  constexpr int kTerms = 11;
  constexpr double kTerm[kTerms] = {2.0,
                                    0.66666666666666149594,
                                    0.40000000000185747468,
                                    0.28571428545454114534,
                                    0.22222224080747673173,
                                    0.18181740832504804510,
                                    0.15386614042304007762,
                                    0.13300374032674624337,
                                    0.12110168728069217655,
                                    0.083245065118608205757,
                                    0.17044163562781398129};
  const Doubles s = t / (all(2.0) + t);
  return s * polynomial<0>(kTerm, s * s);
}

void logistic_sums(const LossRows& rows, const LossScale& scale, double* /*kept*/, std::int64_t* sums) {
  DigitSums slots[static_cast<unsigned>(kLossSlots)];
  for_lanes(rows, [&](const Lanes& lanes) {
    const Doubles weight = lanes.weight * all(scale.loss);
    const Doubles bend = log_of_one_and(exp_of_vector<double>(Doubles{} - magnitude(lanes.score)));
    const Digits rising = digits_of(weight * (more_of(lanes.score, Doubles{}) + bend));
    const Digits falling = digits_of(weight * (more_of(Doubles{} - lanes.score, Doubles{}) + bend));
    slots[kLossPositive].add(in_group(lanes, 1, falling));
    slots[kLossUnlabelled].add(in_group(lanes, 0, rising));
    slots[kLossAsNegative].add(in_group(lanes, 1, rising));
  });
  for (index_t slot = 0; slot < kLossSlots; ++slot) slots[slot].write(sums + 2 * slot);
}

// ---- Derivatives ----

bool exponential_derive(const LossRows& rows, const LossScale& scale, const LossSlopes& slopes, const double* kept,
                        double* g, double* h) {
  Refused refused;
  if (!is_one_way(scale)) {
    for_lanes(rows, [&](const Lanes& lanes) {
      refused.see(lanes);
      const Doubles up = lanes.pick(slopes.plus, 0) * rising_value(lanes, scale.rising);
      const Doubles down = lanes.pick(slopes.minus, 0) * falling_value(lanes, scale.falling);
      store_lanes(lanes, g, up - down);
      store_lanes(lanes, h, up + down);
    });
    return refused.none();
  }
  const OneWay way = one_way(scale);
  const PerGroup factor = of_one_way(scale, slopes.plus, slopes.minus);
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

bool logistic_derive(const LossRows& rows, const LossScale& /*scale*/, const LossSlopes& slopes, const double* /*kept*/,
                     double* g, double* h) {
  Refused refused;
  for_lanes(rows, [&](const Lanes& lanes) {
    refused.see(lanes);
    const Doubles t = exp_of_vector<double>(Doubles{} - magnitude(lanes.score));
    const Doubles large = all(1.0) / (all(1.0) + t);
    const Doubles small = t * large;
    const Doubles rising = where_less(lanes.score, Doubles{}, small, large);
    const Doubles falling = where_less(lanes.score, Doubles{}, large, small);
    store_lanes(lanes, g, lanes.weight * (lanes.pick(slopes.plus, 0) * rising - lanes.pick(slopes.minus, 0) * falling));
    store_lanes(lanes, h, lanes.weight * (lanes.pick(slopes.curve, 0) * (large * small)));
  });
  return refused.none();
}

}  // namespace

const LossKernels kLossKernels = {
    {exponential_tops, exponential_sums, exponential_derive},
    {logistic_tops, logistic_sums, logistic_derive},
    group_weights,
};

}  // namespace fastpu::detail::FASTPU_LEVEL
