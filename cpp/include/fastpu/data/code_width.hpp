// The forms in which binned features keep their codes.
#pragma once

#include <cstdint>

#include "fastpu/common/types.hpp"

namespace fastpu {

// How the codes are stored.
enum class CodeWidth : std::uint8_t { sparse = 0, one_byte = 1, two_bytes = 2 };

// Returns body(Code()) for the type of dense codes.
template <class Body>
auto with_code_type(CodeWidth width, Body&& body) {
  if (width == CodeWidth::one_byte) return body(std::uint8_t());
  return body(std::uint16_t());
}

// Most bins of a feature whose codes are bytes.
inline constexpr index_t kByteBins = 256;

// Most cuts of a feature in dense form.
inline constexpr index_t kMaxDenseCuts = 65535;

}  // namespace fastpu
