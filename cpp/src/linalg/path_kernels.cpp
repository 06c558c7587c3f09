#include "linalg/path_kernels.hpp"

namespace fastpu::detail {

const PathKernels& path_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kPathKernels;
  if (isa == Isa::avx2) return avx2::kPathKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kPathKernels;
}

}  // namespace fastpu::detail
