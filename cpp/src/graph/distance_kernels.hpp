// Squared distances by differences in double, the same bits at every instruction-set level (knn_graph.hpp says in which
// order they are summed). All of them only grow, in floating point too, when a difference grows, so that what `box`
// gives is no more than the distance of any point in the box.
#pragma once

#include "fastpu/common/isa.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu::detail {

// Points of a panel, whose features lie one after the other, each of all points.
inline constexpr index_t kPanelPoints = 8;

struct RowPair {
  index_t first;
  index_t second;
};

template <class T>
struct PairDistances {
  // squared[k] = d2 of the rows of pairs[k].
  void (*of_pairs)(const T* x, index_t n_features, const RowPair* pairs, index_t n_pairs, double* squared);
};

struct DistanceKernels {
  PairDistances<float> f32;
  PairDistances<double> f64;
  // squared[k] = d2 of x and point k of the panel.
  void (*of_panel)(const double* panel, const double* x, index_t n_features, double* squared);
  // d2 of x and the nearest point of the box [low, high].
  double (*of_box)(const double* low, const double* high, const double* x, index_t n_features);

  template <class T>
  const PairDistances<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return f32;
    } else {
      return f64;
    }
  }
};

const DistanceKernels& distance_kernels(Isa isa);

// The tables behind distance_kernels.
namespace baseline {
extern const DistanceKernels kDistanceKernels;
}
namespace avx2 {
extern const DistanceKernels kDistanceKernels;
}
namespace avx512 {
extern const DistanceKernels kDistanceKernels;
}

}  // namespace fastpu::detail
