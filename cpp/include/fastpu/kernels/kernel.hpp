// Kernel functions K(x, z) of pairs of rows, computed block by block.
//
//     linear   x'z
//     poly     (gamma x'z + coef0)^degree
//     rbf      exp(-gamma |x - z|^2)
//     sigmoid  tanh(gamma x'z + coef0)
//
// and precomputed matrices and functions of the caller's. Values have the type T of the data (float or double). In
// dense data rbf sums squared differences, not |x|^2 - 2 x'z + |z|^2, which cancels where data lie far from the origin;
// in sparse data it has to use the latter and sums it in double, with twice the digits for pairs of rows that lie so
// far from the origin that it would show. Every level of instructions gives the same bits, and K(x, z) the same bits as
// K(z, x).
#pragma once

#include <functional>
#include <memory>

#include "fastpu/common/isa.hpp"
#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"

namespace fastpu {

enum class KernelKind { linear, poly, rbf, sigmoid };

struct KernelParams {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1.0;  // of poly, rbf and sigmoid
  int degree = 3;      // of poly, >= 0
  double coef0 = 0.0;  // of poly and sigmoid
};

// Rows chosen as columns of a block, in the form that is fastest to compute against. One block of columns after the
// other is passed over; every block but the last has kKernelPanel columns or a multiple.
inline constexpr index_t kKernelPanel = 64;

template <class T>
class KernelColumns {
 public:
  KernelColumns() = default;
  KernelColumns(const KernelColumns&) = delete;
  KernelColumns& operator=(const KernelColumns&) = delete;
  KernelColumns(KernelColumns&&) = delete;
  KernelColumns& operator=(KernelColumns&&) = delete;
  virtual ~KernelColumns() = default;
  virtual index_t size() const = 0;
};

// A kernel over the rows of one matrix, numbered 0 to n_rows - 1.
template <class T>
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) = delete;
  Kernel& operator=(Kernel&&) = delete;
  virtual ~Kernel() = default;

  virtual index_t n_rows() const = 0;

  // K(x, x) of a row.
  virtual double diagonal(index_t row) const = 0;

  // Makes columns of n rows of this kernel's matrix. Takes about as much memory as they do.
  virtual std::unique_ptr<KernelColumns<T>> pack(const index_t* rows, index_t n, Team& team) const = 0;

  // out[k][c - first] = K(rows[k], column c) for k < n and first <= c < last. first is a multiple of kKernelPanel, and
  // there is room in out[k] for whole panels: what lies beyond last in the last one is overwritten. `worker` is that of
  // the team whose loop calls this; calls with different workers may run at the same time, unless is_serial().
  virtual void fill(const index_t* rows, index_t n, const KernelColumns<T>& columns, index_t first, index_t last,
                    T* const* out, int worker) const = 0;

  // Whether fill must be called from one thread, and is best asked for all columns at once.
  virtual bool is_serial() const { return false; }
};

// The kernels of dense and sparse data; `view` must outlive them. n_workers bounds `worker`.
template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const DenseView<T>& view, const KernelParams& params, Isa isa, int n_workers);
template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const CsrView<T>& view, const KernelParams& params, Isa isa, int n_workers);

// K given as a whole: a symmetric matrix of n rows and columns.
template <class T>
std::unique_ptr<Kernel<T>> make_precomputed_kernel(const DenseView<T>& view);

// fill(rows, n_rows, columns, n_columns, out): out[k * n_columns + c] = K(rows[k], columns[c]).
using KernelFunction =
    std::function<void(const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out)>;
std::unique_ptr<Kernel<double>> make_function_kernel(index_t n_rows, KernelFunction fill);

// Scores of the rows of x: out[i * n_models + m] = intercepts[m] + sum_s coefs[s * n_models + m] K(support[s], x[i]),
// summed in the order of s in double. Time O(n_x n_support (d + n_models)), memory of a block of columns per thread.
struct KernelModels {
  const index_t* support = nullptr;  // rows of the kernel's own matrix
  index_t n_support = 0;
  const double* coefs = nullptr;       // n_support x n_models
  const double* intercepts = nullptr;  // n_models
  index_t n_models = 1;
};

// x are rows of the kernel's own matrix,
template <class T>
void kernel_scores(const Kernel<T>& kernel, const KernelModels& models, const index_t* x, index_t n_x, Isa isa,
                   Team& team, double* out);

// or all rows of another one, with support vectors in `support_view`.
template <class T>
void kernel_scores(const DenseView<T>& support_view, const DenseView<T>& x, const KernelParams& params,
                   const KernelModels& models, Isa isa, Team& team, double* out);
template <class T>
void kernel_scores(const CsrView<T>& support_view, const CsrView<T>& x, const KernelParams& params,
                   const KernelModels& models, Isa isa, Team& team, double* out);

}  // namespace fastpu
