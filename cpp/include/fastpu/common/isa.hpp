// Instruction-set levels. The hot loops are compiled once per level and the level is chosen once per call;
// no level reassociates a sum or contracts a multiply-add, so all of them give the same bits.
#pragma once

#include <string_view>

namespace fastpu {

enum class Isa {
  baseline,  // what every processor of the family has (SSE2 on x86-64, NEON on aarch64)
  avx2,      // x86-64-v3: AVX2, FMA, BMI1/2
  avx512,    // x86-64-v4: AVX-512 F, BW, DQ, VL
};

// The highest level that this build holds and this processor has.
Isa best_isa();

std::string_view isa_name(Isa isa);

}  // namespace fastpu
