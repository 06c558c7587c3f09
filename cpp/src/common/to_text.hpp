// Numbers as messages print them.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace fastpu::detail {

// Returns the shortest text that reads back as the same number; std::to_string would print 1e-9 as 0.000000.
inline std::string to_text(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace fastpu::detail
