"""The model of `fit_pual`, `fit_gllc` and `fit_bls_svm`, and the record that their callbacks get."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.kernels._expansion import KernelExpansion


@dataclass(frozen=True)
class PualRound:
    """The state of the solver of PUAL, GLLC or the biased LS-SVM, as a callback sees it.

    Attributes
    ----------
    C_pos, C_unl, lam, sigma : float
        The parameters of the model that is being fitted; sigma is a squared length.
    n_iter : int
        Rounds, steps or iterations of the solver so far; 0 for a closed form.
    objective : float
        What is minimised, at the best point so far.
    gap : float
        Duality gap at that point.
    """

    C_pos: float
    C_unl: float
    lam: float
    sigma: float
    n_iter: int
    objective: float
    gap: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PualMachine(KernelExpansion):
    """A classifier of `fit_pual`, `fit_gllc` or `fit_bls_svm`, linear or in the space of a kernel.

    With the linear kernel f(x) = coef'x + intercept; with others f(x) = sum_s dual_coef[s] K(x_s, x) + intercept over
    all training rows x_s, or over the landmarks of Nystroem's method. `predict` gives +1 where f(x) > 0.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_features,), or None
        For the linear kernel.
    support, dual_coef, support_vectors
        For the others: the training rows x_s and their factors, of both signs.
    intercept : float
    alpha : ndarray of float64, shape (n_pos,), or None
        Of `fit_pual`: the dual variables of the labelled positives, in [0, C_pos], in the order of the rows. A positive
        with f < 1 has C_pos, one with f > 1 has 0.
    gap : float
        The duality gap at the scores of the training rows, >= 0: an upper bound of the difference between the objective
        and its minimum. For a closed form, an estimate of this difference from what rounding errors leave of the
        gradient.
    nystroem_residual : float, or None
        With `n_components`: the mean over the training rows of K(x, x) less its value in the kernel that replaces K.
    n_iter : int
        Rounds, steps or iterations of the solver; 0 where there is a closed form.
    status : str
        "gap" (`gap` <= tol * objective, apart from rounding), "closed_form", "max_iter", "precision" (rounding errors
        ended the steps before tol was met, or the model is not the minimum on the rows) or "callback".
    converged : bool
        Whether status is one of the first two.
    objective : ndarray of float64
        What is minimised, after every step that the solver recorded; the last entry is that of the model.
    history : mapping
        "n_iter", "objective" and "gap" after each of these steps.

    Notes
    -----
    Scoring n rows costs O(n d), or O(n n_support d) with a kernel.
    """

    gap: float
    alpha: NDArray[np.float64] | None = None
    nystroem_residual: float | None = None

    def _check_fields(self) -> None:
        super()._check_fields()
        if self.alpha is not None and not ((self.alpha >= 0) & np.isfinite(self.alpha)).all():
            raise ValueError("alpha must be >= 0 and finite")
