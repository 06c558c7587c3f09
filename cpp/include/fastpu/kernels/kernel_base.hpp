// What every kernel is: its parameters, and the interface that computes blocks of its values. kernel.hpp makes them.
#pragma once

#include <memory>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

// squared_distance is |x - z|^2, from which the rbf kernels of all widths follow.
enum class KernelKind { linear, poly, rbf, sigmoid, squared_distance };

struct KernelParams {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1.0;  // of poly, rbf and sigmoid; of squared_distance the largest that will be used
  int degree = 3;      // of poly, >= 0
  double coef0 = 0.0;  // of poly and sigmoid
};

// Rows of the matrix that are the columns of a block of kernel values, packed so that computing is fast. Columns are
// taken block by block, and every block but the last has a multiple of kKernelPanel columns.
inline constexpr index_t kKernelPanel = 64;

template <class T>
struct KernelColumns {
  virtual ~KernelColumns() = default;
};

// A kernel over the rows of one matrix, numbered 0 to n_rows - 1.
template <class T>
class Kernel {
 public:
  virtual ~Kernel() = default;

  virtual index_t n_rows() const = 0;

  // K(x, x) of a row.
  virtual double diagonal(index_t row) const = 0;

  // Makes columns of n rows of this kernel's matrix. Takes about as much memory as they do.
  virtual std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const = 0;

  // out[k][c - first] = K(rows[k], column c) for k < n and first <= c < last. first is a multiple of kKernelPanel, and
  // there is room in out[k] for whole panels: what lies beyond last in the last one is overwritten. Several threads may
  // call this at the same time, unless is_serial().
  virtual void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
                    T* const* out) const = 0;

  // Whether several rows at once take so much less time than one after the other that rows which are only likely to be
  // needed are worth computing along with one that is.
  virtual bool gains_by_several_rows() const = 0;

  // Whether fill must be called by one thread at a time; it is then best called for all columns at once.
  virtual bool is_serial() const { return false; }
};

}  // namespace fastpu
