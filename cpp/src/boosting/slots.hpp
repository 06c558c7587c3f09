// The four sums over groups of rows that the boosted losses are made of: exp(f) and exp(-f) over U, exp(f) over N,
// exp(-f) over P, each row times its sample weight.
#pragma once

#include <array>
#include <cstddef>

namespace fastpu::detail {

enum Slot : std::size_t { kUnlabelledMinus, kUnlabelledPlus, kLabelledMinus, kLabelledPlus, kSlots };
using PerSlot = std::array<double, kSlots>;

}  // namespace fastpu::detail
