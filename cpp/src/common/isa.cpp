#include "fastpu/common/isa.hpp"

#include <array>

#if defined(FASTPU_X86_LEVELS) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace fastpu {

namespace {

constexpr std::array<std::string_view, 3> kNames = {"baseline", "avx2", "avx512"};

#if defined(FASTPU_X86_LEVELS) && !defined(_MSC_VER)

Isa detect() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) return Isa::avx512;
  return avx2 ? Isa::avx2 : Isa::baseline;
}

#elif defined(FASTPU_X86_LEVELS)

bool bit(int word, int position) { return ((static_cast<unsigned>(word) >> position) & 1U) != 0; }

Isa detect() {
  int leaf1[4] = {};
  int leaf7[4] = {};
  __cpuid(leaf1, 1);
  __cpuidex(leaf7, 7, 0);
  const bool os_saves = bit(leaf1[2], 27);
  const unsigned long long saved = os_saves ? _xgetbv(0) : 0;
  const bool avx2 = (saved & 0x6) == 0x6 && bit(leaf1[2], 12) && bit(leaf1[2], 23) && bit(leaf7[1], 3) &&
                    bit(leaf7[1], 5) && bit(leaf7[1], 8);
  const bool avx512 = avx2 && (saved & 0xe6) == 0xe6 && bit(leaf7[1], 16) && bit(leaf7[1], 17) && bit(leaf7[1], 30) &&
                      bit(leaf7[1], 31);
  if (avx512) return Isa::avx512;
  return avx2 ? Isa::avx2 : Isa::baseline;
}

#else

Isa detect() { return Isa::baseline; }

#endif

}  // namespace

Isa best_isa() {
  static const Isa best = detect();  // depends on the machine alone, so it is detected once
  return best;
}

std::string_view isa_name(Isa isa) { return kNames[static_cast<std::size_t>(isa)]; }

}  // namespace fastpu
