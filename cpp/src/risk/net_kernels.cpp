#include "risk/net_kernels.hpp"

namespace fastpu::detail {

template <>
const NetKernels<float>& net_kernels<float>(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kNetKernels32;
  if (isa == Isa::avx2) return avx2::kNetKernels32;
#else
  static_cast<void>(isa);
#endif
  return baseline::kNetKernels32;
}

template <>
const NetKernels<double>& net_kernels<double>(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kNetKernels64;
  if (isa == Isa::avx2) return avx2::kNetKernels64;
#else
  static_cast<void>(isa);
#endif
  return baseline::kNetKernels64;
}

}  // namespace fastpu::detail
