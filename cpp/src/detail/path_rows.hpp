// The rows of a path's kernel matrix, by their positions among the columns of the cache, and products with them.
#pragma once

#include <vector>

#include "detail/svm_kernels.hpp"
#include "fastpu/kernel_cache.hpp"
#include "fastpu/parallel.hpp"

namespace fastpu::detail {

class PathRows {
 public:
  // The cache's columns must have been set; they stay what they are.
  PathRows(KernelCache<double>& cache, Isa isa, Team& team);

  index_t n() const { return static_cast<index_t>(cache_->columns().size()); }
  double diagonal(index_t i) const { return diagonal_[static_cast<std::size_t>(i)]; }

  // K(i, every column), until the next call of row, columns_of or add.
  const double* row(index_t i);

  // out[k] = K(i, positions[k])
  void take(index_t i, const std::vector<index_t>& positions, double* out);

  // sums[c] += sum_k factors[k] K(positions[k], c), the sums of |K| where `absolute`.
  void add(const std::vector<index_t>& positions, const double* factors, double* sums, bool absolute = false);

 private:
  KernelCache<double>* cache_;
  const SvmKernels* loops_;
  Team* team_;
  std::vector<double> diagonal_;
  std::vector<index_t> numbers_;
  std::vector<const double*> values_;
};

}  // namespace fastpu::detail
