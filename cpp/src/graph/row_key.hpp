// A row as it is put in order: by one of its coordinates, then by index, so that equal rows have an order too.
#pragma once

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

struct RowKey {
  double value;
  index_t row;
  bool operator<(const RowKey& other) const { return value < other.value || (value == other.value && row < other.row); }
};

}  // namespace fastpu::detail
