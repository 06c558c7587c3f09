#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "fastpu/kernels/kernel.hpp"

namespace fastpu {

// The kernel of that name; "precomputed" and functions are none of them.
KernelParams kernel_params(const std::string& kernel, double gamma, int degree, double coef0);

// Calls Python for blocks of kernel values.
KernelFunction kernel_function(pybind11::object function);

}  // namespace fastpu
