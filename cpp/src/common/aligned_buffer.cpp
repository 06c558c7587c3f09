#include "fastpu/common/aligned_buffer.hpp"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fastpu::detail {

void prefer_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  if (bytes < 2 * kHugePage) return;
  // Only whole large pages are asked for: other arrays lie in the pages at both ends.
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(data) % kHugePage) % kHugePage;
  const std::size_t inside = (bytes - before) / kHugePage * kHugePage;
  static_cast<void>(madvise(static_cast<std::byte*>(data) + before, inside, MADV_HUGEPAGE));
#endif
}

}  // namespace fastpu::detail
