// The hot loops of a room are compiled once for each instruction-set level, and a table of them is chosen once per
// call.
//
// The source of such loops is compiled with FASTPU_LEVEL as the name of each level in turn, and defines the table in
// namespace fastpu::detail::FASTPU_LEVEL. Everything else in it has internal linkage; otherwise a linker could give the
// code of a high level to a processor of a low one. For the same reason it calls no function of the C++ library, but
// for the few that compilers replace by instructions.
#pragma once

#include <cstdint>
#include <type_traits>

#include "fastpu/common/isa.hpp"

namespace fastpu::detail {

// Of two kernels, or tables of them, the one for T: the first is for floats or bytes, the second for twice as wide
// numbers.
template <class T, class Narrow, class Wide>
const auto& for_type(const Narrow& narrow, const Wide& wide) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::uint8_t>) {
    return narrow;
  } else {
    return wide;
  }
}

}  // namespace fastpu::detail

#if defined(FASTPU_X86_LEVELS)

// Declares the table of each level, and a function that returns the table of a given level.
#define FASTPU_KERNEL_LEVELS(Kernels, kTable, table_of) \
  namespace baseline {                                  \
  extern const Kernels kTable;                          \
  }                                                     \
  namespace avx2 {                                      \
  extern const Kernels kTable;                          \
  }                                                     \
  namespace avx512 {                                    \
  extern const Kernels kTable;                          \
  }                                                     \
  inline const Kernels& table_of(Isa isa) {             \
    if (isa == Isa::avx512) return avx512::kTable;      \
    if (isa == Isa::avx2) return avx2::kTable;          \
    return baseline::kTable;                            \
  }

#else

#define FASTPU_KERNEL_LEVELS(Kernels, kTable, table_of) \
  namespace baseline {                                  \
  extern const Kernels kTable;                          \
  }                                                     \
  inline const Kernels& table_of(Isa /*isa*/) { return baseline::kTable; }

#endif
