// The nearest point of a hull: the conditions of the definition, points one after the other.
#include <algorithm>
#include <memory>

#include "fastpu/judge/hull_distance.hpp"
#include "fuzz_input.hpp"

namespace {

using namespace fuzz;
using fastpu::DenseView;
using fastpu::HullDistance;
using fastpu::HullNearest;
using fastpu::HullStatus;
using fastpu::Isa;
using fastpu::Team;

constexpr index_t kSteps = 10'000;

// Weights that make a point, and what is on its other side.
void check(const Input& input, const Matrix<double>& x, const std::vector<double>& point, const HullNearest& found) {
  FUZZ_CHECK(found.status != HullStatus::max_steps);
  FUZZ_CHECK(all_finite(found.apart) && all_finite(found.weights) && std::isfinite(found.slack) && found.slack >= 0);
  FUZZ_CHECK(!found.rows.empty() && found.rows.size() == found.weights.size());
  FUZZ_CHECK(static_cast<index_t>(found.rows.size()) <= std::min(x.n, x.d + 1));
  std::vector<bool> is_used(at(x.n));
  double total = 0;
  std::vector<double> nearest(at(x.d));
  for (std::size_t j = 0; j < found.rows.size(); ++j) {
    const index_t i = found.rows[j];
    FUZZ_CHECK(i >= 0 && i < x.n && !is_used[at(i)]);
    is_used[at(i)] = true;
    FUZZ_CHECK(found.weights[j] >= 0);
    total += found.weights[j];
    for (index_t f = 0; f < x.d; ++f) nearest[at(f)] += found.weights[j] * x.dense[at(i * x.d + f)];
  }
  FUZZ_CHECK(std::fabs(total - 1) < 1e-12);
  if (!input.is_moderate()) return;
  double size = 0;
  double square = 0;
  for (const double value : x.dense) size = std::max(size, std::fabs(value));
  for (const double value : point) size = std::max(size, std::fabs(value));
  for (index_t f = 0; f < x.d; ++f) {
    const double apart = found.apart[at(f)];
    FUZZ_CHECK(std::fabs(point[at(f)] - nearest[at(f)] - apart) <= 1e-13 * size);
    square += apart * apart;
  }
  // (p - x)'(z - x) is 0 at most, but for what rounding makes of a short p - x.
  double most = 0;
  double gain = 0;  // of the squared length, by going towards a row
  for (index_t i = 0; i < x.n; ++i) {
    double sum = 0;
    double far = 0;
    for (index_t f = 0; f < x.d; ++f) {
      const double to_row = x.dense[at(i * x.d + f)] - nearest[at(f)];
      sum += found.apart[at(f)] * to_row;
      far += to_row * to_row;
    }
    most = std::max(most, sum);
    if (sum > 0) gain = std::max(gain, sum * sum / far);
  }
  const double length = std::sqrt(square);
  const bool is_tight = most <= 1e-8 * size * length + 1e-13 * size * size;
  FUZZ_CHECK(is_tight || !input.is_plain());
  // Of rows next to each other and others far away, squares show differences down to 1e-7 of the largest.
  FUZZ_CHECK(is_tight || found.status == HullStatus::precision);
  FUZZ_CHECK(is_tight || std::min(gain / length, length) <= 1e-6 * size);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const index_t n = input.n_rows(0);
  const Matrix<double> x(input, n, input.between(0, 6));
  const DenseView<double> rows = x.dense_view();
  Team team(input.n_threads());
  const Isa isa = input.isa();
  std::unique_ptr<HullDistance> hull;
  if (!accepted([&] { hull = std::make_unique<HullDistance>(rows, isa, team); })) return 0;
  std::unique_ptr<HullDistance> other;
  Team two(2);
  if (input.rarely(8)) other = std::make_unique<HullDistance>(rows, Isa::baseline, two);
  for (index_t k = input.between(1, 4); k > 0; --k) {
    std::vector<double> point;
    const bool is_mean = input.flag();
    const double factor = input.real();
    for (index_t f = 0; f < x.d; ++f) {
      // A row moved along one column, or anything.
      point.push_back(is_mean ? x.dense[at((k % n) * x.d + f)] + (f == k % x.d ? factor : 0.0) : input.real());
    }
    HullNearest found;
    if (!accepted([&] { found = hull->nearest(point.data(), input.rarely(64) ? 0 : kSteps, team); })) continue;
    check(input, x, point, found);
    if (other == nullptr) continue;
    const HullNearest same = other->nearest(point.data(), kSteps, two);
    FUZZ_CHECK(same_bits(same.apart, found.apart) && same_bits(same.weights, found.weights) && same.rows == found.rows);
  }
  return 0;
}
