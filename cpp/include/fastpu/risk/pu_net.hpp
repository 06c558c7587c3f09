// The parameters of the function f that nnpu.hpp trains.
#pragma once

#include <vector>

#include "fastpu/common/types.hpp"

namespace fastpu {

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
