// libFuzzer for what gcc compiles. gcc calls a function at every edge (-fsanitize-coverage=trace-pc), which today's
// libFuzzer defines empty; here the calls are counted in an array of counters such as clang makes inline, one for each
// value of a hash of the edge's address. In a program this is linked before libFuzzer's library, with leave to define a
// symbol twice. In a Python extension, libFuzzer is whatever was loaded before with its symbols for all (atheris).
#include <array>
#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those of compiler and library
extern "C" {
__attribute__((weak)) void __sanitizer_cov_8bit_counters_init(std::uint8_t* first, std::uint8_t* last);
__attribute__((weak)) void __sanitizer_cov_pcs_init(const std::uintptr_t* first, const std::uintptr_t* last);
}

namespace {

constexpr unsigned kBits = 16;
constexpr std::size_t kCounters = std::size_t{1} << kBits;

alignas(64) std::array<std::uint8_t, kCounters> counters;
// For each counter an address, which is only its number, and no flags.
std::array<std::uintptr_t, 2 * kCounters> addresses;

__attribute__((constructor)) void announce_counters() {
  if (__sanitizer_cov_8bit_counters_init == nullptr || __sanitizer_cov_pcs_init == nullptr) return;
  for (std::size_t i = 0; i < kCounters; ++i) addresses[2 * i] = i + 1;
  __sanitizer_cov_8bit_counters_init(counters.data(), counters.data() + kCounters);
  __sanitizer_cov_pcs_init(addresses.data(), addresses.data() + addresses.size());
}

}  // namespace

// Worker threads may lose a count, as with clang's counters.
extern "C" __attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  auto& counter = counters[(address * 0x9e3779b97f4a7c15U) >> (64U - kBits)];
  if (counter != 0xff) ++counter;
}
// libFuzzer learns nothing from comparisons of floating-point numbers.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
// NOLINTEND(bugprone-reserved-identifier)
