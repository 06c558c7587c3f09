// libFuzzer for what gcc compiles. gcc calls a function at every edge (-fsanitize-coverage=trace-pc), which today's
// libFuzzer defines empty; here the calls are counted in an array of counters such as clang makes inline. Edges are
// numbered as they are first met, by a hash of their address: counters in use lie side by side, for libFuzzer reads all
// of them after every input. This is linked before libFuzzer's library, with leave to define a symbol twice.
#include <atomic>
#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those of compiler and library
extern "C" {
void __sanitizer_cov_8bit_counters_init(std::uint8_t* first, std::uint8_t* last);
void __sanitizer_cov_pcs_init(const std::uintptr_t* first, const std::uintptr_t* last);
}

namespace {

constexpr unsigned kHashBits = 18;
constexpr std::uint32_t kCounters = 1U << 15U;

// NOLINTBEGIN(modernize-avoid-c-arrays): this runs at every edge, also before constructors have
alignas(64) std::uint8_t counters[kCounters];
std::atomic<std::uint16_t> number_of[1U << kHashBits];  // 0: not met yet
std::atomic<std::uint32_t> n_met;
// For each counter an address, which is only its number, and no flags.
std::uintptr_t addresses[2 * kCounters];
// NOLINTEND(modernize-avoid-c-arrays)

__attribute__((constructor)) void announce_counters() {
  for (std::size_t i = 0; i < kCounters; ++i) addresses[2 * i] = i + 1;
  __sanitizer_cov_8bit_counters_init(counters, counters + kCounters);
  __sanitizer_cov_pcs_init(addresses, addresses + 2 * kCounters);
}

}  // namespace

// Worker threads may lose a count, as with clang's counters.
extern "C" void __sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  auto& place = number_of[(address * 0x9e3779b97f4a7c15U) >> (64U - kHashBits)];
  auto number = place.load(std::memory_order_relaxed);
  if (number == 0) {
    number = static_cast<std::uint16_t>(1 + n_met.fetch_add(1, std::memory_order_relaxed) % (kCounters - 1));
    place.store(number, std::memory_order_relaxed);
  }
  auto& counter = counters[number];
  if (counter != 0xff) ++counter;
}
// libFuzzer learns nothing from comparisons of floating-point numbers.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
// NOLINTEND(bugprone-reserved-identifier)
