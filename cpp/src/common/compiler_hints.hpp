// Hints that every compiler spells in its own way, for the sources that are compiled once per instruction-set level.
// They are macros, not functions, so that the linker cannot take code of one level into another.
#pragma once

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#define FASTPU_HAS_SSE2 1
#endif

#if defined(_MSC_VER)
#define FASTPU_RESTRICT __restrict
#define FASTPU_PREFETCH(address) static_cast<void>(address)
#define FASTPU_UNROLL
#define FASTPU_UNROLL_BY_4
#else
#define FASTPU_RESTRICT __restrict__
#define FASTPU_PREFETCH(address) __builtin_prefetch(address)
#if defined(__clang__)
#define FASTPU_UNROLL _Pragma("clang loop unroll(full)")
#define FASTPU_UNROLL_BY_4 _Pragma("clang loop unroll_count(4)")
#else
#define FASTPU_UNROLL _Pragma("GCC unroll 8")
#define FASTPU_UNROLL_BY_4 _Pragma("GCC unroll 4")
#endif
#endif
