"""The models that minimise a risk of positive and unlabelled rows, and the record that callbacks get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._kept_rows import check_kept_rows, kept_rows
from fastpu.data._matrix import Matrix
from fastpu.kernels._expansion import kernel_sums, linear_scores
from fastpu.kernels._gauss_basis import gauss_kernel, is_bandwidth
from fastpu.model._block_scores import score_rows
from fastpu.model._model import Model


@dataclass(frozen=True)
class RiskRound:
    """One epoch of Adam, or one step of Newton's method, as a callback sees it.

    Attributes
    ----------
    round, n_rounds : int
        The number of the epoch or step, from 1, and the most that there may be.
    risk : float
        For Adam the mean risk of the batches of the epoch, each before its step; for Newton's method the risk after the
        step.
    eval_risk : float, or None
        The risk of the evaluation set, or of the rows held out, after the epoch; None without these.
    n_reversed : int
        Batches of the epoch in which nnPU took a step back.
    """

    round: int
    n_rounds: int
    risk: float
    eval_risk: float | None
    n_reversed: int


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RiskMachine(Model):
    """A linear classifier in the features or in Gaussian basis functions; `predict` gives +1 where f(x) > 0.

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
    def centers(self) -> NDArray[Any] | sp.csr_array | None:
        """The centres: an ndarray, a SciPy CSR array, or None for the linear basis."""
        return None if self.bandwidth is None else kept_rows(self, "centers").table()

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.bandwidth is None:
                return linear_scores(matrix, self.coef, self.intercept, n_threads)
            kernel = gauss_kernel(self.bandwidth)
            return kernel_sums(matrix, kept_rows(self, "centers"), kernel, self.coef, self.intercept, n_threads)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RiskNetwork(Model):
    """A network with one hidden layer; `predict` gives +1 where f(x) > 0.

    f(x) = sum_j coef[j] max(0, hidden_intercept[j] + sum_f x[f] hidden_coef[f, j]) + intercept.

    Attributes
    ----------
    hidden_coef : ndarray, shape (n_features, n_hidden)
    hidden_intercept, coef : ndarray, shape (n_hidden,)
        All of the dtype of the training rows, float32 or float64, in which scores are computed too.
    intercept : float
    n_iter : int
        Epochs kept.
    status : str
        "n_epochs", "early_stopping" or "callback".
    converged : bool
        Whether status is "early_stopping", or "n_epochs" without early stopping.
    objective : ndarray of float64, shape (n_iter,)
        The risk of each epoch that was kept: the mean over its batches, each before its step.
    history : mapping
        "risk", "positive_risk" and "negative_risk" (R+ and R-), "n_reversed" (batches with a step back) and, with an
        evaluation set or rows held out, "eval_risk" after the epoch; for every epoch that was run.

    Notes
    -----
    Scoring n rows costs O(n d n_hidden), or O(entries n_hidden) for CSR.
    """

    hidden_coef: NDArray[np.float32] | NDArray[np.float64]
    hidden_intercept: NDArray[np.float32] | NDArray[np.float64]
    coef: NDArray[np.float32] | NDArray[np.float64]
    intercept: float

    _ndim: ClassVar[Mapping[str, int]] = {"hidden_coef": 2}

    def _check_fields(self) -> None:
        n_hidden = self.coef.size
        if n_hidden < 1 or self.hidden_intercept.size != n_hidden:
            raise ValueError(f"hidden_intercept must have an entry for each of {n_hidden} >= 1 entries of coef")
        if self.hidden_coef.shape != (self.n_features, n_hidden):
            raise ValueError(f"hidden_coef must have shape {(self.n_features, n_hidden)}, got {self.hidden_coef.shape}")
        parts = (self.hidden_coef, self.hidden_intercept, self.coef, np.array(self.intercept))
        if len({part.dtype for part in parts[:3]}) > 1:
            raise ValueError("hidden_coef, hidden_intercept and coef must have one dtype")
        if not all(np.isfinite(part).all() for part in parts):
            raise ValueError("hidden_coef, hidden_intercept, coef and intercept must be finite")

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        net = _core.Net(
            hidden_coef=self.hidden_coef,
            hidden_intercept=self.hidden_intercept,
            coef=self.coef,
            intercept=self.intercept,
        )

        def score(rows: Matrix) -> NDArray[np.float64]:
            return _core.nnpu_scores(rows, net, n_threads=n_threads)

        with np.errstate(over="ignore"):  # numbers beyond the range of float32 become infinite
            scores = score_rows(matrix, self.coef.dtype, score, sparse=matrix.is_sparse)
        return np.where(np.isfinite(scores), scores, np.nan)  # of hidden units that overflow the sign says nothing
