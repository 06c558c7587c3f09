#pragma once

#include <string>

#include "fastpu/kernel.hpp"

namespace fastpu {

// The kernel of that name; "precomputed" and functions are none of them.
KernelParams kernel_params(const std::string& kernel, double gamma, int degree, double coef0);

}  // namespace fastpu
