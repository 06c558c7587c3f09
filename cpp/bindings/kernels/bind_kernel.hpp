#pragma once

#include <memory>
#include <type_traits>

#include "common/arguments.hpp"
#include "fastpu/kernels/kernel.hpp"

namespace fastpu {

// Calls `function`, which must outlive it, for blocks of kernel values.
KernelFunction kernel_function(py::handle function);

// The kernel that a matrix is.
template <class View>
std::unique_ptr<Kernel<typename View::Value>> precomputed_kernel(const View& x) {
  if constexpr (std::is_same_v<View, DenseView<typename View::Value>>) {
    return make_precomputed_kernel(x);
  } else {
    throw py::type_error("a precomputed kernel must be dense");
  }
}

}  // namespace fastpu
