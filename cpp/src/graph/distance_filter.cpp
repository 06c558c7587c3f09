#include "graph/distance_filter.hpp"

namespace fastpu::detail {

const DistanceFilter& distance_filter(Isa isa) {
#if defined(FASTPU_X86_LEVELS)
  if (isa == Isa::avx512) return avx512::kDistanceFilter;
  if (isa == Isa::avx2) return avx2::kDistanceFilter;
#else
  static_cast<void>(isa);
#endif
  return baseline::kDistanceFilter;
}

}  // namespace fastpu::detail
