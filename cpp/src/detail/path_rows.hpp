// The rows of a path's kernel matrix, by their positions among the columns of the cache, and products with them.
#pragma once

#include <vector>

#include "detail/path_kernels.hpp"
#include "detail/svm_kernels.hpp"
#include "fastpu/aligned_buffer.hpp"
#include "fastpu/kernel_cache.hpp"
#include "fastpu/parallel.hpp"

namespace fastpu::detail {

class PathRows {
 public:
  // The cache's columns must have been set; they stay what they are. `linear` shows the rows if K is their products.
  PathRows(KernelCache<double>& cache, const DenseView<double>* linear, Isa isa, Team& team);

  index_t n() const { return static_cast<index_t>(cache_->columns().size()); }
  bool is_linear() const { return linear_ != nullptr; }
  double diagonal(index_t i) const { return diagonal_[static_cast<std::size_t>(i)]; }

  // out[k] = K(i, positions[k])
  void take(index_t i, const std::vector<index_t>& positions, double* out);

  // sums[c] += sum_k factors[k] K(positions[k], c)
  void add(const std::vector<index_t>& positions, const double* factors, double* sums);

  // The same with two kinds of factors at once.
  void add_two(const std::vector<index_t>& positions, const double* in_a, const double* in_b, double* a, double* b);

  // max_c sum_k factors[k] |K(positions[k], c)|, or a bound of it; factors >= 0.
  double reach(const std::vector<index_t>& positions, const double* factors);

 private:
  template <class Body>
  void for_each_block(const std::vector<index_t>& positions, const Body& body);
  void add_features(const std::vector<index_t>& positions, const double* factors, double* sums);
  const double* features(index_t i) const { return linear_->row(cache_->columns()[static_cast<std::size_t>(i)]); }

  KernelCache<double>* cache_;
  const SvmKernels* loops_;
  const PathKernels* path_loops_;
  Team* team_;
  const DenseView<double>* linear_ = nullptr;  // if there are few enough features
  AlignedBuffer<double> by_feature_;           // these rows, transposed
  std::vector<double> weights_;
  std::vector<double> diagonal_;
  std::vector<index_t> numbers_;
  std::vector<const double*> values_;
};

}  // namespace fastpu::detail
