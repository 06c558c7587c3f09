"""What the large-margin iterations share: arguments, what callbacks get, rows, sub-problems and their engine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._text import columns_named
from fastpu.common._threads import resolve_n_threads
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.kernels._scales import warn_of_scales

T = TypeVar("T")
Report: TypeAlias = "Callable[[MarginRound], bool] | None"
#: A sub-problem: labels, costs, slopes, and the engine's solution of an earlier one to start from.
Request: TypeAlias = (
    "tuple[NDArray[np.int8], NDArray[np.float64], NDArray[np.uint8] | None, _core.MarginSolution | None]"
)
#: A generator that yields sub-problems to be solved, and is sent the engine's solution of each. It also yields rounds
#: for a callback, whose StopIteration a generator must not raise, and is sent whether the callback stops it.
Steps: TypeAlias = "Generator[Request | MarginRound, Any, T]"

_SOLVERS = ("auto", "exact", "iadmm")
# Each of the fits that run side by side holds some 40 bytes for every row. As many fits are begun as hold the memory of
# this many rows together.
_ROWS_AT_ONCE = 1 << 22

# ----------------------------------------------------------------------------------------------- arguments


@dataclass(frozen=True)
class MarginRound:
    """One classifier f_0, f_1, ... of a large-margin iteration, as a callback sees it.

    Attributes
    ----------
    C : float
        The cost that is being fitted.
    step, max_iter : int
        The number of the classifier, from 0, and the most there may be after the first.
    objective : float
        What is minimised, with the labels that the classifier was fitted to.
    n_changed : int
        Rows whose pseudo-labels it changes; for `fit_bpsi` rows whose loss it makes flat, or no longer flat.
    gap : float
        Duality gap of its sub-problem.
    """

    C: float
    step: int
    max_iter: int
    objective: float
    n_changed: int
    gap: float


@dataclass(frozen=True)
class MarginOptions:
    """A call of one of the functions, its title in a progress bar, and its checked arguments.

    `own` are those that the others do not share, for the params of the model. With `is_relative` only ratios of sample
    weights matter.
    """

    function: str
    title: str
    own: Mapping[str, object]
    is_relative: bool
    max_iter: int
    solver: str
    solver_tol: float
    solver_max_iter: int | None
    n_threads: int

    def params(self) -> dict[str, object]:
        names = ("max_iter", "solver_tol", "solver_max_iter", "solver")
        return {**self.own, **{name: getattr(self, name) for name in names}}


def check_margin_options(
    function: str, title: str, given: Mapping[str, Any], own: Mapping[str, object], *, is_relative: bool = True
) -> MarginOptions:
    limit = given["solver_max_iter"]
    return MarginOptions(
        function=function,
        title=title,
        own=own,
        is_relative=is_relative,
        max_iter=check_int("max_iter", given["max_iter"], low=1),
        solver=check_choice("solver", given["solver"], _SOLVERS),
        solver_tol=check_float("solver_tol", given["solver_tol"], low=0, high=1, open_low=True, open_high=True),
        solver_max_iter=None if limit is None else min(check_int("solver_max_iter", limit, low=1), MANY),
        n_threads=resolve_n_threads(given["n_threads"]),
    )


# ------------------------------------------------------------------------------------------- rows and engine


@dataclass(frozen=True)
class MarginRows(TrainingRows):
    """The training rows, with an engine that holds what all fits to them share."""

    engine: _core.LargeMarginEngine
    options: MarginOptions

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        labelled: NDArray[np.bool_] = self.labels == 1
        return labelled

    def signs(self, is_positive: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return +1 and -1; labelled rows are +1."""
        signs: NDArray[np.int8] = np.where(is_positive | self.is_labelled, np.int8(1), np.int8(-1))
        return signs

    def given(self, labels: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return labels of the caller's rows, 0 for those of weight 0."""
        if self.numbers is None:
            return labels
        every: NDArray[np.int8] = np.zeros(self.n_given, dtype=np.int8)
        every[self.numbers] = labels
        return every


def open_margin_rows(given: Mapping[str, Any], options: MarginOptions) -> MarginRows:
    function = options.function
    require_rows(given["X"], function)
    matrix = check_matrix(given["X"])
    rows = open_training_rows(matrix, given["y"], given["sample_weight"], function, is_relative=options.is_relative)
    warn_of_scales(rows.matrix)
    with columns_named(rows.matrix.feature_names):
        engine = _core.LargeMarginEngine(rows.matrix, n_threads=options.n_threads)
    return MarginRows(**vars(rows), engine=engine, options=options)


# --------------------------------------------------------------------------------------------- sub-problems


@dataclass(slots=True)
class MarginSolved:
    """The optimum of a sub-problem: its labels, costs and slopes, and the engine's solution."""

    labels: NDArray[np.int8]
    slopes: NDArray[np.uint8] | None
    solution: _core.MarginSolution
    decision: NDArray[np.float64]
    half_norm: float  # |w|^2 / 2
    gap: float


@dataclass(frozen=True)
class Ended:
    """How the engine ended a sub-problem; it is solved to `solver_tol` if the status is "gap"."""

    status: str
    method: str
    n_steps: int
    gap: float
    objective: float


def solve_side_by_side(rows: MarginRows, fits: Sequence[Steps[T]], report: Report) -> list[T]:
    """Run several fits and return their results; each round solves the next sub-problem of every fit that goes on."""
    options = rows.options
    most = max(options.n_threads, _ROWS_AT_ONCE // rows.matrix.n_rows)
    results: dict[int, T] = {}
    requests: dict[int, Request] = {}

    def resume(number: int, sent: object) -> None:
        try:
            given = fits[number].send(sent)
        except StopIteration as end:
            results[number] = end.value
            return
        if isinstance(given, MarginRound):
            resume(number, report is not None and report(given))
        else:
            requests[number] = given

    n_begun = 0
    while len(results) < len(fits):
        while n_begun < len(fits) and len(requests) < most:
            resume(n_begun, None)
            n_begun += 1
        problems, requests = requests, {}
        solutions = rows.engine.solve_each(
            list(problems.values()),
            _core.MarginOptions(
                solver="iadmm" if options.solver == "iadmm" else "exact",
                tol=options.solver_tol,
                max_iter=options.solver_max_iter or 0,
            ),
        )
        for number, solution in zip(problems, solutions, strict=True):
            resume(number, solution)
    return [results[number] for number in range(len(fits))]
