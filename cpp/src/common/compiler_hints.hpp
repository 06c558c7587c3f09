// What compilers spell differently, for the sources that are compiled once per instruction-set level: macros alone, so
// that nothing of one level can be linked into another.
#pragma once

#if defined(_MSC_VER)
#define FASTPU_RESTRICT __restrict
#define FASTPU_UNROLL
#else
#define FASTPU_RESTRICT __restrict__
#if defined(__clang__)
#define FASTPU_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FASTPU_UNROLL _Pragma("GCC unroll 8")
#endif
#endif
