#pragma once

#include <pybind11/pybind11.h>

#include "common/arguments.hpp"
#include "fastpu/linalg/blas.hpp"

namespace fastpu {

// SciPy's BLAS, fetched from fastpu._blas at the first call. Call it before the GIL is released.
const Blas& blas();

// A 2-D array of float64 as BLAS takes it: to be read, and to be written.
inline BlasMatrix<const double> view_2d(const py::object& matrix) {
  const auto array = check_2d<double>(matrix, "a matrix");
  return {array.data(), array.shape(0), array.shape(1)};
}
inline BlasMatrix<double> mutable_view_2d(const py::object& matrix) {
  auto array = check_2d<double>(matrix, "a matrix");
  return {array.mutable_data(), array.shape(0), array.shape(1)};
}

}  // namespace fastpu
