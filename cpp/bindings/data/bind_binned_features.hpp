#pragma once

#include <pybind11/pybind11.h>

#include "fastpu/data/binned_features.hpp"

namespace fastpu {

// What a fastpu.models.BinnedFeatures of Python, or the object of the core in it, holds; null for anything else. The caller
// keeps the object alive.
inline const BinnedFeatures* binned_features(const pybind11::handle& features) {
  const pybind11::object held = pybind11::getattr(features, "_native", features);
  return pybind11::isinstance<BinnedFeatures>(held) ? &held.cast<const BinnedFeatures&>() : nullptr;
}

}  // namespace fastpu
