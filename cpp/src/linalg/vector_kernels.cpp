#include "linalg/vector_kernels.hpp"

#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr index_t kSumLanes = 8;
constexpr index_t kVectors = kSumLanes / kDoubles;

double dot(const double* a, const double* b, index_t n) {
  // Several sets of lanes, so that additions need not wait for each other.
  constexpr index_t kSets = 4;
  Doubles sums[kSets * kVectors];
  for (Doubles& sum : sums) sum = Doubles{};
  index_t k = 0;
  for (; k + kSets * kSumLanes <= n; k += kSets * kSumLanes) {
    for (index_t v = 0; v < kSets * kVectors; ++v) {
      sums[v] = sums[v] + load<Doubles>(a + k + v * kDoubles) * load<Doubles>(b + k + v * kDoubles);
    }
  }
  for (; k + kSumLanes <= n; k += kSumLanes) {
    for (index_t v = 0; v < kVectors; ++v) {
      sums[v] = sums[v] + load<Doubles>(a + k + v * kDoubles) * load<Doubles>(b + k + v * kDoubles);
    }
  }
  double lanes[kSumLanes];
  for (index_t v = 0; v < kVectors; ++v) {
    store(lanes + v * kDoubles, (sums[v] + sums[v + kVectors]) + (sums[v + 2 * kVectors] + sums[v + 3 * kVectors]));
  }
  for (index_t l = 0; k < n; ++k, ++l) lanes[l] += a[k] * b[k];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

void add(double* y, double factor, const double* x, index_t n) {
  const Doubles factors = splat<Doubles>(factor);
  index_t k = 0;
  for (; k + kDoubles <= n; k += kDoubles) store(y + k, load<Doubles>(y + k) + factors * load<Doubles>(x + k));
  for (; k < n; ++k) y[k] += factor * x[k];
}

void add_two(double* a, double* b, const double* const* rows, const double* in_a, const double* in_b, index_t n_rows,
             index_t n) {
  constexpr index_t kRows = 4;  // at once, so that sums are loaded and stored less often
  index_t k = 0;
  for (; k + kRows <= n_rows; k += kRows) {
    in_vectors<double>(n, [&](index_t c, auto zero) {
      using V = decltype(zero);
      V sum_a = load<V>(a + c);
      V sum_b = load<V>(b + c);
      for (index_t r = k; r < k + kRows; ++r) {
        const V values = load<V>(rows[r] + c);
        sum_a = sum_a + splat<V>(in_a[r]) * values;
        sum_b = sum_b + splat<V>(in_b[r]) * values;
      }
      store(a + c, sum_a);
      store(b + c, sum_b);
    });
  }
  for (; k < n_rows; ++k) {
    add(a, in_a[k], rows[k], n);
    add(b, in_b[k], rows[k], n);
  }
}

void rotate(double* carried, double* row, double c, double s, index_t n) {
  in_vectors<double>(n, [&](index_t k, auto zero) {
    using V = decltype(zero);
    const V left = load<V>(carried + k);
    const V kept = load<V>(row + k);
    store(row + k, splat<V>(c) * kept + splat<V>(s) * left);
    store(carried + k, splat<V>(c) * left - splat<V>(s) * kept);
  });
}

PathStep nearest(const PathSlacks& slacks, const double* speed, double a0, double d0, double lam) {
  const Doubles a0s = splat<Doubles>(a0);
  const Doubles d0s = splat<Doubles>(d0);
  const Doubles lams = splat<Doubles>(lam);
  const Doubles none = splat<Doubles>(kInfinity);
  const Doubles zero{};
  Doubles least = none;
  Doubles at = splat<Doubles>(-1.0);
  Doubles position{};
  for (index_t l = 0; l < kDoubles; ++l) position[static_cast<int>(l)] = static_cast<double>(l);
  index_t k = 0;
  for (; k + kDoubles <= slacks.n; k += kDoubles) {
    const Doubles weight = load<Doubles>(slacks.weight + k);
    const Doubles side = load<Doubles>(slacks.side + k);
    const Doubles p = weight * (load<Doubles>(slacks.score + k) + a0s) - side * lams;
    const Doubles q = weight * (load<Doubles>(speed + k) + d0s) + side;
    const Doubles step = where_less(q, zero, more_of(p, zero) / (zero - q), none);
    at = where_less(step, least, position, at);
    least = less_of(step, least);
    position = position + splat<Doubles>(static_cast<double>(kDoubles));
  }
  PathStep result{kInfinity, -1};
  for (int l = 0; l < static_cast<int>(kDoubles); ++l) {
    const auto row = static_cast<index_t>(at[l]);
    if (row >= 0 && (least[l] < result.step || (least[l] == result.step && row < result.row))) {
      result = {least[l], row};
    }
  }
  for (; k < slacks.n; ++k) {
    const double p = slacks.weight[k] * (slacks.score[k] + a0) - slacks.side[k] * lam;
    const double q = slacks.weight[k] * (speed[k] + d0) + slacks.side[k];
    if (!(q < 0)) continue;
    const double step = (p > 0 ? p : 0) / -q;
    if (step < result.step) result = {step, k};
  }
  return result;
}

index_t list_near(const PathSlacks& slacks, double a0, double lam, double limit, index_t* rows) {
  constexpr index_t kAtOnce = 4;  // vectors that are looked at together
  const Doubles a0s = splat<Doubles>(a0);
  const Doubles lams = splat<Doubles>(lam);
  const Doubles none = splat<Doubles>(kInfinity);
  const Doubles zero{};
  index_t count = 0;
  for (index_t first = 0; first < slacks.n; first += kAtOnce * kDoubles) {
    const index_t end = first + kAtOnce * kDoubles < slacks.n ? first + kAtOnce * kDoubles : slacks.n;
    if (end == first + kAtOnce * kDoubles) {
      Doubles least = none;
      for (index_t k = first; k < end; k += kDoubles) {
        const Doubles weight = load<Doubles>(slacks.weight + k);
        const Doubles side = load<Doubles>(slacks.side + k);
        const Doubles p = weight * (load<Doubles>(slacks.score + k) + a0s) - side * lams;
        least = less_of(where_less(zero, side * side, p, none), least);
      }
      double lowest = kInfinity;
      for (int l = 0; l < static_cast<int>(kDoubles); ++l) lowest = least[l] < lowest ? least[l] : lowest;
      if (!(lowest <= limit)) continue;
    }
    for (index_t k = first; k < end; ++k) {
      const double p = slacks.weight[k] * (slacks.score[k] + a0) - slacks.side[k] * lam;
      if (slacks.side[k] != 0 && p <= limit) rows[count++] = k;
    }
  }
  return count;
}

PathCheck check(const PathSlacks& slacks, const double* label, const double* cost, double a0, double lam) {
  const Doubles a0s = splat<Doubles>(a0);
  const Doubles lams = splat<Doubles>(lam);
  const Doubles zero{};
  Doubles worst = zero;
  Doubles sums[kVectors];
  for (Doubles& sum : sums) sum = zero;
  index_t k = 0;
  for (; k + kSumLanes <= slacks.n; k += kSumLanes) {
    for (index_t v = 0; v < kVectors; ++v) {
      const index_t from = k + v * kDoubles;
      const Doubles side = load<Doubles>(slacks.side + from);
      const Doubles x = load<Doubles>(label + from) * (load<Doubles>(slacks.score + from) + a0s) - lams;
      worst = more_of(where_less(zero, side * side, zero - side * x, more_of(x, zero - x)), worst);
      sums[v] = sums[v] + load<Doubles>(cost + from) * more_of(zero - x, zero);
    }
  }
  double lanes[kSumLanes];
  for (index_t v = 0; v < kVectors; ++v) store(lanes + v * kDoubles, sums[v]);
  double most = 0;
  for (int l = 0; l < static_cast<int>(kDoubles); ++l) most = worst[l] > most ? worst[l] : most;
  for (index_t l = 0; k < slacks.n; ++k, ++l) {
    const double x = label[k] * (slacks.score[k] + a0) - lam;
    const double past = slacks.side[k] != 0 ? -slacks.side[k] * x : x < 0 ? -x : x;
    most = past > most ? past : most;
    lanes[l] += cost[k] * (x < 0 ? -x : 0);
  }
  return {most, ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))};
}

}  // namespace

const VectorKernels kVectorKernels = {dot, add, add_two, rotate, nearest, list_near, check};

}  // namespace fastpu::detail::FASTPU_LEVEL
