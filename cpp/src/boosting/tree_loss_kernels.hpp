// The passes of every loss for trees, compiled once per instruction-set level.
#pragma once

#include <cstdint>

#include "boosting/loss_passes.hpp"
#include "common/kernel_levels.hpp"

namespace fastpu::detail {

struct LossKernels {
  const LossPasses* of;  // of each loss, in the order of the list in tree_losses.hpp
  // Writes the weights of the groups.
  void (*group_weights)(const LossRows& rows, double scale, std::int64_t* sums);
};

FASTPU_KERNEL_LEVELS(LossKernels, kLossKernels, loss_kernels)

}  // namespace fastpu::detail
