"""The network with one hidden layer that minimises a risk of positive and unlabelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.data._matrix import Matrix
from fastpu.kernels._kernels import score_rows
from fastpu.model._model import Model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RiskNetwork(Model):
    """A network with one hidden layer; `predict` says +1 where f(x) > 0.

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
        net: _core.Net = {
            "hidden_coef": self.hidden_coef,
            "hidden_intercept": self.hidden_intercept,
            "coef": self.coef,
            "intercept": self.intercept,
        }

        def score(rows: Matrix) -> NDArray[np.float64]:
            return _core.nnpu_scores(rows, net, n_threads=n_threads)

        with np.errstate(over="ignore"):  # numbers beyond the range of float32 become infinite
            scores = score_rows(matrix, self.coef.dtype, score, sparse=matrix.is_sparse)
        if not np.isfinite(scores).all():
            row = int(np.argmin(np.isfinite(scores)))
            raise ValueError(f"X has entries so large that its scores overflow {self.coef.dtype}, first in row {row}")
        return scores
