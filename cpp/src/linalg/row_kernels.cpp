#include "linalg/row_kernels.hpp"

namespace fastpu::detail {

const RowKernels& row_kernels(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kRowKernels;
  if (isa == Isa::avx2) return avx2::kRowKernels;
#else
  static_cast<void>(isa);
#endif
  return baseline::kRowKernels;
}

}  // namespace fastpu::detail
