// Says how many bytes could not be had, whatever container asked for them.
//
// make_vector and AlignedBuffer name the array as well; but a vector that grows somewhere in a solver ends in a bare
// std::bad_alloc, and "std::bad_alloc" is no help to who has to find a smaller problem. On Linux the linker sends the
// calls of operator new in fastpu's own objects here (FastpuCompile.cmake: --wrap); the memory is the usual one, and
// nobody else's operator new is touched. Elsewhere this file is empty, and such an error stays bare.
#if defined(FASTPU_WRAPS_NEW)

#include <cstddef>
#include <new>

#include "fastpu/aligned_buffer.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): the linker makes these names
extern "C" {

void* __real__Znwm(std::size_t bytes);

void* __wrap__Znwm(std::size_t bytes) {
  try {
    return __real__Znwm(bytes);
  } catch (const std::bad_alloc&) {
    throw fastpu::OutOfMemory("working memory", bytes);
  }
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

#endif
