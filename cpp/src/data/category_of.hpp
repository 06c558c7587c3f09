// Categories of a categorical feature: its values are their numbers.
#pragma once

#include "fastpu/data/binned_features.hpp"

namespace fastpu::detail {

// The category of a value, an integer from 0 to 254, or -1 for a value that is no category.
template <class T>
int category_of(T x) {
  if (!(x >= 0 && x < T(kMostCategories))) return -1;
  const int category = static_cast<int>(x);
  return static_cast<T>(category) == x ? category : -1;
}

}  // namespace fastpu::detail
