"""The linear models that minimise a risk of positive and unlabelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu.data._kept_rows import check_kept_rows, kept_rows
from fastpu.data._matrix import Matrix
from fastpu.kernels._expansion import kernel_sums, linear_scores
from fastpu.kernels._gauss_basis import gauss_kernel, is_bandwidth
from fastpu.model._model import Model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RiskMachine(Model):
    """A linear classifier in the features or in Gaussian basis functions; `predict` says +1 where f(x) > 0.

    f(x) = coef'x + intercept, or sum_c coef[c] exp(-|x - centers[c]|^2 / (2 bandwidth^2)) + intercept.

    Attributes
    ----------
    basis : str
        "linear" or "gauss".
    coef : ndarray of float64, shape (n_features,) or (number of centres,)
    intercept : float
    bandwidth : float, or None
        The number that was used; None for the linear basis.
    centers : ndarray, SciPy CSR array or None
        The centres, in the form of the training rows; None for the linear basis.
    centers_dense, centers_data, centers_indices, centers_indptr : ndarray or None
        The arrays that `centers` is made of: the first for dense rows, the others for CSR.
    n_iter : int
        Newton's steps, or epochs kept.
    status : str
        For Newton's method: "tol", "max_iter", "precision" (rounding errors ended the steps before tol was met) or
        "callback". For Adam: "n_epochs", "early_stopping" or "callback".
    converged : bool
        Whether status is "tol" or "early_stopping", or "n_epochs" without early stopping.
    objective : ndarray of float64
        For Newton's method: the least risk with its penalty, at the start and after each step, shape (n_iter + 1,). For
        Adam: the risk of each epoch that was kept, the mean over its batches, each before its step.
    history : mapping
        "risk", which `objective` is taken from. For Adam also "positive_risk" and "negative_risk" (R+ and R-),
        "n_reversed" (batches with a step back) and, with an evaluation set, "eval_risk" after each epoch.

    Notes
    -----
    Scoring n rows costs O(n d), times the number of centres for the Gaussian basis.
    """

    basis: str
    coef: NDArray[np.float64]
    intercept: float
    bandwidth: float | None = None
    centers_dense: NDArray[np.float32] | NDArray[np.float64] | None = None
    centers_data: NDArray[np.float32] | NDArray[np.float64] | None = None
    centers_indices: NDArray[np.int32] | None = None
    centers_indptr: NDArray[np.int64] | None = None

    _ndim: ClassVar[Mapping[str, int]] = {"centers_dense": 2}

    def _check_fields(self) -> None:
        if self.basis not in ("linear", "gauss"):
            raise ValueError(f"basis must be 'linear' or 'gauss', got {self.basis!r}")
        if not np.isfinite(self.intercept):
            raise ValueError(f"intercept must be finite, got {self.intercept}")
        is_gauss = self.basis == "gauss"
        wanted = (
            "the basis 'gauss' must have centers, all dense or all CSR, and a bandwidth; 'linear' must have neither"
        )
        if (self.bandwidth is not None) != is_gauss:
            raise ValueError(wanted)
        size = self.coef.size if is_gauss else self.n_features
        if self.coef.size != size or not size or not np.isfinite(self.coef).all():
            raise ValueError(f"coef must have {max(1, size)} finite entries")
        if self.bandwidth is not None and not is_bandwidth(self.bandwidth):
            raise ValueError(f"bandwidth must be > 0, and such that its square is a number > 0, got {self.bandwidth}")
        check_kept_rows(self, "centers", (self.coef.size, self.n_features), wanted=is_gauss, otherwise=wanted)

    @property
    def centers(self) -> Any:
        """The centres: an ndarray, a SciPy CSR array, or None for the linear basis."""
        return None if self.bandwidth is None else kept_rows(self, "centers").table()

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.bandwidth is None:
                return linear_scores(matrix, self.coef, self.intercept, n_threads)
            kernel = gauss_kernel(self.bandwidth)
            return kernel_sums(matrix, kept_rows(self, "centers"), kernel, self.coef, self.intercept, n_threads)
