// The check that an option of the core has at least some value.
#pragma once

#include <stdexcept>
#include <string>

#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Throws std::invalid_argument if value < least.
inline void check_at_least(const char* name, index_t value, index_t least) {
  if (value >= least) return;
  throw std::invalid_argument(std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                              std::to_string(value));
}

}  // namespace fastpu::detail
