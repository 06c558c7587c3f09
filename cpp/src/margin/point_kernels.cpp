#include "margin/point_kernels.hpp"

namespace fastpu::detail {

const PointKernels& point_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kPointKernels;
  if (isa == Isa::avx2) return avx2::kPointKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kPointKernels;
}

}  // namespace fastpu::detail
