// The rows of a path's kernel matrix, by their positions among the columns of the cache, and products with them.
#pragma once

#include <vector>

#include "fastpu/common/aligned_buffer.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/kernels/kernel_cache.hpp"
#include "kernels/svm_kernels.hpp"
#include "linalg/elbow_factor.hpp"
#include "linalg/vector_kernels.hpp"

namespace fastpu::detail {

// The rounding error that a sum may have, as a share of the sum of its terms' sizes.
inline constexpr double kRounding = 1e-14;

// Most features of a linear kernel whose rows are used in place of kernel rows.
inline constexpr index_t kMostFeatures = 128;

class PathRows {
 public:
  // The columns of the cache must have been set, and must not change. `linear` is null, or holds the rows of few
  // features whose products are the entries of K: they are used in place of kernel rows.
  PathRows(KernelCache<double>& cache, const DenseView<double>* linear, Team& team);

  Isa isa() const { return team_->isa(); }
  index_t n() const { return static_cast<index_t>(cache_->columns().size()); }
  bool is_linear() const { return linear_ != nullptr; }
  index_t n_features() const { return linear_ == nullptr ? -1 : linear_->n_cols; }
  const double* features(index_t i) const { return linear_->row(cache_->columns()[at(i)]); }
  double diagonal(index_t i) const { return diagonal_[at(i)]; }

  // out[k] = K(i, positions[k])
  void take(index_t i, const std::vector<index_t>& positions, double* out);

  // Adds row i to the factor of the rows `positions`, unless it depends on them. Returns the pivot of
  // ElbowFactor::add.
  double add_to_factor(ElbowFactor& factor, const std::vector<index_t>& positions, index_t i, double label);

  // sums[c] += sum_k factors[k] K(positions[k], c)
  void add(const std::vector<index_t>& positions, const double* factors, double* sums);

  // The two halves of add() for a linear K: weights += sum_k factors[k] x_positions[k], and sums[c] += weights'x_c.
  void add_to_weights(const std::vector<index_t>& positions, const double* factors, double* weights) const;
  void add_sizes(const double* factors, double* sizes) const;              // sizes[f] += sum_c |factors[c] x_cf|
  double largest(index_t feature) const { return largest_[at(feature)]; }  // |x|
  void add_weighted(const double* weights, double* sums);

  // The same as add() for two vectors of factors at once.
  void add_two(const std::vector<index_t>& positions, const double* in_a, const double* in_b, double* a, double* b);

  // Returns max_c sum_k factors[k] |K(positions[k], c)|, or an upper bound of it; factors must be >= 0.
  double reach(const std::vector<index_t>& positions, const double* factors);
  // For a linear K, an upper bound of the terms of scores: sum_f |weights[f]| max_c |x_cf|.
  double reach(const double* weights) const;

 private:
  template <class Body>
  void for_each_block(const std::vector<index_t>& positions, const Body& body);

  KernelCache<double>* cache_;
  const SvmKernels* loops_;
  const VectorKernels* vector_loops_;
  Team* team_;
  const DenseView<double>* linear_;   // null if kernel rows are used
  AlignedBuffer<double> by_feature_;  // the same rows, transposed
  std::vector<double> largest_;       // the largest |x| of each feature
  std::vector<double> diagonal_;
  // Scratch space.
  std::vector<double> weights_;
  std::vector<double> column_;
  std::vector<index_t> numbers_;
  std::vector<const double*> values_;
};

}  // namespace fastpu::detail
