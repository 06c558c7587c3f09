// Random matrices, and kernels whose values are known, for the tests of the kernel methods.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel.hpp"

using fastpu::at;

inline std::mt19937 random_numbers(unsigned seed) { return std::mt19937(seed); }

// About a third of the entries are zero, the last row is the first again, and the one before it all zero; unless no
// two rows are to be alike.
template <class T>
struct Points {
  fastpu::index_t n;
  fastpu::index_t d;
  std::vector<T> x;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<fastpu::index_t> row_start;

  Points(fastpu::index_t n_points, fastpu::index_t n_features, unsigned seed, double scale = 1.0, bool has_zeros = true)
      : n(n_points), d(n_features) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.0, scale);
    for (fastpu::index_t i = 0; i < n * d; ++i)
      x.push_back(has_zeros && random() % 3 == 0 ? T{} : static_cast<T>(normal(random)));
    for (fastpu::index_t e = 0; e < d && n > 3 && has_zeros; ++e) {
      x[at((n - 1) * d + e)] = x[at(e)];
      x[at((n - 2) * d + e)] = T{};
    }
    make_sparse();
  }

  // The sparse form of x, anew.
  void make_sparse() {
    values.clear();
    columns.clear();
    row_start.assign(1, 0);
    for (fastpu::index_t i = 0; i < n; ++i) {
      for (fastpu::index_t e = 0; e < d; ++e) {
        if (x[at(i * d + e)] == T{}) continue;
        values.push_back(x[at(i * d + e)]);
        columns.push_back(static_cast<std::int32_t>(e));
      }
      row_start.push_back(static_cast<fastpu::index_t>(values.size()));
    }
  }

  fastpu::DenseView<T> dense() const { return {x.data(), n, d}; }
  fastpu::CsrView<T> sparse() const { return {values.data(), columns.data(), row_start.data(), n, d}; }
  const T* row(fastpu::index_t i) const { return x.data() + i * d; }
};

// The formulas of kernel.hpp.
template <class T>
long double exact_kernel(const fastpu::KernelParams& params, const T* x, const T* z, fastpu::index_t d) {
  long double product = 0;
  long double squares = 0;
  for (fastpu::index_t e = 0; e < d; ++e) {
    const long double difference = static_cast<long double>(x[e]) - static_cast<long double>(z[e]);
    product += static_cast<long double>(x[e]) * static_cast<long double>(z[e]);
    squares += difference * difference;
  }
  const long double inside = params.gamma * product + params.coef0;
  switch (params.kind) {
    case fastpu::KernelKind::linear:
      return product;
    case fastpu::KernelKind::poly:
      return params.degree == 0 ? 1.0L : std::pow(inside, params.degree);
    case fastpu::KernelKind::rbf:
      return std::exp(-params.gamma * squares);
    case fastpu::KernelKind::sigmoid:
      return std::tanh(inside);
    case fastpu::KernelKind::squared_distance:
      return squares;
  }
  return 0;
}

inline std::vector<fastpu::index_t> all_rows(fastpu::index_t n) {
  std::vector<fastpu::index_t> rows(at(n));
  std::iota(rows.begin(), rows.end(), fastpu::index_t{0});
  return rows;
}

// The kernel matrix of the points, in double.
template <class T>
std::vector<double> kernel_matrix(const fastpu::KernelParams& params, const Points<T>& points) {
  std::vector<double> k(at(points.n * points.n));
  for (fastpu::index_t i = 0; i < points.n; ++i) {
    for (fastpu::index_t j = 0; j < points.n; ++j) {
      k[at(i * points.n + j)] = static_cast<double>(exact_kernel(params, points.row(i), points.row(j), points.d));
    }
  }
  return k;
}

// Numbers 0 to n - 1 in another order, some left out.
inline std::vector<fastpu::index_t> some_of(fastpu::index_t n, fastpu::index_t how_many) {
  std::vector<fastpu::index_t> out(at(how_many));
  for (fastpu::index_t k = 0; k < how_many; ++k) out[at(k)] = (k * 7 + 3) % n;
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline std::vector<fastpu::Isa> all_levels() {
  std::vector<fastpu::Isa> levels;
  for (int level = 0; level <= static_cast<int>(fastpu::best_isa()); ++level) {
    levels.push_back(static_cast<fastpu::Isa>(level));
  }
  return levels;
}

// Numbers that a kernel function or a matrix gives: symmetric, and every one different.
inline double pair_number(fastpu::index_t i, fastpu::index_t j) {
  return static_cast<double>(1000 * std::min(i, j) + std::max(i, j));
}

inline std::unique_ptr<fastpu::Kernel<double>> pair_kernel(fastpu::index_t n, int* n_calls = nullptr) {
  return fastpu::make_function_kernel(
      n, [n_calls](const fastpu::index_t* rows, fastpu::index_t n_rows, const fastpu::index_t* columns,
                   fastpu::index_t n_columns, double* out) {
        if (n_calls != nullptr) ++*n_calls;
        for (fastpu::index_t k = 0; k < n_rows; ++k) {
          for (fastpu::index_t c = 0; c < n_columns; ++c) out[k * n_columns + c] = pair_number(rows[k], columns[c]);
        }
      });
}
