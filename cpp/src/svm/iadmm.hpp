// Inexact ADMM for the problem of large_margin.hpp (Liu, Zheng, Shen and Wang, section 3, with corrections of misprints
// there). A has rows y_i (x_i, 1), b = (w, b0), and the constraint is A b + z = 1 with multipliers lambda:
//
//     b       argmin of 1/2 |w|^2 + (c s)'A b + lambda'A b + rho/2 |A b + z - 1|^2, by one of two steps,
//             the exact one for up to 2000 features:
//               exact    (diag(1, .., 1, 0) + rho A'A) b = A'(rho (1 - z) - lambda - c s), the factor kept
//               linear   v = A'(A b - 1 + z + (lambda + c s) / rho), then b0 <- b0 - rho v_0 / zeta and
//                        w <- (zeta w - rho v_w) / (1 + zeta), with zeta = rho lambda_max(A'A)
//     lambda  <- -q clipped to [-c, 0], where q = rho (1 - A b) - lambda
//     z       <- (q + lambda) / rho with the new lambda
//
// In the paper's notation z = xi - eta and lambda = rho u; beta = -(lambda + c s) is in the box of the dual whatever b
// is. Columns of X are centred and divided by their standard deviation d, so that the penalty becomes sum (w_f /
// d_f)^2: this does not change the exact step, and the linear one often converges only with it.
//
// The residuals are r = A b - 1 + z and s = rho A'(z - z_old), less (zeta I - rho A'A)(b - b_old) for the linear step.
// Both are below eps when |r| <= eps (sqrt n + max(|A b|, |z|, sqrt n)) and |s| <= eps (sqrt(p + 1) + |A'lambda|). The
// duality gap is computed whenever they are, and eps is lowered until the gap holds. rho is at first the mean of the
// costs; with the exact step it changes early on, as long as one residual is far above the other.
//
// An iteration reads X once: the products A b, what follows from them row by row, and the sums A'lambda and A'z.
#pragma once

#include "fastpu/svm/margin_problem.hpp"
#include "linalg/row_pass.hpp"
#include "svm/margin_data.hpp"
#include "svm/margin_task.hpp"

namespace fastpu::detail {

struct IadmmResult {
  MarginStatus status = MarginStatus::gap;
  index_t n_iter = 0;
  Certificate certificate;
};

// v (v_i = y_i beta_i) holds the start, with w0 (or null) its w and intercept, and is replaced by the solution, which
// is feasible. The pass goes over the rows of the task.
IadmmResult iadmm(const MarginData& data, const MarginTask& task, RowPass& pass, const MarginOptions& options,
                  const MarginCallback& callback, double* v, const double* w0);

}  // namespace fastpu::detail
