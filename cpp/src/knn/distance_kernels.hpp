// Squared distances by differences in double, with the same bits at every instruction-set level (knn_graph.hpp gives
// the order of summation). Each is a nondecreasing function of every difference even when rounded, so that the result
// of `of_box` never exceeds the distance of a point in the box.
#pragma once

#include "common/kernel_levels.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// The number of points of a panel, which is stored feature by feature.
inline constexpr index_t kPanelPoints = 8;

struct RowPair {
  index_t first;
  index_t second;
};

// squared[k] is the squared distance of the two rows of pairs[k].
template <class T>
using PairDistances = void (*)(const T* x, index_t n_features, const RowPair* pairs, index_t n_pairs, double* squared);

struct DistanceKernels {
  PairDistances<float> f32;
  PairDistances<double> f64;
  // squared[k] is the squared distance of x and point k of the panel.
  void (*of_panel)(const double* panel, const double* x, index_t n_features, double* squared);
  // Returns the squared distance of x and the nearest point of the box [low, high].
  double (*of_box)(const double* low, const double* high, const double* x, index_t n_features);

  template <class T>
  PairDistances<T> of_pairs() const {
    return for_type<T>(f32, f64);
  }
};

FASTPU_KERNEL_LEVELS(DistanceKernels, kDistanceKernels, distance_kernels)

}  // namespace fastpu::detail
