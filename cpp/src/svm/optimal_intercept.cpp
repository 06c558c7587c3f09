#include "svm/optimal_intercept.hpp"

#include <algorithm>
#include <cstddef>

#include "common/add_exactly.hpp"

namespace fastpu::detail {

namespace {

// Returns the least position among the points [first, last) of a range that is not empty.
double least_position(const std::vector<Breakpoint>& points, std::ptrdiff_t first, std::ptrdiff_t last) {
  return std::min_element(points.begin() + first, points.begin() + last,
                          [](const Breakpoint& a, const Breakpoint& b) { return a.position < b.position; })
      ->position;
}

}  // namespace

InterceptInterval best_intercepts(std::vector<Breakpoint>& points, double target) {
  const auto n = static_cast<std::ptrdiff_t>(points.size());
  // The slope just to the right of point k is the cost of all points up to it, minus the target. Searches for the
  // first point where it is not negative: it is after all points before `first`, and before those from `last` on.
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = n;
  ExactSum below;
  const auto by_position = [](const Breakpoint& a, const Breakpoint& b) {
    return a.position < b.position || (a.position == b.position && a.cost < b.cost);
  };
  constexpr std::ptrdiff_t kFew = 32;
  while (last - first > kFew) {
    const std::ptrdiff_t middle = first + (last - first) / 2;
    std::nth_element(points.begin() + first, points.begin() + middle, points.begin() + last, by_position);
    ExactSum up_to_middle = below;
    for (std::ptrdiff_t k = first; k < middle; ++k) up_to_middle.add(points[at(k)].cost);
    // A slope closer to zero than this is left to the exact comparison below.
    const double clear = 4 * points[at(middle)].cost;
    if (up_to_middle.value() + clear < target) {
      below = up_to_middle;
      first = middle;
    } else if (up_to_middle.value() - clear > target) {
      last = middle;
    } else {
      break;
    }
  }
  std::sort(points.begin() + first, points.begin() + last, by_position);
  for (std::ptrdiff_t k = first; k < last; ++k) {
    const Breakpoint& point = points[at(k)];
    if (k == 0 && target <= 1e-6 * point.cost) return {-kInfinity, point.position, point.position};
    below.add(point.cost);
    const double next_cost = k + 1 < last ? points[at(k + 1)].cost : point.cost;
    const double rounding = 1e-6 * std::min(point.cost, next_cost);
    if (below.value() < target - rounding) continue;
    if (below.value() > target + rounding) return {point.position, point.position, point.position};
    if (k + 1 == n) return {point.position, kInfinity, point.position};
    const double next = k + 1 < last ? points[at(k + 1)].position : least_position(points, last, n);
    return {point.position, next, 0.5 * (point.position + next)};
  }
  const double end = points[at(last - 1)].position;
  return {end, last == n ? kInfinity : end, end};
}

}  // namespace fastpu::detail
