#include "tree/newton_kernels.hpp"

namespace fastpu::detail {

const NewtonKernels& newton_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kNewtonKernels;
  if (isa == Isa::avx2) return avx2::kNewtonKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kNewtonKernels;
}

}  // namespace fastpu::detail
