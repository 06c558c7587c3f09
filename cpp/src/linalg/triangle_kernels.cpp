#include "linalg/triangle_kernels.hpp"

#include "common/compiler_hints.hpp"
#include "common/vector_lanes.hpp"

namespace fastpu::detail::FASTPU_LEVEL {

namespace {

constexpr index_t kVectors = kPanelRows / kDoubles;

void solve_transposed(const Triangle& u, double* x) {
  const double* panel = u.values;
  for (index_t first = 0; first < u.n; first += kPanelRows) {
    const index_t stride = u.capacity - first;
    double own[kPanelRows];
    for (index_t r = 0; r < kPanelRows; ++r) own[r] = x[first + r];
    FASTPU_UNROLL
    for (index_t r = 0; r < kPanelRows; ++r) {
      own[r] *= u.inverse[first + r];
      for (index_t c = r + 1; c < kPanelRows; ++c) own[c] -= own[r] * panel[r * stride + c];
    }
    Doubles factors[kPanelRows];
    for (index_t r = 0; r < kPanelRows; ++r) {
      x[first + r] = own[r];
      factors[r] = splat<Doubles>(own[r]);
    }
    for (index_t c = kPanelRows; c < u.n - first; c += kDoubles) {
      Doubles left = load<Doubles>(x + first + c);
      FASTPU_UNROLL
      for (index_t r = 0; r < kPanelRows; ++r) left = left - factors[r] * load<Doubles>(panel + r * stride + c);
      store(x + first + c, left);
    }
    panel += kPanelRows * stride;
  }
}

// sums[r] = sum_c rows[r][c] x[c], c from the last one down: those just solved for are the first ones, and are waited
// for least. n is a multiple of kPanelRows.
template <index_t kRows>
void dots(const double* rows, index_t stride, const double* x, index_t n, double* sums) {
  Doubles parts[static_cast<unsigned>(kRows * kVectors)];
  for (Doubles& part : parts) part = Doubles{};
  for (index_t c = n - kPanelRows; c >= 0; c -= kPanelRows) {
    for (index_t v = 0; v < kVectors; ++v) {
      const Doubles values = load<Doubles>(x + c + v * kDoubles);
      FASTPU_UNROLL
      for (index_t r = 0; r < kRows; ++r) {
        Doubles& part = parts[r * kVectors + v];
        part = part + load<Doubles>(rows + r * stride + c + v * kDoubles) * values;
      }
    }
  }
  // Half of the lanes is added to the other half, and again.
  double lanes[static_cast<unsigned>(kRows)][kPanelRows];
  for (index_t r = 0; r < kRows; ++r) {
    for (index_t v = 0; v < kVectors; ++v) store(lanes[r] + v * kDoubles, parts[r * kVectors + v]);
  }
  for (index_t half = kPanelRows / 2; half > 0; half /= 2) {
    for (index_t r = 0; r < kRows; ++r) {
      for (index_t l = 0; l < half; ++l) lanes[r][l] += lanes[r][l + half];
    }
  }
  for (index_t r = 0; r < kRows; ++r) sums[r] = lanes[r][0];
}

void solve(const Triangle& u, double* x) {
  constexpr index_t kRows = kDoubles == 8 ? 8 : 4;  // at once: as many as registers hold the sums of
  double sums[kPanelRows];
  for (index_t first = u.n - kPanelRows; first >= 0; first -= kPanelRows) {
    const index_t stride = u.capacity - first;
    const double* panel = u.values + first * (u.capacity + stride + kPanelRows) / 2;
    for (index_t r = 0; r < kPanelRows; r += kRows) {
      dots<kRows>(panel + r * stride + kPanelRows, stride, x + first + kPanelRows, u.n - first - kPanelRows, sums + r);
    }
    double own[kPanelRows];
    for (index_t r = 0; r < kPanelRows; ++r) own[r] = x[first + r] - sums[r];
    FASTPU_UNROLL
    for (index_t r = kPanelRows - 1; r >= 0; --r) {
      own[r] *= u.inverse[first + r];
      for (index_t c = 0; c < r; ++c) own[c] -= own[r] * panel[c * stride + r];
    }
    for (index_t r = 0; r < kPanelRows; ++r) x[first + r] = own[r];
  }
}

void turn(double* panel, index_t stride, double* carried, const double* c, const double* s, index_t n) {
  Doubles cs[kPanelRows];
  Doubles ss[kPanelRows];
  for (index_t r = 0; r < kPanelRows; ++r) {
    cs[r] = splat<Doubles>(c[r]);
    ss[r] = splat<Doubles>(s[r]);
  }
  for (index_t k = 0; k < n; k += kDoubles) {
    Doubles left = load<Doubles>(carried + k);
    FASTPU_UNROLL
    for (index_t r = 0; r < kPanelRows; ++r) {
      const Doubles row = load<Doubles>(panel + r * stride + k);
      store(panel + r * stride + k, cs[r] * row + ss[r] * left);
      left = cs[r] * left - ss[r] * row;
    }
    store(carried + k, left);
  }
}

}  // namespace

const TriangleKernels kTriangleKernels = {solve_transposed, solve, turn};

}  // namespace fastpu::detail::FASTPU_LEVEL
