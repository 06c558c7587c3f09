// What nnpu.hpp trains a function f on: rows and a risk; and the parameters of f.
#pragma once

#include <cstdint>
#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

enum class PuLoss { sigmoid, logistic, squared };

// Rows, dense or CSR, with their labels +1 (positive) and 0 (unlabelled) and weights > 0; null weights stand for 1.
template <class View>
struct PuRows {
  View x;
  const std::int8_t* labels = nullptr;
  const double* weights = nullptr;
  const index_t* chosen = nullptr;  // numbers of the rows to use, possibly repeated; null stands for all
  index_t n_chosen = 0;

  index_t n() const { return chosen == nullptr ? x.n_rows : n_chosen; }
};

struct PuRisk {
  PuLoss loss = PuLoss::sigmoid;
  double prior = 0.5;   // in [0, 1]
  double beta = 0;      // >= 0; where it is larger than what R- falls to, the risk is that of uPU
  double gamma_nn = 1;  // in [0, 1]
};

// Parameters of f. n_hidden == 0 is the linear function, whose coef has a value for each feature.
template <class T>
struct PuNet {
  index_t n_features = 0;
  index_t n_hidden = 0;
  std::vector<T> hidden_coef;       // n_features x n_hidden, row-major
  std::vector<T> hidden_intercept;  // n_hidden
  std::vector<T> coef;              // n_hidden, or n_features
  T intercept = 0;
};

}  // namespace fastpu
