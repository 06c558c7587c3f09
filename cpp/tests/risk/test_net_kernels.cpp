// The loops of training by gradients, on every instruction-set level and for tiles of every size: the same bits as
// plain loops that add in the order that the header states.
#include "risk/net_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "fastpu/common/isa.hpp"

namespace {

using fastpu::at;
using fastpu::index_t;
using fastpu::Isa;
using fastpu::detail::kNetLine;
using fastpu::detail::kNetTile;
using fastpu::detail::NetKernels;

// So many terms are summed before they are added to the sums so far.
constexpr index_t kDepth = 128;
constexpr std::array<index_t, 7> kRowCounts{1, 2, 4, 5, 6, 13, 128};

template <class T>
std::vector<T> random_values(index_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> between(-1, 1);
  std::vector<T> values(at(n));
  for (T& value : values) value = between(random);
  return values;
}

// Dense rows, and where each of them begins.
template <class T>
struct Rows {
  index_t n;
  index_t n_features;
  std::vector<T> values;
  std::vector<const T*> starts;

  Rows(index_t n_rows, index_t features) : n(n_rows), n_features(features), values(random_values<T>(n * features, 1)) {
    for (index_t i = 0; i < n; ++i) starts.push_back(values.data() + i * n_features);
  }
  [[nodiscard]] T of(index_t i, index_t f) const { return values[at(i * n_features + f)]; }
};

// The lanes of a line of products, whose upper halves are added to the lower ones.
template <class T>
T sum_by_lines(const T* a, const T* b, index_t n) {
  std::vector<T> lanes(at(kNetLine<T>));
  const index_t whole = n / kNetLine<T> * kNetLine<T>;
  for (index_t k = 0; k < whole; ++k) lanes[at(k % kNetLine<T>)] += a[k] * b[k];
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  for (index_t k = whole; k < n; ++k) lanes[0] += a[k] * b[k];
  return lanes[0];
}

template <class T>
void computes_the_hidden_layer(const NetKernels<T>& kernels, index_t n, index_t n_features, index_t stride) {
  const Rows<T> rows(n, n_features);
  const auto weights = random_values<T>(n_features * stride, 2);
  const auto bias = random_values<T>(stride, 3);
  std::vector<T> found(at(n * stride));
  kernels.hidden(rows.starts.data(), n, n_features, weights.data(), stride, bias.data(), found.data());
  std::vector<T> expected(found.size());
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < stride; ++j) {
      T sum = bias[at(j)];
      for (index_t first = 0; first < n_features; first += kDepth) {
        T block = 0;
        for (index_t f = first; f < std::min(first + kDepth, n_features); ++f) {
          block += rows.of(i, f) * weights[at(f * stride + j)];
        }
        sum += block;
      }
      expected[at(i * stride + j)] = sum;
    }
  }
  CHECK(found == expected);
}

template <class T>
void computes_the_hidden_layer_of_a_sparse_row(const NetKernels<T>& kernels, index_t stride) {
  const std::vector<std::int32_t> columns{0, 3, 4, 9};
  const auto values = random_values<T>(4, 1);
  const auto weights = random_values<T>(10 * stride, 2);
  const auto bias = random_values<T>(stride, 3);
  std::vector<T> found(at(stride));
  kernels.hidden_of_sparse(values.data(), columns.data(), 4, weights.data(), stride, bias.data(), found.data());
  auto expected = bias;
  for (std::size_t e = 0; e < values.size(); ++e) {
    for (index_t j = 0; j < stride; ++j) expected[at(j)] += values[e] * weights[at(columns[e] * stride + j)];
  }
  CHECK(found == expected);
}

template <class T>
void computes_dots(const NetKernels<T>& kernels, index_t n_features) {
  const Rows<T> rows(5, n_features);
  const auto weights = random_values<T>(n_features, 2);
  std::vector<T> found(5);
  kernels.dots(rows.starts.data(), 5, n_features, weights.data(), found.data());
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(found[i] == sum_by_lines(rows.starts[i], weights.data(), n_features));
  }
}

// There and back through the hidden values.
template <class T>
void rectifies_and_goes_back(const NetKernels<T>& kernels, index_t n, index_t stride) {
  const auto hidden = random_values<T>(n * stride, 1);
  const auto weights = random_values<T>(stride, 2);
  auto found = hidden;
  std::vector<T> scores(at(n));
  kernels.rectify(found.data(), n, stride, weights.data(), scores.data());
  auto expected = hidden;
  for (T& value : expected) value = value < 0 ? 0 : value;
  CHECK(found == expected);
  for (index_t i = 0; i < n; ++i) {
    CHECK(scores[at(i)] == sum_by_lines(expected.data() + i * stride, weights.data(), stride));
  }

  const auto g = random_values<T>(n, 3);
  std::vector<T> sums(at(stride));
  std::vector<T> slopes(at(stride));
  kernels.back(found.data(), n, stride, g.data(), sums.data(), slopes.data());
  for (index_t j = 0; j < stride; ++j) {
    T sum = 0;
    T slope = 0;
    for (index_t i = 0; i < n; ++i) {
      const T value = expected[at(i * stride + j)];
      const T active = value > 0 ? g[at(i)] : 0;
      sum += g[at(i)] * value;
      slope += active;
      CHECK(found[at(i * stride + j)] == active);
    }
    CHECK(sums[at(j)] == sum);
    CHECK(slopes[at(j)] == slope);
  }
}

