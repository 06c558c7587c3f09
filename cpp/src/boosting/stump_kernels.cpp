#include "boosting/stump_kernels.hpp"

namespace fastpu::detail {

const StumpKernels& stump_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kStumpKernels;
  if (isa == Isa::avx2) return avx2::kStumpKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kStumpKernels;
}

}  // namespace fastpu::detail
