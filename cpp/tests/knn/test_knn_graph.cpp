// Nearest neighbours against all distances, computed slowly.
#include "fastpu/knn/knn_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "fastpu/common/types.hpp"

namespace {

using fastpu::at;
using fastpu::CsrView;
using fastpu::DenseView;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::KnnMethod;
using fastpu::KnnOptions;
using fastpu::Team;

std::mt19937 random_numbers(unsigned seed) { return std::mt19937(seed); }

constexpr KnnMethod kMethods[] = {KnnMethod::automatic, KnnMethod::tree, KnnMethod::blocks};

std::vector<Isa> levels() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa <= fastpu::best_isa()) all.push_back(isa);
  }
  return all;
}

struct Neighbors {
  std::vector<index_t> indices;
  std::vector<double> squared;
  bool operator==(const Neighbors&) const = default;
};

// Rows, dense and as CSR without the zeros.
template <class T>
struct Rows {
  index_t n;
  index_t d;
  std::vector<T> x;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<index_t> row_start{0};

  Rows(index_t n_rows, index_t n_cols, const std::function<double(index_t, index_t)>& entry) : n(n_rows), d(n_cols) {
    for (index_t i = 0; i < n; ++i) {
      for (index_t f = 0; f < d; ++f) {
        x.push_back(static_cast<T>(entry(i, f)));
        if (x.back() == T{}) continue;
        values.push_back(x.back());
        columns.push_back(static_cast<std::int32_t>(f));
      }
      row_start.push_back(static_cast<index_t>(values.size()));
    }
  }

  DenseView<T> dense() const { return {x.data(), n, d}; }
  CsrView<T> sparse() const { return {values.data(), columns.data(), row_start.data(), n, d}; }

  Neighbors slow(index_t k) const {
    Neighbors found;
    for (index_t i = 0; i < n; ++i) {
      std::vector<std::pair<double, index_t>> others;
      for (index_t j = 0; j < n; ++j) {
        if (j == i) continue;
        double sum[8] = {};
        for (index_t f = 0; f < d; ++f) {
          const double apart = static_cast<double>(x[at(i * d + f)]) - static_cast<double>(x[at(j * d + f)]);
          sum[f % 8] += apart * apart;
        }
        others.emplace_back(((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7])), j);
      }
      std::sort(others.begin(), others.end());
      for (index_t m = 0; m < k; ++m) {
        found.indices.push_back(others[at(m)].second);
        found.squared.push_back(others[at(m)].first);
      }
    }
    return found;
  }
};

template <class View>
Neighbors search(const View& view, index_t k, KnnMethod method = KnnMethod::automatic, Isa isa = fastpu::best_isa(),
                 int n_threads = 2) {
  KnnOptions options;
  options.n_neighbors = k;
  options.method = method;
  Neighbors found{std::vector<index_t>(at(view.n_rows * k), -1), std::vector<double>(at(view.n_rows * k), -1)};
  Team team(n_threads, {}, isa);
  fastpu::knn_search(view, options, team, found.indices.data(), found.squared.data());
  return found;
}

// Every kind of rows that is hard on something: ties, cancellation, scales.
std::vector<std::function<double(index_t, index_t)>> kinds_of_rows(std::mt19937& random) {
  const auto normal = [&random] { return std::normal_distribution<double>()(random); };
  std::vector<std::function<double(index_t, index_t)>> kinds;
  kinds.emplace_back([=](index_t, index_t) { return normal(); });
  kinds.emplace_back([=](index_t, index_t) { return std::round(normal()); });
  kinds.emplace_back([=](index_t, index_t) { return normal() > 1 ? normal() : 0.0; });
  kinds.emplace_back([=](index_t, index_t) { return normal() + 1e6; });
  kinds.emplace_back([=](index_t i, index_t) { return 1e-3 * normal() + (i % 2 == 0 ? 1e5 : -1e5); });
  kinds.emplace_back([=](index_t i, index_t) { return normal() * (i % 10 == 0 ? 1e10 : 1e-10); });
  kinds.emplace_back([](index_t, index_t) { return 0.25; });
  kinds.emplace_back([](index_t i, index_t f) { return static_cast<double>((i * 7 + f) % 5); });
  kinds.emplace_back([=](index_t, index_t) { return 1e-40 * normal(); });
  return kinds;
}

template <class T>
void check_all(index_t n, index_t d, index_t k) {
  std::mt19937 random = random_numbers(static_cast<unsigned>(n * 1000 + d));
  for (const auto& entry : kinds_of_rows(random)) {
    const Rows<T> rows(n, d, entry);
    const Neighbors slow = rows.slow(k);
    for (const KnnMethod method : kMethods) {
      for (const Isa isa : levels()) CHECK(search(rows.dense(), k, method, isa) == slow);
    }
    CHECK(search(rows.sparse(), k) == slow);
  }
}

