#include "tree/code_kernels.hpp"

namespace fastpu::detail {

const CodeKernels& code_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kCodeKernels;
  if (isa == Isa::avx2) return avx2::kCodeKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kCodeKernels;
}

}  // namespace fastpu::detail
