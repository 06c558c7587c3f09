#include "boosting/tree_loss_kernels.hpp"

namespace fastpu::detail {

const LossKernels& loss_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kLossKernels;
  if (isa == Isa::avx2) return avx2::kLossKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kLossKernels;
}

}  // namespace fastpu::detail