CASE("neighbours are those of all distances") {
  for (const index_t d : {1, 2, 3, 4, 7, 8, 9, 16, 21, 67}) {
    check_all<float>(140, d, 5);
    check_all<double>(140, d, 5);
  }
}

CASE("any number of rows and neighbours") {
  for (const index_t n : {2, 3, 9, 47, 48, 49, 65, 97}) {
    for (const index_t k : {index_t{1}, std::min<index_t>(4, n - 1), n - 1}) {
      check_all<float>(n, 3, k);
      check_all<double>(n, 11, k);
    }
  }
}

CASE("the same for any number of threads, over several blocks of rows") {
  std::mt19937 random = random_numbers(3);
  std::normal_distribution<double> normal;
  const Rows<double> rows(2600, 9, [&](index_t, index_t) { return std::round(4 * normal(random)) / 4; });
  const Neighbors one = search(rows.dense(), 6, KnnMethod::blocks, fastpu::best_isa(), 1);
  for (const int n_threads : {2, 3, 7}) {
    for (const KnnMethod method : kMethods) {
      CHECK(search(rows.dense(), 6, method, fastpu::best_isa(), n_threads) == one);
    }
    CHECK(search(rows.sparse(), 6, KnnMethod::automatic, fastpu::best_isa(), n_threads) == one);
  }
}

CASE("rows that the filter cannot tell apart are handed over to the tree") {
  const Rows<double> alike(3000, 12, [](index_t, index_t) { return 1.0; });
  const Neighbors found = search(alike.dense(), 3, KnnMethod::blocks);
  const std::vector<index_t> first = {1, 2, 3};
  const std::vector<index_t> last = {0, 1, 2};
  CHECK(std::equal(first.begin(), first.end(), found.indices.begin()));
  CHECK(std::equal(last.begin(), last.end(), found.indices.end() - 3));
  CHECK(*std::max_element(found.squared.begin(), found.squared.end()) == 0);
}

CASE("no neighbours, one row, no row") {
  const Rows<float> rows(1, 3, [](index_t, index_t) { return 1.0; });
  CHECK(search(rows.dense(), 0).indices.empty());
  CHECK(search(rows.sparse(), 0).indices.empty());
  CHECK(search(DenseView<float>{nullptr, 0, 3}, 0).indices.empty());
}

CASE("rows without columns are all alike") {
  const DenseView<double> rows{nullptr, 3, 0};
  for (const KnnMethod method : {KnnMethod::automatic, KnnMethod::tree, KnnMethod::blocks}) {
    std::vector<index_t> indices(6);
    std::vector<double> squared(6, 1.0);
    Team team(1);
    fastpu::knn_search(rows, {2, method}, team, indices.data(), squared.data());
    CHECK((indices == std::vector<index_t>{1, 2, 0, 2, 0, 1}));
    CHECK(squared == std::vector<double>(6, 0.0));
  }
}

CASE("what cannot be is refused") {
  const Rows<double> missing(4, 2, [](index_t i, index_t f) { return i == 2 && f == 1 ? std::nan("") : 1.0; });
  CHECK_THROWS(std::invalid_argument, search(missing.dense(), 1), "X must have finite entries, got NaN");
  const Rows<double> rows(4, 2, [](index_t i, index_t) { return static_cast<double>(i); });
  CHECK_THROWS(std::invalid_argument, search(rows.dense(), 4), "n_neighbors must be in [0, 3], got 4");
  const Rows<double> huge(4, 2, [](index_t i, index_t f) { return f == 1 ? 1e200 * static_cast<double>(i) : 0.0; });
  CHECK_THROWS(std::invalid_argument, search(huge.dense(), 1), "column 1 with values that differ by 3e+200");
  CHECK_THROWS(std::invalid_argument, search(huge.sparse(), 1), "row 1 with values up to 1e+200");
}

CASE("a poll that throws stops a search") {
  struct Interrupted {};
  const Rows<double> rows(3000, 10, [](index_t i, index_t f) { return std::sin(static_cast<double>(i * 31 + f * 7)); });
  for (const KnnMethod method : kMethods) {
    KnnOptions options;
    options.method = method;
    int n_polls = 0;
    Team team(2, [&n_polls] {
      if (++n_polls > 5) throw Interrupted{};
    });
    std::vector<index_t> indices(15'000);
    std::vector<double> squared(indices.size());
    bool was_stopped = false;
    try {
      fastpu::knn_search(rows.dense(), options, team, indices.data(), squared.data());
    } catch (const Interrupted&) {
      was_stopped = true;
    }
    CHECK(was_stopped);
  }
}

}  // namespace
