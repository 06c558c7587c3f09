#include "svm/point_kernels.hpp"

#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr index_t kSumLanes = 8;

// Eight lanes of a sum or of a maximum. A vector is added to the next lanes, a single number to the lane of row k.
struct Lanes {
  double lane[kSumLanes];

  explicit Lanes(double value) {
    for (double& each : lane) each = value;
  }
  template <class V>
  void add(index_t k, V value) {
    double* to = lane + k % kSumLanes;
    store<V>(to, load<V>(to) + value);
  }
  template <class V>
  void raise(index_t k, V value) {
    double* to = lane + k % kSumLanes;
    store<V>(to, more_of(load<V>(to), value));
  }
  double sum() const {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
  double maximum() const {
    double most = lane[0];
    for (const double each : lane) most = more_of(most, each);
    return most;
  }
};

void factor(const PointRows& rows, const double* products, double unit, double* const* weights) {
  const double per_unit = 1 / unit;
  in_vectors<double>(rows.n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const V one = splat<V>(1.0);
    const V f = load<V>(products + k);
    const V alpha = load<V>(rows.alpha + k);
    const V per_alpha = one / alpha;
    const V per_room = one / load<V>(rows.room + k);
    const V theta = one / (load<V>(rows.low + k) * per_alpha + load<V>(rows.high + k) * per_room);
    store<V>(rows.f + k, f);
    store<V>(rows.per_alpha + k, per_alpha);
    store<V>(rows.per_room + k, per_room);
    store<V>(rows.theta + k, theta);
    store<V>(weights[0] + k, theta * (load<V>(rows.label + k) - f) * splat<V>(per_unit));
    store<V>(weights[1] + k, load<V>(rows.side + k) * alpha * splat<V>(per_unit));
  });
}

void predict(const PointRows& rows, const double* products, double unit, double* const* weights, double& fastest,
             double& curvature) {
  const double per_unit = 1 / unit;
  Lanes speed(fastest);
  Lanes sum(0);
  in_vectors<double>(rows.n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const V one = splat<V>(1.0);
    const V weight = load<V>(rows.theta + k) * load<V>(rows.side + k);
    const V per_alpha = load<V>(rows.per_alpha + k);
    const V per_room = load<V>(rows.per_room + k);
    const V d_alpha = weight * (load<V>(rows.label + k) - load<V>(rows.f + k) - load<V>(products + k));
    const V down = d_alpha * per_alpha;
    const V up = d_alpha * per_room;
    // d_low = -low (1 + down), d_high = -high (1 - up)
    const V low = one + down;
    const V high = one - up;
    speed.raise<V>(k, more_of(more_of(zero - down, up), more_of(low, high)));
    const V second_low = (zero - d_alpha) * load<V>(rows.low + k) * low;
    const V second_high = d_alpha * load<V>(rows.high + k) * high;
    store<V>(rows.d_low + k, second_low);
    store<V>(rows.d_high + k, second_high);
    sum.add<V>(k, second_low + second_high);
    const V scaled = weight * splat<V>(per_unit);
    store<V>(weights[0] + k, scaled * (second_high * per_room - second_low * per_alpha));
    store<V>(weights[1] + k, scaled * (per_alpha - per_room));
  });
  fastest = speed.maximum();
  curvature += sum.sum();
}

void correct(const PointRows& rows, const double* products, double mu, double second_order, double& fastest,
             double& check) {
  Lanes speed(fastest);
  Lanes sum(0);
  in_vectors<double>(rows.n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const V one = splat<V>(1.0);
    const V side = load<V>(rows.side + k);
    const V low = load<V>(rows.low + k);
    const V high = load<V>(rows.high + k);
    const V per_alpha = load<V>(rows.per_alpha + k);
    const V per_room = load<V>(rows.per_room + k);
    const V to_low = (splat<V>(mu) - splat<V>(second_order) * load<V>(rows.d_low + k)) * per_alpha;
    const V to_high = (splat<V>(mu) - splat<V>(second_order) * load<V>(rows.d_high + k)) * per_room;
    const V product = load<V>(products + k);
    const V q = side * (load<V>(rows.label + k) - load<V>(rows.f + k)) - to_high + to_low;
    const V d_alpha = load<V>(rows.theta + k) * (q - side * product);
    const V down = d_alpha * per_alpha;
    const V up = d_alpha * per_room;
    const V d_low = to_low - low * (one + down);
    const V d_high = to_high - high * (one - up);
    speed.raise<V>(k, more_of(more_of(zero - down, up), more_of((zero - d_low) / low, (zero - d_high) / high)));
    sum.add<V>(k, zero * (d_alpha + d_low + d_high));
    store<V>(rows.d_alpha + k, d_alpha);
    store<V>(rows.d_low + k, d_low);
    store<V>(rows.d_high + k, d_high);
    store<V>(rows.d_f + k, product);
  });
  fastest = speed.maximum();
  check += sum.sum();
}

void advance(const PointRows& rows, double length, double* sums) {
  Lanes products(0);
  Lanes losses(0);
  Lanes slacks(0);
  in_vectors<double>(rows.n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const V step = splat<V>(length);
    const V alpha = load<V>(rows.alpha + k) + step * load<V>(rows.d_alpha + k);
    const V room = load<V>(rows.room + k) - step * load<V>(rows.d_alpha + k);
    const V low = load<V>(rows.low + k) + step * load<V>(rows.d_low + k);
    const V high = load<V>(rows.high + k) + step * load<V>(rows.d_high + k);
    const V f = load<V>(rows.f + k) + step * load<V>(rows.d_f + k);
    store<V>(rows.alpha + k, alpha);
    store<V>(rows.room + k, room);
    store<V>(rows.low + k, low);
    store<V>(rows.high + k, high);
    store<V>(rows.f + k, f);
    const V lack = load<V>(rows.side + k) * (load<V>(rows.label + k) - f);
    const V above = more_of(lack, zero);
    products.add<V>(k, alpha * low + room * high);
    losses.add<V>(k, (alpha + room) * above);
    slacks.add<V>(k, room * above + alpha * (above - lack));
  });
  sums[0] += products.sum();
  sums[1] += losses.sum();
  sums[2] += slacks.sum();
}

}  // namespace

const PointKernels kPointKernels = {factor, predict, correct, advance};

}  // namespace fastpu::detail::FASTPU_LEVEL
