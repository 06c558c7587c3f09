"""The methods that Table 1 compares: each is one entry of METHODS."""

from __future__ import annotations

import itertools
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray
    from sets import Features

_NUS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5)  # of the one-class SVM,
_WIDTHS = tuple(4.0**k for k in range(-3, 4))  # with so many times the gamma of the others
_FEASIBLE = 0.999  # of the largest nu that a set of rows allows


@dataclass(frozen=True)
class Split:
    """A set of which half of the positives is labelled.

    Attributes
    ----------
    X : matrix
    truth, y : ndarray of int8
        True labels, +1 and -1, and those that the methods see, +1 and 0.
    kernel : mapping
        The kernel of all methods.
    stage : mapping
        What the supervised SVMs are given: C or nu.
    n_threads : int
    """

    X: Features
    truth: NDArray[np.int8]
    y: NDArray[np.int8]
    kernel: Mapping[str, Any]
    stage: Mapping[str, float]
    n_threads: int

    @property
    def unlabeled(self) -> NDArray[np.intp]:
        """The unlabelled rows: all methods are judged on them."""
        return np.flatnonzero(self.y == 0)

    @property
    def shared(self) -> dict[str, Any]:
        """What every fit is given."""
        return {**self.kernel, "n_threads": self.n_threads}


@dataclass(frozen=True)
class Found:
    """What a method says of the unlabelled rows.

    Attributes
    ----------
    positive : ndarray of bool
        Rows on the positive side of its last boundary, the boundary itself included.
    kept : ndarray of bool, or None
        Rows that mapping convergence never rejected.
    seconds : float
        Training time.
    n_fits : int
        Supervised SVMs that were trained.
    params : str
        Parameters that were chosen on the true labels.
    """

    positive: NDArray[np.bool_]
    kept: NDArray[np.bool_] | None
    seconds: float
    n_fits: int
    params: str = ""


@dataclass(frozen=True)
class Method:
    """A method of the table: its column, what it is, and how it is run."""

    column: str
    title: str
    run: Callable[[Split], Found]


def f1(truth: NDArray[np.int8], positive: NDArray[np.bool_]) -> float:
    """Return the F1 score of rows called positive; 0 if none is."""
    hits = int(np.count_nonzero(positive & (truth > 0)))
    return 2 * hits / (int(np.count_nonzero(positive)) + int(np.count_nonzero(truth > 0)))


def _supervised(split: Split, rows: NDArray[np.intp], labels: NDArray[np.int8]) -> Found:
    """Train an SVM on rows and judge it."""
    stage = dict(split.stage)
    fit: Callable[..., Any] = fastpu.baselines.fit_svm
    if "nu" in stage:
        n_pos = int(np.count_nonzero(labels > 0))
        stage["nu"] = min(stage["nu"], _FEASIBLE * 2 * min(n_pos, labels.size - n_pos) / labels.size)
        fit = fastpu.baselines.fit_nu_svm
    X = split.X[rows]
    start = time.perf_counter()
    model = fit(X, labels, **stage, **split.shared)
    seconds = time.perf_counter() - start
    return Found(_positive(model, split), None, seconds, 1)


def _positive(model: Any, split: Split) -> NDArray[np.bool_]:
    scores: NDArray[np.float64] = model.decision_function(split.X[split.unlabeled], n_threads=split.n_threads)
    return scores >= 0


def _tsvm(split: Split) -> Found:
    rows = np.flatnonzero((split.y > 0) | (split.truth < 0))
    return _supervised(split, rows, split.truth[rows])


def _noisy(split: Split) -> Found:
    return _supervised(split, np.arange(split.y.size), np.where(split.y > 0, np.int8(1), np.int8(-1)))


def _mapping(fit: Callable[..., Any], **options: Any) -> Callable[[Split], Found]:
    def run(split: Split) -> Found:
        start = time.perf_counter()
        model = fit(split.X, split.y, **split.stage, **split.shared, **options)
        seconds = time.perf_counter() - start
        kept = model.unlabeled_set > 0  # in the order of the unlabelled rows
        return Found(_positive(model, split), kept, seconds, int(model.n_iter))

    return run


def _one_class(split: Split) -> Found:
    """Search nu and gamma for the best F1 on the true labels of U, as the paper did."""
    X = split.X[split.y > 0]
    truth = split.truth[split.unlabeled]
    best: Found | None = None
    widths = _WIDTHS if "gamma" in split.kernel else (1.0,)
    for width, nu in itertools.product(widths, _NUS):
        shared = split.shared
        if "gamma" in shared:
            shared["gamma"] *= width
        start = time.perf_counter()
        model = fastpu.baselines.fit_one_class_svm(X, nu=max(nu, 1 / X.shape[0]), **shared)
        seconds = time.perf_counter() - start
        text = f"nu={nu:g}" + (f" gamma={shared['gamma']:.3g}" if "gamma" in shared else "")
        found = Found(_positive(model, split), None, seconds, 1, text)
        if best is None or f1(truth, found.positive) > f1(truth, best.positive):
            best = found
    if best is None:
        raise ValueError("there are no parameters to choose from")
    return best


def _quietly(run: Callable[[Split], Found]) -> Callable[[Split], Found]:
    def quiet(split: Split) -> Found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastpu.exceptions.DegenerateModelWarning)  # its F1 says enough
            return run(split)

    return quiet


METHODS = (
    Method("TSVM", "SVM with the true negatives", _quietly(_tsvm)),
    Method("SMC", "mapping convergence, all negatives kept", _quietly(_mapping(fastpu.fit_smc))),
    Method("SVMC", "with the repair", _quietly(_mapping(fastpu.fit_svmc))),
    Method("SVMC printed", "as the paper prints it", _quietly(_mapping(fastpu.fit_svmc, repair=False))),
    Method("OSVM", "one-class SVM, best parameters on the test data", _quietly(_one_class)),
    Method("SVM_NN", "SVM of P against U", _quietly(_noisy)),
)
