"""Grids of kernel machines: the fits to all folds share work, and score the rows held out on the way."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from fastpu.common._sharing import unwrapped
from fastpu.common._warn import recorded
from fastpu.kernels._check_rows import check_training_rows
from fastpu.selection._splits import FoldSplits
from fastpu.selection._trials import Outcome, TrialSetup, flaws_of, judged
from fastpu.svm._grid import FoldData, GridFit, shares_work, solve_grid
from fastpu.svm._svm_point import SvmPoint

#: The arguments by which a caller watches a fit. They are no part of the machine.
_WATCHERS = ("callback", "progress")


def fit_kernel_grid(
    setup: TrialSetup,
    source: FoldSplits,
    names: Iterable[str],
    points: Sequence[Mapping[str, Any]],
    n_threads: int | None,
) -> list[list[Outcome]] | None:
    """Return the outcomes of points that differ in the parameters `names`, or None where fits do not share work.

    The core makes all fits in one call, with up to `n_threads` threads (None for its default).
    """
    function = unwrapped(setup.fit)
    if not hasattr(function, "svm_method") or not set(names) <= set(function.takes_many):
        return None
    arguments = setup.arguments if n_threads is None else {**setup.arguments, "n_threads": n_threads}
    try:
        calls = [_arguments_of_call(setup.fit, {**arguments, **point}) for point in points]
    except TypeError:
        return None  # an argument is missing, which the fit itself says best
    if any(call["callback"] is not None or call["progress"] for call in calls):
        return None  # each fit is to be seen by itself
    start = time.perf_counter()
    try:
        fits = _fit_to_folds(function, source, calls)
    except (ArithmeticError, ValueError):
        return None  # fitted one by one, only the points that caused the error fail
    if fits is None:
        return None
    seconds = (time.perf_counter() - start) / (len(points) * len(fits))
    outcomes: list[list[Outcome]] = [[] for _ in points]
    for split, of_fold in zip(source, fits, strict=True):
        for i, fit in enumerate(of_fold):
            with recorded() as caught:
                fit.warn()
            threshold = fit.threshold
            scores_alone = SimpleNamespace(
                decision_function=lambda _, scores=fit.held_out_scores: scores, threshold=threshold
            )
            # A criterion of the user's wants a model, the others its scores alone.
            model = scores_alone if setup.criterion.needs_scores_alone else fit.model()
            outcomes[i].append(judged(setup, split, model, flaws_of(caught), seconds, caught))
    return outcomes


def _arguments_of_call(fit: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call of `fit` after X and y, its defaults included; TypeError if one is missing."""
    call = inspect.signature(fit).bind(None, None, **keywords)
    call.apply_defaults()
    return call.kwargs


def _fit_to_folds(
    function: Callable[..., Any], source: FoldSplits, calls: Sequence[Mapping[str, Any]]
) -> list[list[GridFit]] | None:
    """Return, for each fold, the fit of each call of the function, or None if its kernel shares no work."""
    kernel = _svm_point(function, calls[0]).options.kernel
    if not shares_work(kernel):
        return None
    # Of columns on different scales the last fit of the search, to all rows, warns.
    matrix = check_training_rows(source.rows.X, kernel, function.__name__, warns=False)
    folds, points = [], []
    for train, held_out in source.folds:
        by_row = {name: values[train] for name, values in source.by_row.items()}
        folds.append(FoldData(train.astype(np.int64), held_out.astype(np.int64), source.labels[train]))
        points.append([_svm_point(function, {**call, **by_row}) for call in calls])
    return solve_grid(matrix, folds, points)


def _svm_point(function: Callable[..., Any], call: Mapping[str, Any]) -> SvmPoint:
    """Return the machine that a call of the function would fit, checked: its arguments are named in `point`.

    `svm_method` is the class of the function's machines, with which `marked` has marked it.
    """
    arguments = {name: value for name, value in call.items() if name not in _WATCHERS}
    # mypy does not know the attributes that a decorator gives to a function.
    point: SvmPoint = function.svm_method.point(**arguments)  # type: ignore[attr-defined]
    return point
