#include "graph/distance_kernels.hpp"

namespace fastpu::detail {

const DistanceKernels& distance_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kDistanceKernels;
  if (isa == Isa::avx2) return avx2::kDistanceKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kDistanceKernels;
}

}  // namespace fastpu::detail
