"""The model of the large-margin iterations: a linear function, and the record of the iteration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.data._matrix import Matrix
from fastpu.kernels._expansion import linear_scores
from fastpu.model._model import Model


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearMachine(Model):
    """A linear classifier, f(x) = coef'x + intercept; `predict` gives +1 where f(x) > 0.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_features,)
    intercept : float
        The middle of the interval from `intercept_low` to `intercept_high`, or its finite end.
    intercept_low, intercept_high : float
        All intercepts between these are optimal with `coef`; -inf and inf are possible.
    pseudo_labels : ndarray of int8, shape (n,), or None
        Of `fit_isvm` and `fit_ipsi`: the labels +1 and -1 of the training rows that the last value of `objective` is
        about; +1 for labelled rows, and 0 for rows of weight 0, which took no part. None for `fit_bpsi`.
    gap : float
        Duality gap of the last sub-problem, >= 0: no other classifier has a value that is better by more.
    n_iter : int
        Steps after the first classifier, f_0: each gives one of the next, f_1, f_2, ...
    status : str
        Of `fit_isvm` and `fit_ipsi`: "labels" (they did not change, a fixed point), "tol", "increase" (the next labels
        would raise the objective), "no_negative" (no unlabelled row is left that is called negative), "collapsed"
        (psi loss: coef is 0), "max_iter" or "callback". Of `fit_bpsi`: "repeat" (the same sub-problem came back, a
        fixed point), "collapsed", "max_iter" or "callback".
    converged : bool
        Whether status is neither "max_iter" nor "callback", and every sub-problem was solved to `solver_tol`.
    objective : ndarray of float64, shape (n_iter + 1,)
        The value of what is minimised for f_0, f_1, ..., each with the labels that it was accepted with. The last value
        is that with `pseudo_labels`.
    history : mapping
        An entry for each of f_0, f_1, ...: "n_changed" (rows whose pseudo-label changed; for `fit_bpsi` rows whose loss
        became flat or ceased to be), "intercept_low" and "intercept_high", "gap" (of the last sub-problem),
        "n_problems" (sub-problems that were solved, 0 where the last one came back) and "n_steps" (iterations of the
        solver in them). `fit_isvm` and `fit_ipsi` also record "n_negative" (rows called negative), "objective_fitted"
        and "objective_relabeled": the objective with the labels before and after f_k changed them, the latter NaN where
        no row is called negative.

    Notes
    -----
    Scoring n rows costs O(n d).
    """

    coef: NDArray[np.float64]
    intercept: float
    intercept_low: float
    intercept_high: float
    pseudo_labels: NDArray[np.int8] | None = None
    gap: float

    def _check_fields(self) -> None:
        if self.coef.size != self.n_features or not np.isfinite(self.coef).all():
            raise ValueError(f"coef must have {self.n_features} finite entries")
        if not np.isfinite(self.intercept):
            raise ValueError(f"intercept must be finite, got {self.intercept}")
        if not self.intercept_low <= self.intercept_high:
            raise ValueError(
                f"intercept_low must be <= intercept_high, got {self.intercept_low} and {self.intercept_high}"
            )
        if self.pseudo_labels is not None and np.any((self.pseudo_labels < -1) | (self.pseudo_labels > 1)):
            raise ValueError("pseudo_labels must be -1, 0 or 1")

    def _decision_function(self, matrix: Matrix, n_threads: int) -> NDArray[np.float64]:
        return linear_scores(matrix, self.coef, self.intercept, n_threads)
