// The key by which a row is sorted: one of its coordinates, then its index, so that ties have a fixed order.
#pragma once

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

struct RowKey {
  double value;
  index_t row;
  bool operator<(const RowKey& other) const { return value < other.value || (value == other.value && row < other.row); }
};

}  // namespace fastpu::detail