template <class T>
void adds_up_the_gradient_of_a_tile(const NetKernels<T>& kernels, index_t n, index_t n_units, index_t n_values) {
  const Rows<T> rows(n, 3 + n_values);
  std::vector<T> packed(at(n * kNetTile<T>), 9);
  kernels.pack(rows.starts.data(), n, 3, n_values, packed.data());
  for (index_t i = 0; i < n; ++i) {
    for (index_t f = 0; f < kNetTile<T>; ++f) {
      CHECK(packed[at(i * kNetTile<T> + f)] == (f < n_values ? rows.of(i, 3 + f) : 0));
    }
  }
  const index_t stride = fastpu::round_up(n_units, kNetLine<T>);
  const auto g = random_values<T>(n * stride, 2);
  auto sums = random_values<T>(n_units * kNetTile<T>, 3);
  auto expected = sums;
  kernels.add_rows(packed.data(), n, g.data(), stride, n_units, sums.data());
  for (index_t j = 0; j < n_units; ++j) {
    for (index_t f = 0; f < kNetTile<T>; ++f) {
      T sum = 0;
      for (index_t i = 0; i < n; ++i) sum += g[at(i * stride + j)] * packed[at(i * kNetTile<T> + f)];
      expected[at(j * kNetTile<T> + f)] += sum;
    }
  }
  CHECK(sums == expected);
}

template <class T>
void adds_the_gradient_of_a_sparse_row(const NetKernels<T>& kernels) {
  const std::vector<std::int32_t> columns{1, 2, 5};
  const index_t stride = 2 * kNetLine<T>;
  const auto values = random_values<T>(3, 1);
  const auto g = random_values<T>(kNetLine<T>, 2);
  auto found = random_values<T>(6 * stride, 3);
  auto expected = found;
  kernels.add_sparse(values.data(), columns.data(), 3, g.data(), found.data(), stride);
  for (std::size_t e = 0; e < values.size(); ++e) {
    for (index_t k = 0; k < kNetLine<T>; ++k) expected[at(columns[e] * stride + k)] += values[e] * g[at(k)];
  }
  CHECK(found == expected);
}

template <class T>
void steps_by_adam(const NetKernels<T>& kernels, index_t n) {
  const fastpu::detail::AdamStep step{0.01, 1.5, 0.9, 0.999, 1e-8, 0.1, 0.3};
  const auto gradient = random_values<T>(n, 1);
  auto value = random_values<T>(n, 2);
  auto mean = random_values<T>(n, 3);
  auto square = random_values<T>(n, 4);
  for (T& x : square) x = std::abs(x);
  auto expected = value;
  for (std::size_t k = 0; k < value.size(); ++k) {
    const T g = static_cast<T>(step.unit) * gradient[k] + static_cast<T>(step.decay) * value[k];
    const T m = static_cast<T>(step.mean_decay) * mean[k] + static_cast<T>(1 - step.mean_decay) * g;
    const T v = static_cast<T>(step.square_decay) * square[k] + static_cast<T>(1 - step.square_decay) * (g * g);
    const T length = std::sqrt(v) * static_cast<T>(step.per_root) + static_cast<T>(step.eps);
    expected[k] = value[k] - static_cast<T>(step.rate) * m / length;
  }
  kernels.adam(step, gradient.data(), n, value.data(), mean.data(), square.data());
  CHECK(value == expected);
}

template <class Body>
void on_every_level(Body&& body) {
  for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
    body(fastpu::detail::net_kernels<float>(static_cast<Isa>(level)));
    body(fastpu::detail::net_kernels<double>(static_cast<Isa>(level)));
  }
}

}  // namespace

CASE("hidden units are sums in blocks of features, whatever the tiles") {
  on_every_level([]<class T>(const NetKernels<T>& kernels) {
    for (const index_t n : kRowCounts) {
      for (const index_t n_features : {1, 128, 300}) {
        for (const index_t lines : {1, 2, 3, 4, 5, 7}) {
          computes_the_hidden_layer(kernels, n, n_features, lines * kNetLine<T>);
        }
      }
    }
    for (const index_t lines : {1, 3}) computes_the_hidden_layer_of_a_sparse_row(kernels, lines * kNetLine<T>);
  });
}

CASE("sums over one row are made in lines") {
  on_every_level([]<class T>(const NetKernels<T>& kernels) {
    for (const index_t n_features : {1, 8, 16, 33, 200}) computes_dots(kernels, n_features);
  });
}

CASE("hidden values below zero are cut off, and pass no gradient") {
  on_every_level([]<class T>(const NetKernels<T>& kernels) {
    for (const index_t lines : {1, 2, 5}) rectifies_and_goes_back(kernels, 7, lines * kNetLine<T>);
  });
}

CASE("gradients are sums over rows in their order, whatever the tiles") {
  on_every_level([]<class T>(const NetKernels<T>& kernels) {
    for (const index_t n_units : {1, 2, 3, 4, 5, 6, 7, 9, 20}) {
      for (const index_t n_values : {index_t{1}, kNetTile<T> - 1, kNetTile<T>}) {
        adds_up_the_gradient_of_a_tile(kernels, 11, n_units, n_values);
      }
    }
    adds_the_gradient_of_a_sparse_row(kernels);
  });
}

CASE("a step of Adam is the same in vectors and one by one") {
  on_every_level([]<class T>(const NetKernels<T>& kernels) {
    for (const index_t n : {1, 7, 16, 37}) steps_by_adam(kernels, n);
  });
}
