"""The model of every SVM: a weighted sum of kernels between a row and the support vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.kernels._expansion import KernelExpansion


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class KernelMachine(KernelExpansion):
    """A support vector machine, f(x) = sum_s dual_coef[s] K(support vector s, x) + intercept.

    `predict` gives +1 where f(x) > `threshold`, which is 0, except for a one-class SVM.

    Attributes
    ----------
    support : ndarray of int64, shape (n_support,)
        Numbers of the support vectors among the rows of the training `X`, ascending: the rows with alpha > 0.
    alpha : ndarray of float64, shape (n_support,)
        Their dual variables, all positive. Those of nu-SVM are divided by `margin`, as LIBSVM does.
    dual_coef : ndarray of float64, shape (n_support,)
        alpha times the label; alpha itself for a one-class SVM. Below the last breakpoint of an SVM path, where f does
        not change any more, the factors at that breakpoint: they give the same f with more digits than alpha.
    intercept : float
    kernel : str
        "linear", "poly", "rbf", "sigmoid", "precomputed" or "callable".
    gamma : float, or None
        The number that was used, whatever `gamma` was given as; None where the kernel has none.
    degree : int
    coef0 : float
    coef : ndarray of float64, shape (n_features,), or None
        For the linear kernel: f(x) = coef'x + intercept, and no support vectors are kept. Where columns differ very
        much in scale, or `C` is very large, it has more digits than the sum of dual_coef times rows can give.
    support_vectors : ndarray, SciPy CSR array or None
        The rows `support` of the training `X`; None for a linear and a precomputed kernel.
    support_dense, support_data, support_indices, support_indptr : ndarray or None
        The arrays that `support_vectors` is made of: the first for dense rows, the others for CSR.
    function : callable or None
        The user's kernel. A model with one can be pickled if the function can, but not saved.
    gap : float
        Duality gap at the end, >= 0: no other model has an objective that is better by more.
    violation : float
        Largest violation of the optimality (KKT) conditions at the end, in units of f(x).
    margin : float
        rho of nu-SVM (before its alpha are divided by it) and of one-class SVM; 1 for C-SVM.
    n_iter : int
        Updates of a pair of dual variables.
    status : str
        "tol" (`violation` <= tol), "gap" (linear kernel: `gap` is at most 1e-9 of the primal objective, though alpha
        has too few digits for tol), "max_iter", "precision" (rounding left nothing to gain before tol was met) or
        "callback".
    converged : bool
        Whether status is "tol" or "gap".
    objective : ndarray of float64
        Value of the dual problem, as a minimum, after every working set and, last, at the end: alpha'Q alpha / 2 -
        sum alpha for C-SVM, alpha'Q alpha / 2 for the others (before the division by `margin`), Q_ij = y_i y_j K_ij.
    history : mapping
        "objective"; "violation", before every working set among the active rows and, last, at the end among all;
        "n_active" (rows whose dual variables were not shrunk) and "n_steps" (pair updates so far).

    Notes
    -----
    With ``kernel="precomputed"``, `decision_function` and `predict` take K(x, training row) for every training row,
    shape (n, number of training rows); only the columns `support` matter. With a function of the user's, rows are
    passed to it in blocks, in the form (dense or CSR) of the training rows.

    Scoring n rows of d features costs O(n n_support d), or O(n d) with the linear kernel. A matrix of another form or
    dtype than the training rows is converted in blocks of a few MiB.
    """

    alpha: NDArray[np.float64]
    gap: float
    violation: float
    margin: float

    def _check_fields(self) -> None:
        if self.alpha.size != self.support.size:
            raise ValueError(
                f"a model of {self.support.size} support vectors must have as many entries in alpha and dual_coef"
            )
        if not ((self.alpha > 0) & np.isfinite(self.alpha)).all():
            raise ValueError("alpha must be positive and finite")
        if not (np.abs(self.dual_coef) <= self.alpha).all():
            raise ValueError("dual_coef must be between -alpha and alpha")
        super()._check_fields()
