// The rows of a pass over a loss, several side by side, and sums over them in whole numbers. For sources that are
// compiled once per instruction-set level; everything has internal linkage.
#pragma once

#include <cstdint>

#include "boosting/loss_passes.hpp"
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

// Remembers whether some score was refused.
struct Refused {
  Doubles is_refused{};

  void see(const Lanes& lanes) {
    is_refused = more_of(is_refused, where_less(magnitude(lanes.score), all(kMostSize), Doubles{}, all(1.0)));
  }
  bool none() const { return all_zero(is_refused); }
};

inline void raise(double& top, Doubles v) {
  for (int l = 0; l < kDoubles; ++l) top = top < v[l] ? v[l] : top;
}

// What the classes of losses compute of several scores side by side.
struct Math {
  static Doubles all(double value) { return FASTPU_LEVEL::all(value); }
  static Doubles abs(Doubles v) { return magnitude(v); }
  static Doubles max(Doubles a, Doubles b) { return more_of(a, b); }
  // Lane by lane `yes` where a < b, else `no`.
  static Doubles where_less(Doubles a, Doubles b, Doubles yes, Doubles no) {
    return FASTPU_LEVEL::where_less(a, b, yes, no);
  }
  static Doubles exp(Doubles v) { return exp_of_vector<double>(v); }
  // log(1 + t) for t in [0, 1]: s (2 + 2/3 s^2 + ...) with s = t / (2 + t), by a polynomial with a relative error of
  // 1e-18.
  static Doubles log_of_one_and(Doubles t) {
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
};

}  // namespace

}  // namespace fastpu::detail::FASTPU_LEVEL
