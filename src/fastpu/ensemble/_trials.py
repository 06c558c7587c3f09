"""Fits of all candidates to all rows and to the rows outside of each fold."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.data._matrix import DenseMatrix
from fastpu.data._validate import label_counts
from fastpu.ensemble._columns import Columns, as_table
from fastpu.model._prior import proper_prior
from fastpu.selection._parts import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fastpu.data._folds import Fold
    from fastpu.data._matrix import Matrix
    from fastpu.ensemble._candidates import Candidate
    from fastpu.model._model import Model

_ALIKE = 1e-12  # a smaller deviation, as a share of the largest score, is rounding


@dataclass(frozen=True)
class EnsembleRound:
    """One fit of a candidate that is done, as a callback sees it.

    Attributes
    ----------
    candidate : str
        Its name.
    fold, n_folds : int
        The fold that was held out, from 1, or 0 for the fit to all rows; and the number of folds.
    """

    candidate: str
    fold: int
    n_folds: int


class Data:
    """The rows that count, as the user gave them and in numbers, with their labels and weights."""

    def __init__(self, X: Any, matrix: Matrix, labels: NDArray[np.int8], weights: NDArray[np.float64] | None) -> None:
        n_pos, n_unl, n_neg = label_counts(labels)
        if not n_pos:
            raise ValueError("y must have at least one positive row (+1) for fit_ensemble, got none")
        if not n_unl + n_neg:
            raise ValueError("y must have unlabelled (0) or negative (-1) rows for fit_ensemble, got none")
        self._rows, self._matrix, self._table = Rows(X), matrix, as_table(matrix)
        self.X, self.matrix, self.labels, self.weights = X, matrix, labels, weights
        self.is_text = self._table is None
        self.is_positive = labels == 1
        #: Positive rows are compared with these: negative ones, or unlabelled ones where there are none.
        self.is_other = labels == (-1 if n_neg else 0)
        #: By the scores of these those of different models are made comparable.
        self.is_usual = labels == (0 if n_unl else -1)

    def prior_among_unlabeled(self, prior: float | None, scenario: str) -> float | None:
        """Return a prior as the share of positives among the unlabelled rows, by the weights of the groups."""
        mass = np.ones(self.labels.size) if self.weights is None else self.weights
        n_pos, n_unl, n_neg = (float(mass[self.labels == label].sum()) for label in (1, 0, -1))
        if prior is not None and not n_unl:
            raise ValueError(f"prior must be None where no row is unlabelled, got {prior:g}")
        share = proper_prior(prior, scenario, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg)
        return None if prior is None else share

    def columns(self, rows: NDArray[np.intp] | None) -> Columns | None:
        """Return how numbers are made of some rows, or of all: None if they are left as they are."""
        if self._table is None:
            return None
        return Columns.of(self._table if rows is None else self._table[rows])

    def take(self, rows: NDArray[np.intp] | None, columns: Columns | None) -> tuple[Any, Matrix]:
        """Return some rows, or all, as the user gave them and in numbers."""
        if rows is None:
            matrix = self._matrix if self._table is None else self._table
        else:
            matrix = self._matrix[rows] if self._table is None else self._table[rows]
        numbers = matrix if columns is None else DenseMatrix(columns.apply(matrix.values))  # type: ignore[union-attr]
        return self._rows.all() if rows is None else self._rows.take(rows), numbers


@dataclass
class Trials:
    """What came of the fits: entries for each candidate that was fitted to all rows.

    `scores` are those of held-out rows, less the mean of unlabelled rows of their fold and over their standard
    deviation; NaN where no fold has come to them. `locations` and `scales` are the means of these over the folds.
    """

    names: list[str]
    starts: NDArray[np.float64]
    models: list[Model | None]
    flaws: list[str]
    seconds: NDArray[np.float64]
    takes_numbers: NDArray[np.bool_]
    columns: Columns | None
    scores: NDArray[np.float64]
    locations: NDArray[np.float64]
    scales: NDArray[np.float64]
    is_stopped: bool = False


def run(
    candidates: Sequence[Candidate],
    data: Data,
    folds: Sequence[Fold],
    usual: Sequence[Mapping[str, Any]],
    n_threads: int,
    hook: Callable[[EnsembleRound], bool] | None,
) -> Trials:
    """Fit all candidates to all rows and then fold after fold; `usual` are the arguments of each.

    A callback that stops ends it with what is there: the candidates fitted to all rows so far, and the folds that all
    of them have been through.
    """

    def is_stopped_at(candidate: Candidate, fold: int) -> bool:
        return hook is not None and hook(EnsembleRound(candidate.name, fold, len(folds)))

    columns = data.columns(None)
    X, numbers = data.take(None, columns)
    found = Trials([], np.zeros(0), [], [], np.zeros(0), np.zeros(0, dtype=np.bool_), columns, np.zeros((0, 0)),
                   np.zeros(0), np.zeros(0))  # fmt: skip
    seconds = []
    for candidate, arguments in zip(candidates, usual, strict=True):
        start = time.perf_counter()
        given = numbers.table() if candidate.takes_numbers else X
        model, flaw = _fitted(candidate, given, data.labels, data.weights, arguments)
        found.models.append(model)
        found.flaws.append(flaw)
        seconds.append(time.perf_counter() - start)
        found.is_stopped = is_stopped_at(candidate, 0)
        if found.is_stopped:
            break
    fitted = list(candidates[: len(seconds)])
    found.names, found.starts = [each.name for each in fitted], np.array([each.start for each in fitted])
    found.takes_numbers, found.seconds = np.array([each.takes_numbers for each in fitted]), np.array(seconds)
    found.scores = np.full((len(fitted), data.labels.size), np.nan)
    moments: list[NDArray[np.float64]] = []
    for fold, (train, held) in enumerate(folds, start=1):
        if found.is_stopped:
            break
        of_fold = data.columns(train)
        (X, numbers), (X_held, numbers_held) = data.take(train, of_fold), data.take(held, of_fold)
        weights = None if data.weights is None else data.weights[train]
        scores = np.zeros((len(fitted), held.size))
        for k, candidate in enumerate(fitted):
            if found.flaws[k]:
                continue
            start = time.perf_counter()
            given = numbers.table() if candidate.takes_numbers else X
            model, found.flaws[k] = _fitted(candidate, given, data.labels[train], weights, usual[k])
            if model is not None:
                given = numbers_held.table() if candidate.takes_numbers else X_held
                scores[k], found.flaws[k] = _scores(model, given, n_threads)
            found.seconds[k] += time.perf_counter() - start
            found.is_stopped = is_stopped_at(candidate, fold)
            if found.is_stopped:
                break
        if not found.is_stopped or candidate is fitted[-1]:
            moments.append(_moments(scores, data.is_usual[held]))
            found.scores[:, held] = (scores - moments[-1][0][:, None]) / moments[-1][1][:, None]
    if not moments:
        moments.append(_moments(_of_training(found, data, n_threads), data.is_usual))
    found.locations, found.scales = np.mean(moments, axis=0)
    return found


def _of_training(found: Trials, data: Data, n_threads: int) -> NDArray[np.float64]:
    """Return the scores of all rows by models that were fitted to them, where no fold has been done."""
    scores = np.zeros((len(found.models), data.labels.size))
    X, numbers = data.take(None, found.columns)
    for k, model in enumerate(found.models):
        if model is not None:
            scores[k], found.flaws[k] = _scores(model, numbers.table() if found.takes_numbers[k] else X, n_threads)
    return scores


def _moments(scores: NDArray[np.float64], is_usual: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the mean of the usual rows' scores and their standard deviation, for each candidate.

    If these are all the same the deviation is that of all scores, or 1.
    """
    usual = is_usual if is_usual.any() else np.full_like(is_usual, True)
    size = np.abs(scores).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    shares = scores / size[:, None]  # so that no sum overflows
    mean, spread = shares[:, usual].mean(axis=1), shares[:, usual].std(axis=1)
    spread = np.where(spread > _ALIKE, spread, shares.std(axis=1))
    spread = np.where(spread > _ALIKE, spread, 1.0)
    return np.array([mean * size, np.maximum(spread * size, np.finfo(np.float64).tiny)])


def _fitted(
    candidate: Candidate,
    X: Any,
    labels: NDArray[np.int8],
    weights: NDArray[np.float64] | None,
    arguments: Mapping[str, Any],
) -> tuple[Model | None, str]:
    """Return a model and "", or None and why there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return candidate.fitted(X, labels, weights, **arguments), ""
        except (ArithmeticError, ValueError) as error:
            return None, f"{type(error).__name__}: {error}"


def _scores(model: Model, X: Any, n_threads: int) -> tuple[NDArray[np.float64], str]:
    """Return scores of rows and "", or zeros and why there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scores = model.decision_function(X, n_threads=n_threads)
        except (ArithmeticError, ValueError) as error:
            return np.zeros(X.shape[0]), f"{type(error).__name__}: {error}"
    return (scores, "") if np.isfinite(scores).all() else (np.zeros(X.shape[0]), "scores that are not finite")
