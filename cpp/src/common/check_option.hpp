// Checks of the core's options.
#pragma once

#include <stdexcept>
#include <string>

#include "common/to_text.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Throws std::invalid_argument unless the value of the option `name` is what is wanted.
inline void check_option(bool is_wanted, const char* name, const char* wanted, double value) {
  if (is_wanted) return;
  throw std::invalid_argument(std::string(name) + " must be " + wanted + ", got " + to_text(value));
}

// Throws std::invalid_argument if value < least.
inline void check_at_least(const char* name, index_t value, index_t least) {
  if (value >= least) return;
  throw std::invalid_argument(std::string(name) + " must be at least " + std::to_string(least) + ", got " +
                              std::to_string(value));
}

}  // namespace fastpu::detail
