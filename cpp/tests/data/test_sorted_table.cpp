// Searches in tables of cuts, against counting: evenly and unevenly spread entries, and the ends of the number range.
#include "data/sorted_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using fastpu::index_t;

template <class T>
void counts_all_below(std::vector<T> entries) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  std::ranges::sort(entries);
  std::vector<T> values = {T(0),
                           -T(0),
                           kInf,
                           -kInf,
                           std::numeric_limits<T>::quiet_NaN(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest(),
                           std::numeric_limits<T>::denorm_min()};
  for (std::size_t k = 0; k < entries.size(); k += 1 + entries.size() / 300) {
    for (const T value : {entries[k], std::nextafter(entries[k], -kInf), std::nextafter(entries[k], kInf)}) {
      values.push_back(value);
    }
    values.push_back(entries[k] / 2 + entries[entries.size() / 2] / 2);
  }
  const fastpu::detail::SortedTable<T> table(std::vector<double>(entries.begin(), entries.end()));
  std::vector<std::uint32_t> counts(values.size());
  table.count_below(values.data(), static_cast<index_t>(values.size()), counts.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = std::ranges::count_if(entries, [&](T entry) { return entry < values[i]; });
    CHECK(counts[i] == static_cast<std::uint32_t>(expected));
    CHECK(table.count_below(values[i]) == counts[i]);
  }
}

template <class T>
void counts_in_all_tables(std::uint32_t seed) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (const int n : {0, 1, 7, 8, 255, 5000}) {
    for (const double power : {1.0, 3.0, 25.0}) {  // the last one has most entries in one cell
      std::vector<T> entries;
      for (int k = 0; k < n; ++k) {
        const double x = normal(random);
        entries.push_back(static_cast<T>(std::copysign(std::pow(std::abs(x), power), x)));
      }
      counts_all_below(entries);
      entries.insert(entries.end(), {-kInf, kInf, std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()});
      counts_all_below(entries);
    }
  }
  std::vector<T> neighbours(100, T(1));
  for (std::size_t k = 1; k < neighbours.size(); ++k) neighbours[k] = std::nextafter(neighbours[k - 1], kInf);
  counts_all_below(neighbours);
  for (T& value : neighbours) value = (value - T(1)) * std::numeric_limits<T>::min();
  counts_all_below(neighbours);
  counts_all_below(std::vector<T>(40, -kInf));
}

}  // namespace

CASE("as many entries are counted as lie below a value") {
  counts_in_all_tables<float>(1);
  counts_in_all_tables<double>(2);
}
