"""The best point of an SVM path: where rows change sides, and the value of a criterion between such points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from fastpu.common._functions import check_function
from fastpu.common._params import check_choice, check_float, check_int, check_random_state
from fastpu.common._threads import resolve_n_threads
from fastpu.data._folds import Fold, stratified_folds
from fastpu.data._kept_rows import float64_row_arrays
from fastpu.data._matrix import Matrix
from fastpu.data._validate import check_labels, label_counts
from fastpu.metrics._decisions import Decision, require_pu
from fastpu.model._prior import check_scenario, prior_among_unlabeled, take_prior_in
from fastpu.path._follow import follow_path, history_of, is_complete, weights_of
from fastpu.path._options import path_limits
from fastpu.path._points import PathPoints
from fastpu.svm._svm_options import check_cache

#: A criterion for the best machine of a path: one of the names, or a function of true and predicted labels.
PathScoring: TypeAlias = Literal["puf", "err_star", "f1", "error", "end"] | Callable[[Any, Any], float]

_USUAL_CACHE = 200.0  # MiB: of models that were saved without their cache_mb
_SCORINGS = ("puf", "err_star", "f1", "error", "end")
_LEAST_IS_BEST = ("err_star", "error")
# Intervals that are tried at most. A machine can be worse than the crossings say only if f of some row is rounding.
_MOST_TRIES = 50


@dataclass(frozen=True)
class Crossings:
    """Where rows change sides along a path, in order of decreasing lam.

    `called` says which rows are called positive where lam is large; row `row[k]` is called the opposite from `lam[k]`
    on. `low` is where the path ends, 0 if it does not.
    """

    called: NDArray[np.bool_]
    lam: NDArray[np.float64]
    row: NDArray[np.int64]
    low: float


@dataclass(frozen=True)
class Curve:
    """A criterion along a path: `values[k]` is its value between `cuts[k - 1]` and `cuts[k]`, which fall.

    The first value holds for all larger lam, the last one down to `low`. `best` is the place of the best value, the
    first of equal ones; `judge` returns the criterion of a decision about the rows `rows`.
    """

    name: str
    cuts: NDArray[np.float64]
    values: NDArray[np.float64]
    best: int
    low: float
    n_folds: int | None
    judge: Callable[[NDArray[np.bool_]], float]
    rows: Any

    def is_better(self, value: float, than: float) -> bool:
        return value < than if self.name in _LEAST_IS_BEST else value > than


def crossings(path: PathPoints, matrix: Matrix, n_threads: int) -> Crossings:
    if not path.knots.size:
        none: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        return Crossings(np.full(matrix.n_rows, path.heavier > 0), np.empty(0), none, 0.0)
    called: NDArray[np.bool_] = np.empty(matrix.n_rows, dtype=np.bool_)
    lams, rows = [], []
    # Below the last breakpoint f is constant. At lam = 0 itself lam f is 0, and computed values are only rounding.
    high, low = path.lams[:-1, None], path.lams[1:, None]
    for block, at_knots in path.knot_values(matrix, n_threads):
        values = at_knots[: path.lams.size]
        numbers = np.arange(block.start, block.stop)
        # Above the first breakpoint lam f grows or falls with lam at the rate 1, or stays.
        now = values[0] > 0 if path.heavier == 0 else np.full(numbers.size, path.heavier > 0)
        called[block] = now
        crossed = (values[0] > 0) != now
        lams.append(path.knots[0] - path.heavier * values[0][crossed])
        rows.append(numbers[crossed])
        if path.lams.size == 1:
            continue
        first, last = values[:-1], values[1:]
        # A value of 0 at an end of the segment has the sign that it has just inside the segment.
        at_high = (first > 0) | ((first == 0) & (last > 0))
        at_low = (last > 0) | ((last == 0) & (first > 0))
        segment, column = np.nonzero(at_high != at_low)
        a, b = first[segment, column], last[segment, column]
        lams.append(high[segment, 0] * (-b / (a - b)) + low[segment, 0] * (a / (a - b)))
        rows.append(numbers[column])
        before = np.vstack([values[0] > 0, at_low[:-1]])
        segment, column = np.nonzero(before != at_high)
        lams.append(high[segment, 0])
        rows.append(numbers[column])
    lam, row = np.concatenate(lams), np.concatenate(rows)
    order = np.argsort(-lam, kind="stable")
    return Crossings(called, lam[order], row[order].astype(np.int64), float(path.knots[-1]))


def curve_on_path(
    path: PathPoints,
    scoring: object,
    X: object,
    y: object,
    *,
    prior: object,
    scenario: object,
    n_folds: object = None,
    random_state: object = None,
    n_threads: object = None,
) -> Curve | None:
    """Check the arguments of `SVMPath.select`; return the criterion along the whole path, or None for "end"."""
    other = " or a function of the labels and the predictions"
    function = None
    if callable(scoring):
        expected = f"one of {', '.join(map(repr, _SCORINGS))}{other}"
        function = check_function("scoring", scoring, expected, arguments=("labels", "predictions"))
    name = "callable" if function is not None else check_choice("scoring", scoring, _SCORINGS, other)
    if (prior is None) == (name == "err_star"):
        wanted = "must be given" if prior is None else "must not be given"
        raise ValueError(f"prior {wanted} for scoring={name!r}")
    share, drawn_as = (0.5, check_scenario(scenario)) if prior is None else take_prior_in(scenario, prior)
    threads, rng = resolve_n_threads(n_threads), check_random_state(random_state)
    folds = None if n_folds is None else check_int("n_folds", n_folds, low=2)
    if (X is None) != (y is None):
        raise ValueError(f"X and y must be given together or not at all, got only {'y' if X is None else 'X'}")
    if folds is not None and X is not None:
        raise ValueError("n_folds must not be given with X and y: it makes held-out rows of the training rows")
    if name == "end":
        return None
    labels, merged, rows = _judged_rows(path, X, y, folds, rng, threads)
    if name in ("puf", "err_star"):
        require_pu(labels, "y", f"scoring={name!r}")
        if name == "err_star":
            n_pos, n_unl, _ = label_counts(labels)
            prior_among_unlabeled(share, n_pos=n_pos, n_unl=n_unl, scenario=drawn_as)

    def judge(called: NDArray[np.bool_], counts: list[int] | None = None) -> float:
        if function is not None:
            result = function(labels, np.where(called, 1, -1))
            return check_float("the result of scoring", result, allow_inf=True)
        return _value(name, _counted(called, parts) if counts is None else counts, sizes, share, drawn_as)

    parts = (labels == 1, labels == 0 if name in ("puf", "err_star") else labels != 1)
    sizes = [int(np.count_nonzero(part)) for part in parts]
    cuts, values = _sweep(merged, parts, judge)
    best = int(np.argmin(values) if name in _LEAST_IS_BEST else np.argmax(values))
    return Curve(name, cuts, values, best, merged.low, folds, judge, rows)


def _value(name: str, called: list[int], sizes: list[int], prior: float, scenario: str) -> float:
    """Return a criterion of the numbers of positive and of other rows, and of those that are called positive."""
    (n_pos_called, n_rest_called), (n_pos, n_rest) = called, sizes
    if name == "f1":
        return 2 * n_pos_called / max(1, n_pos_called + n_rest_called + n_pos)
    if name == "error":
        return (n_pos - n_pos_called + n_rest_called) / (n_pos + n_rest)
    state = Decision(n_pos_called / n_pos, n_rest_called / n_rest, n_pos, n_rest)
    return float(state.puf(scenario) if name == "puf" else state.err_star(prior, scenario))


@dataclass(frozen=True)
class BestPoint:
    """A lam at which a criterion is best, its value there, and between which lam it is as good.

    `n_folds` is the number of folds that it was judged by, None for none; the end of a path is not judged at all.
    """

    lam: float
    scoring: str
    value: float
    lam_low: float
    lam_high: float
    n_folds: int | None = None

    def params(self) -> dict[str, object]:
        """Return what the machine at this point says of the choice."""
        judged = {} if self.scoring == "end" else {"n_folds": self.n_folds}
        return {
            "scoring": self.scoring,
            "value": self.value,
            "lam_low": self.lam_low,
            "lam_high": self.lam_high,
            **judged,
        }


def best_machine(path: PathPoints, curve: Curve | None, n_threads: int) -> BestPoint:
    """Return the point of the best machine.

    Folds have no machine of their own, and without a curve the end of the path is taken. Else a machine can differ from
    what the crossings say, where f of a row is so near 0 that its sign is rounding.
    """
    if curve is None:
        return BestPoint(path.end, "end", value=float("nan"), lam_low=0.0, lam_high=path.end)
    if curve.n_folds is not None:
        return best_of(path, curve)
    order = np.argsort(curve.values if curve.name in _LEAST_IS_BEST else -curve.values, kind="stable")
    best = None
    for k in order[:_MOST_TRIES].tolist():
        if best is not None and not curve.is_better(float(curve.values[k]), best.value):
            break
        point = best_of(path, replace(curve, best=k))
        called = path._machine_at(point.lam).decision_function(curve.rows, n_threads=n_threads) > 0
        point = replace(point, value=curve.judge(called))
        if best is None or curve.is_better(point.value, best.value):
            best = point
    return best_of(path, curve) if best is None else best


def best_of(path: PathPoints, curve: Curve) -> BestPoint:
    """Return the best point of a curve, as its crossings say."""
    upper = float(curve.cuts[curve.best - 1]) if curve.best else np.inf
    lower = float(curve.cuts[curve.best]) if curve.best < curve.cuts.size else curve.low
    value = float(curve.values[curve.best])
    return BestPoint(_inside(path, lower, upper), curve.name, value, lower, upper, curve.n_folds)


def _judged_rows(
    path: PathPoints, X: object, y: object, n_folds: int | None, rng: np.random.Generator, threads: int
) -> tuple[NDArray[np.int8], Crossings, Any]:
    """Return the labels of the rows to judge by, where they change sides, and the rows if no folds are made."""
    if X is not None:
        matrix = path._check_input(X, "X")
        if not matrix.n_rows:
            raise ValueError("X must have at least 1 row, got none")
        return check_labels(y, matrix.n_rows), crossings(path, matrix, threads), X
    labels: NDArray[np.int8] = np.where(path.labels > 0, np.int8(1), np.int8(0))
    if n_folds is None:
        if path.kernel == "precomputed":
            raise ValueError("X and y must be given for a precomputed kernel, whose path does not keep its matrix")
        return labels, crossings(path, path.train(), threads), path.train().table()
    fewest = min(int(np.count_nonzero(labels == label)) for label in (0, 1))
    if n_folds > fewest:
        raise ValueError(f"n_folds must be at most the number of rows of the smaller class, {fewest}, got {n_folds}")
    return labels, _crossings_of_folds(path, stratified_folds(labels, n_folds, rng), threads), None


def _crossings_of_folds(path: PathPoints, folds: list[Fold], threads: int) -> Crossings:
    """Return where the rows change sides that the path of a fold was not made of, in lam of the whole path."""
    called: NDArray[np.bool_] = np.empty(path.rows.size, dtype=np.bool_)
    # A fold's path can reach further down than that of all rows, which is the one that has a machine to return. Below
    # the end of that path its machine does not change any more, or is not known.
    lams, rows, low = [], [], path.end if path.lams.size else 0.0
    for kept, held in folds:
        sides = crossings(path_of_fold(path, kept, threads), path.train()[held], threads)
        factor = path.rows.size / kept.size
        called[held] = sides.called
        lams.append(sides.lam * factor)
        rows.append(held[sides.row])
        low = max(low, sides.low * factor)
    order = np.argsort(-np.concatenate(lams), kind="stable")
    return Crossings(called, np.concatenate(lams)[order], np.concatenate(rows)[order], low)


def path_of_fold(path: PathPoints, kept: NDArray[np.intp], n_threads: int) -> PathPoints:
    """Return the path of some of the training rows, given by their positions in `rows`."""
    if path.kernel == "precomputed":
        raise ValueError("n_folds needs the kernel matrix, which a path of a precomputed kernel does not keep: pass X")
    limits = path_limits(
        kept.size,
        cast("float", path.params["lam_min"]) * kept.size / path.rows.size,
        None,
        check_cache(path.params.get("cache_mb", _USUAL_CACHE)),
    )
    train, labels, costs = path.train(), path.labels[kept], path.costs[kept]
    result = follow_path(train, kept.astype(np.int64), labels, costs, path._kernel, n_threads, limits)
    history, kept_train = history_of(result), float64_row_arrays(train[kept])
    return replace(
        path,
        n_iter=history["lam"].size,
        converged=is_complete(result),
        status=result.status,
        objective=history["objective"],
        history=history,
        rows=path.rows[kept],
        labels=labels,
        costs=costs,
        heavier=result.heavier,
        start_alpha=result.start_alpha,
        knots=result.knots,
        offsets=result.offsets,
        weights=weights_of(result),
        change_start=result.change_start,
        change_row=result.change_row,
        change_alpha=result.change_alpha,
        event_knot=result.event_knot,
        event_kind=result.event_kind,
        event_row=result.event_row,
        violation=result.violation,
        train_dense=kept_train.dense,
        train_data=kept_train.data,
        train_indices=kept_train.indices,
        train_indptr=kept_train.indptr,
        calibration=None,  # that of the whole path is of other scores
        calibration_prior=None,
        calibration_knots=None,
        calibration_values=None,
    )


def _counted(called: NDArray[np.bool_], parts: Sequence[NDArray[np.bool_]]) -> list[int]:
    return [int(np.count_nonzero(called & part)) for part in parts]


def _sweep(
    sides: Crossings, parts: Sequence[NDArray[np.bool_]], judge: Callable[[NDArray[np.bool_], list[int]], float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct lam where rows change sides, and what `judge` says of each interval between them."""
    usable = sides.lam > sides.low
    cuts, starts = np.unique(-sides.lam[usable], return_index=True)
    row, called = sides.row[usable].tolist(), sides.called.copy()
    counts = _counted(called, parts)
    values = [judge(called, counts)]
    for start, stop in pairwise([*starts.tolist(), len(row)]):
        for each in row[start:stop]:
            called[each] = not called[each]
            counts = [n + (1 if called[each] else -1) * bool(part[each]) for n, part in zip(counts, parts, strict=True)]
        values.append(judge(called, counts))
    return -cuts, np.array(values)


def _inside(path: PathPoints, lower: float, upper: float) -> float:
    """Return a lam in the interval: its geometric mean, or a breakpoint where it reaches beyond the path."""
    if not path.lams.size:
        return 1.0
    first, last = float(path.lams[0]), float(path.lams[-1])
    high = first if upper > first > lower else upper
    low = last if lower < last < upper else lower
    if not np.isfinite(high):  # all of it above the first breakpoint
        return 2 * low
    if low == 0:  # all of it below the last one
        return high / 2
    return float(np.sqrt(high) * np.sqrt(low))
