"""Mapping convergence with scikit-learn's estimators: the loop that a user would write today.

SMC keeps every rejected row. SVMC keeps the negative support vectors of the last fit and the rows rejected last;
`repair` puts back rows that it has forgotten and that the last boundary calls positive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC, OneClassSVM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

__all__ = ["Mapped", "coefficients", "map_and_converge"]

_FALLBACK = 0.05  # of the unlabelled rows are strong negatives where the mapping finds none, or nothing else
_SUPPORT = 1e-8  # alpha of a support vector, relative to the largest that it may have


@dataclass(frozen=True)
class Mapped:
    """The last classifier; +1 for unlabelled rows never rejected, -1 for others; how many classifiers it took."""

    model: Any
    unlabeled_set: NDArray[np.int64]
    n_fits: int


def coefficients(model: Any) -> NDArray[np.float64]:
    """Return alpha y of the support vectors, which scikit-learn keeps sparse if the rows are."""
    coef = model.dual_coef_
    return np.asarray(coef.toarray() if sp.issparse(coef) else coef).ravel()


def map_and_converge(
    X: Any,
    y: NDArray[np.int8],
    *,
    reset: bool,
    repair: bool = False,
    nu_map: float = 0.01,
    C: float = 1.0,
    max_iter: int = 100,
    **options: Any,
) -> Mapped:
    """Run SVMC (`reset`) or SMC on labels +1 and 0; `options` are those that all of the estimators take."""
    pos, unl = np.flatnonzero(y > 0), np.flatnonzero(y == 0)
    left, new = _map(X, pos, unl, nu_map, options)
    negative = new[:0]
    model: Any = None
    n_fits = 0
    while n_fits < max_iter:
        negative = np.concatenate([negative, new])
        model = _fit(X, pos, negative, C, options)
        n_fits += 1
        left, new = _divide(left, model.decision_function(X[left]) < 0 if left.size else np.zeros(0, bool))
        if reset:
            negative = _support(model, pos, negative, C)
        if new.size == 0 and repair:
            forgotten = np.setdiff1d(unl, np.concatenate([negative, left]))
            if forgotten.size:
                new = forgotten[model.decision_function(X[forgotten]) >= 0]
                reset = reset and new.size == 0
        if new.size == 0:
            break
    return Mapped(model, np.where(np.isin(unl, left), 1, -1), n_fits)


def _divide(rows: Rows, rejects: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    return rows[~rejects], rows[rejects]


def _map(X: Any, pos: Rows, unl: Rows, nu_map: float, options: Mapping[str, Any]) -> tuple[Rows, Rows]:
    """Return the unlabelled rows among the positives and those far away from them."""
    model = OneClassSVM(nu=max(nu_map, 1 / pos.size), **options).fit(X[pos])
    score = model.decision_function(X[unl])
    rejects = score < model.decision_function(X[pos]).min()
    if rejects.all() or not rejects.any():
        rejects = np.zeros(unl.size, dtype=bool)
        rejects[np.argsort(score, kind="stable")[: math.ceil(_FALLBACK * unl.size)]] = True
    return _divide(unl, rejects)


def _fit(X: Any, pos: Rows, negative: Rows, C: float, options: Mapping[str, Any]) -> Any:
    labels = np.repeat([1, -1], [pos.size, negative.size])
    return SVC(C=C, **options).fit(X[np.concatenate([pos, negative])], labels)


def _support(model: Any, pos: Rows, negative: Rows, C: float) -> Rows:
    """Return the rows of `negative` that are support vectors."""
    places = model.support_[-coefficients(model) > _SUPPORT * C]
    return negative[np.sort(places) - pos.size]
