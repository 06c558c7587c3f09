// Kernel functions K(x, z) of pairs of rows, computed block by block.
//
//     linear   x'z
//     poly     (gamma x'z + coef0)^degree
//     rbf      exp(-gamma |x - z|^2)
//     sigmoid  tanh(gamma x'z + coef0)
//
// and precomputed matrices and functions of the caller's. Values have the type T of the data (float or double). In
// dense data rbf sums squared differences, not |x|^2 - 2 x'z + |z|^2, which cancels where data lie far from the origin;
// in sparse data it uses the latter, summed in double, but for pairs of rows that lie so far from the origin that it
// would show. Every level of instructions gives the same bits, and K(x, z) the same bits as K(z, x).
#pragma once

#include <functional>
#include <memory>

#include "fastpu/common/parallel.hpp"
#include "fastpu/common/types.hpp"
#include "fastpu/kernels/kernel_base.hpp"

namespace fastpu {

// The kernels of dense and sparse data; `view` must outlive them. They take the level of `team`.
template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const DenseView<T>& view, const KernelParams& params, const Team& team);
template <class T>
std::unique_ptr<Kernel<T>> make_kernel(const CsrView<T>& view, const KernelParams& params, const Team& team);

// A kernel whose values are given: a symmetric matrix of n rows and columns.
template <class T>
std::unique_ptr<Kernel<T>> make_precomputed_kernel(const DenseView<T>& view);

// fill(rows, n_rows, columns, n_columns, out): out[k * n_columns + c] = K(rows[k], columns[c]).
using KernelFunction =
    std::function<void(const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns, double* out)>;
std::unique_ptr<Kernel<double>> make_function_kernel(index_t n_rows, KernelFunction fill);

// Scores of rows x: out[i * n_models + m] = intercepts[m] + sum_s coefs[s * n_models + m] K(support[s], x[i]),
// summed in the order of s in double. Time O(n_x n_support (d + n_models)), memory of a block of columns per thread.
struct KernelModels {
  const index_t* support = nullptr;  // rows of the kernel's own matrix
  index_t n_support = 0;
  const double* coefs = nullptr;       // n_support x n_models
  const double* intercepts = nullptr;  // n_models
  index_t n_models = 1;
};

// The rows x are given by their numbers in the kernel's own matrix.
template <class T>
void kernel_scores(const Kernel<T>& kernel, const KernelModels& models, const index_t* x, index_t n_x, Team& team,
                   double* out);

// The scores of the support vectors themselves under one model without intercept: out[i] = sum_s coefs[s] K(rows[s],
// rows[i]). Every kernel value is computed once for both of its rows. Time O(n^2 d / 2), memory of the packed rows.
void kernel_scores_of_support(const Kernel<double>& kernel, const index_t* rows, const double* coefs, index_t n,
                              Team& team, double* out);

// The rows x are all rows of another matrix, and the support vectors are rows of `support_view`.
template <class T>
void kernel_scores(const DenseView<T>& support_view, const DenseView<T>& x, const KernelParams& params,
                   const KernelModels& models, Team& team, double* out);
template <class T>
void kernel_scores(const CsrView<T>& support_view, const CsrView<T>& x, const KernelParams& params,
                   const KernelModels& models, Team& team, double* out);

// out[i * y.n_rows + j] = K(x_i, y_j) for all rows of two matrices.
void kernel_matrix(const DenseView<double>& x, const DenseView<double>& y, const KernelParams& params, Team& team,
                   double* out);
void kernel_matrix(const CsrView<double>& x, const CsrView<double>& y, const KernelParams& params, Team& team,
                   double* out);

}  // namespace fastpu
