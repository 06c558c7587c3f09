#pragma once

#include "common/arguments.hpp"
#include "fastpu/kernels/kernel.hpp"

namespace fastpu {

// Calls `function`, which must outlive it, for blocks of kernel values.
KernelFunction kernel_function(py::handle function);

}  // namespace fastpu
