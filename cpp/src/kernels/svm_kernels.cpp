#include "kernels/svm_kernels.hpp"

namespace fastpu::detail {

const SvmKernels& svm_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kSvmKernels;
  if (isa == Isa::avx2) return avx2::kSvmKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kSvmKernels;
}

}  // namespace fastpu::detail
