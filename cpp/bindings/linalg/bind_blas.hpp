#pragma once

#include <pybind11/pybind11.h>

#include "fastpu/linalg/blas.hpp"

namespace fastpu {

namespace py = pybind11;

// SciPy's BLAS, fetched from fastpu._blas at the first call. Call it before the GIL is released.
const Blas& blas();

}  // namespace fastpu
