// Random training sets for the tests of the boosting kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "fastpu/common/types.hpp"

struct BoostingData {
  fastpu::index_t n = 0;
  fastpu::index_t d = 0;
  std::vector<double> x;  // row-major
  std::vector<std::int8_t> y;
  std::vector<double> weight;

  fastpu::DenseView<double> dense() const { return {x.data(), n, d}; }
};

// Every second feature is rounded, so that it has ties; some entries are zero, some NaN. All three groups are there.
inline BoostingData boosting_data(fastpu::index_t n, fastpu::index_t d, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  BoostingData data;
  data.n = n;
  data.d = d;
  for (fastpu::index_t i = 0; i < n; ++i) {
    const double truth = uniform(random) < 0.5 ? 1 : -1;
    data.y.push_back(i == 0   ? 1
                     : i == 1 ? -1
                     : i == 2 ? 0
                              : static_cast<std::int8_t>(uniform(random) < 0.4 ? truth : 0));
    data.weight.push_back(std::floor(3 * uniform(random)) + (i < 3 ? 1 : 0));
    for (fastpu::index_t e = 0; e < d; ++e) {
      double value = normal(random) + (e < 3 ? 0.5 * truth : 0);
      if (e % 2 == 1) value = std::round(2 * value) / 2;
      if (uniform(random) < 0.05) value = 0;
      if (uniform(random) < 0.02) value = std::numeric_limits<double>::quiet_NaN();
      data.x.push_back(value);
    }
  }
  return data;
}

// The same matrix in compressed rows.
struct SparseCopy {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::vector<fastpu::index_t> row_start{0};
  fastpu::index_t n_cols = 0;

  explicit SparseCopy(const BoostingData& data) : n_cols(data.d) {
    for (fastpu::index_t i = 0; i < data.n; ++i) {
      for (fastpu::index_t e = 0; e < data.d; ++e) {
        const double value = data.dense().row(i)[e];
        if (value == 0) continue;
        values.push_back(value);
        columns.push_back(static_cast<std::int32_t>(e));
      }
      row_start.push_back(static_cast<fastpu::index_t>(values.size()));
    }
  }
  fastpu::CsrView<double> view() const {
    return {values.data(), columns.data(), row_start.data(), static_cast<fastpu::index_t>(row_start.size()) - 1,
            n_cols};
  }
};
