"""What the large-margin iterations share: the engine and its sub-problems, the model and the warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastpu import _core
from fastpu.common._params import forced_isa
from fastpu.common._progress import make_callback
from fastpu.common._side_by_side import side_by_side
from fastpu.common._text import columns_named
from fastpu.common._warnings import ConvergenceWarning, DegenerateModelWarning, warn
from fastpu.data._validate import Matrix, check_labels, check_matrix, check_sample_weight, well_scaled
from fastpu.data.binned_features import BinnedFeatures
from fastpu.kernels._kernels import take_rows
from fastpu.kernels._scales import warn_of_scales
from fastpu.margin._arguments import check_costs
from fastpu.margin._defaults import default_cost, largest_share
from fastpu.margin.linear_machine import LinearMachine
from fastpu.svm._arguments import require_both

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from fastpu.margin._arguments import MarginOptions, MarginRound
    from fastpu.margin._loops import Run

__all__ = [
    "Hook",
    "MarginRows",
    "Solved",
    "Solver",
    "Task",
    "fit_each_cost",
]

Hook: TypeAlias = "Callable[[MarginRound], bool] | None"
Loop: TypeAlias = "Callable[[MarginRows, float, Hook], Run]"
Flaws: TypeAlias = tuple[str, str, str, str]
Fitted: TypeAlias = tuple[LinearMachine, Flaws]

_SHORT_FIT = 16 * 10**6  # n d^2 of a fit that takes a fifth of a second or less
_PLUS, _MINUS = np.int8(1), np.int8(-1)

# ------------------------------------------------------------------------------------------- rows and engine


@dataclass(frozen=True)
class MarginRows:
    """The training rows whose weight is not 0, with an engine that holds what all fits to them share.

    `rows` are their numbers among the `n_given` rows of the caller, or None for all; `weights` is None where all are 1.
    """

    matrix: Matrix
    n_given: int
    rows: NDArray[np.int64] | None
    is_labelled: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    engine: _core.LargeMarginEngine
    n_workers: int
    options: MarginOptions

    def signs(self, is_positive: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return +1 and -1; labelled rows are +1."""
        signs: NDArray[np.int8] = np.where(is_positive | self.is_labelled, _PLUS, _MINUS)
        return signs

    def given(self, labels: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return labels of the caller's rows, 0 for those of weight 0."""
        if self.rows is None:
            return labels
        every: NDArray[np.int8] = np.zeros(self.n_given, dtype=np.int8)
        every[self.rows] = labels
        return every


def open_rows(X: object, y: object, sample_weight: object, task: Task, n_fits: int) -> MarginRows:
    """Check the rows, labels and weights, and make an engine for so many fits that may be done at once."""
    function, n_threads = task.function, task.options.n_threads
    if isinstance(X, BinnedFeatures):
        raise TypeError(
            f"X must be the rows themselves for {function}, got BinnedFeatures, which are for boosting only"
        )
    matrix = check_matrix(X)
    labels = check_labels(y, matrix.n_rows, pu_only=function)
    weights = check_sample_weight(sample_weight, matrix.n_rows)
    if weights is not None and task.is_relative:
        weights = well_scaled(weights)
    n_given, rows = matrix.n_rows, None
    if weights is not None and not weights.all():
        signs = np.where(labels == 1, _PLUS, _MINUS)
        require_both(signs, weights, function, ("positive", "unlabelled"))
        # Left out altogether: what such rows hold may not even touch the rounding.
        rows = np.flatnonzero(weights).astype(np.int64)
        taken = take_rows(matrix.native, rows)
        matrix = Matrix(taken, rows.size, matrix.n_features, matrix.feature_names, matrix.is_sparse, matrix.dtype)
        labels, weights = labels[rows], weights[rows]
    if weights is not None and (weights == 1).all():
        weights = None
    warn_of_scales(matrix)
    # Threads are best used for fits that have nothing to tell each other, as long as these are short: only the caller's
    # thread hears of Ctrl-C.
    is_small = not matrix.is_sparse and matrix.n_rows * matrix.n_features**2 <= _SHORT_FIT
    is_short = is_small and task.options.solver != "iadmm"
    n_workers = min(n_fits, n_threads) if is_short else 1
    with columns_named(matrix.feature_names):
        engine = _core.LargeMarginEngine(
            matrix.native, n_threads=1 if n_workers > 1 else n_threads, isa=forced_isa(_core.isa_levels())
        )
    return MarginRows(matrix, n_given, rows, labels == 1, weights, engine, n_workers, task.options)


# --------------------------------------------------------------------------------------------- sub-problems


@dataclass(slots=True)
class Solved:
    """The optimum of a sub-problem: labels, costs and slopes, and what the engine found for them."""

    labels: NDArray[np.int8]
    slopes: NDArray[np.uint8] | None
    found: dict[str, Any]
    decision: NDArray[np.float64]
    half_norm: float  # |w|^2 / 2
    objective: float
    gap: float

    @property
    def interval(self) -> tuple[float, float]:
        """The best intercepts."""
        return self.found["intercept_low"], self.found["intercept_high"]


@dataclass(frozen=True)
class Unsolved:
    """A sub-problem that was not solved to `solver_tol`."""

    status: str
    method: str
    n_steps: int
    gap: float
    objective: float


class Solver:
    """Solves the sub-problems of one fit and counts them."""

    def __init__(self, rows: MarginRows) -> None:
        options = rows.options
        self._solve = rows.engine.solve
        self._options: dict[str, Any] = {
            "solver": options.solver,
            "tol": options.solver_tol,
            "max_iter": options.max_iter or 0,
            "rho": 0.0,
            "eps": 0.0,
            "callback": None,
        }
        self._n_problems = 0
        self._n_steps = 0
        self.unsolved: list[Unsolved] = []

    def solve(
        self,
        labels: NDArray[np.int8],
        costs: NDArray[np.float64],
        slopes: NDArray[np.uint8] | None = None,
        start: Solved | None = None,
    ) -> Solved:
        """Minimise |w|^2 / 2 + sum_i costs_i [(1 - m_i)_+ + slopes_i m_i], from an earlier optimum if there is one."""
        found = self._solve(labels, costs, slopes, start=None if start is None else start.found, **self._options)
        coef, objective, gap = found["coef"], found["objective"], found["gap"]
        if not (math.isfinite(objective) and math.isfinite(found["intercept"])):
            raise ValueError("X and C must be such that sums of squares and costs do not overflow; scale X, or lower C")
        self._n_problems += 1
        self._n_steps += found["n_iter"]
        if found["status"] != "gap":
            self.unsolved.append(Unsolved(found["status"], found["method"], found["n_iter"], gap, objective))
        return Solved(labels, slopes, found, found["decision"], 0.5 * float((coef * coef).sum()), objective, gap)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of sub-problems, and of the engine's steps in them, since this was last asked."""
        counted = self._n_problems, self._n_steps
        self._n_problems = self._n_steps = 0
        return counted

    def add(self, other: Solver, n_problems: int, n_steps: int) -> None:
        """Count what another one has solved as well."""
        self._n_problems += n_problems
        self._n_steps += n_steps
        self.unsolved += other.unsolved


# ------------------------------------------------------------------------------------------------- the model


def make_model(rows: MarginRows, run: Run, task: Task) -> LinearMachine:
    """Return the model that a loop ended with."""
    found = run.last.found
    coef = found["coef"] if run.status != "collapsed" else np.zeros_like(found["coef"])  # which may hold rounding
    history = run.history()
    arrays = [coef, *history.values(), objective := np.array(run.objective)]
    labels = None if run.labels is None else rows.given(run.labels)
    for array in (*arrays, labels):
        if array is not None:
            array.flags.writeable = False  # all of them ours alone: the model needs no second copy
    return LinearMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        n_iter=len(objective) - 1,
        converged=run.status not in {"max_iter", "callback"} and not run.unsolved,
        status=run.status,
        objective=objective,
        history=history,
        params={"method": task.function, "C": run.C, **task.arguments, **task.options.params()},
        coef=coef,
        intercept=found["intercept"],
        intercept_low=found["intercept_low"],
        intercept_high=found["intercept_high"],
        pseudo_labels=labels,
        gap=found["gap"],
    )


@dataclass(frozen=True)
class Task:
    """What was asked for: the public function, what a progress bar calls it, its own arguments, and the shared ones."""

    function: str
    title: str
    arguments: Mapping[str, object]
    options: MarginOptions
    is_relative: bool = True  # only ratios of sample weights matter


def fit_each_cost(
    task: Task,
    X: object,
    y: object,
    C: object,
    sample_weight: object,
    callback: object,
    progress: object,
    loop: Loop,
) -> LinearMachine | list[LinearMachine]:
    """Run the loop for the value of `C`, or for each of them until the callback ends one, with one engine."""
    has_default = C is None and task.is_relative
    costs, is_one = ([], True) if has_default else check_costs(C)
    with make_callback(callback, progress, total=None, description=task.title) as hook:
        rows = open_rows(X, y, sample_weight, task, 1 if hook is not None else max(1, len(costs)))
        if has_default:
            costs = [default_cost(rows.matrix.native, rows.is_labelled, rows.weights)]

        def fit(cost: float) -> Fitted:
            run = loop(rows, cost, hook)  # not kept: it holds numbers for every row
            return make_model(rows, run, task), _flaws(run, rows)

        fitted = side_by_side(fit, costs, rows.n_workers) if rows.n_workers > 1 else _one_by_one(fit, costs)
    models = [model for model, _ in fitted]
    _warn_of([flaws for _, flaws in fitted], costs, task.function)
    return models[0] if is_one else models


def _one_by_one(fit: Callable[[float], Fitted], costs: Sequence[float]) -> list[Fitted]:
    fitted = []
    for cost in costs:
        fitted.append(fit(cost))
        if fitted[-1][0].status == "callback":
            break
    return fitted


# ------------------------------------------------------------------------------------------------- warnings

_CATEGORIES = (ConvergenceWarning, ConvergenceWarning, DegenerateModelWarning, DegenerateModelWarning)
# Of unlabelled rows called positive, relative to the largest share of positives there can be: a third of them and more
# are then negative. Of 1,787 fits to simulated and real rows none was warned of whose share was at most 1.5 times the
# truth, and half of those were where it was 3 times the truth or more.
_TOO_MANY = 1.5


def _flaws(run: Run, rows: MarginRows) -> Flaws:
    """Return what is wrong with the loop, with sub-problems and with the model, each "" if nothing is."""
    options = rows.options
    degenerate = _degenerate(run)
    is_ended = run.has_labels and run.status not in {"max_iter", "callback"}
    excess = _excess(run, rows) if is_ended and not degenerate else ""
    return _unfinished(run, options), _unsolved(run, options, rows.matrix.dtype), degenerate, excess


def _warn_of(flaws: Sequence[Flaws], costs: Sequence[float], function: str) -> None:
    """Warn the caller of the fit function of what went wrong, once for all values of C."""
    for category, texts in zip(_CATEGORIES, zip(*flaws, strict=True), strict=True):
        flawed = [i for i, text in enumerate(texts) if text]
        if flawed:
            where = "" if len(texts) == 1 else f"{len(flawed)} of {len(texts)} values of C, the first "
            text = f"{function}: for {where}C = {costs[flawed[0]]:g}, {texts[flawed[0]]}"
            warn(text, category)


def _unfinished(run: Run, options: MarginOptions) -> str:
    if run.status != "max_iter":
        return ""
    changed = run.log[-1].n_changed
    if run.cycle:
        return (
            f"the labels after step {len(run.log) - 1} are those of {run.cycle} steps before, and would go on in this "
            f"cycle for all max_outer = {options.max_outer} steps; keep check_increase=True, which ends it"
        )
    progress = f"the last of all max_outer = {options.max_outer} steps still changed {changed} rows"
    if len(run.objective) > 1:
        old, new = run.objective[-2:]
        progress += f" and the objective by {abs(new - old):.3g}, from {old:.6g}"
    return f"{progress}; raise max_outer"


def _unsolved(run: Run, options: MarginOptions, dtype: np.dtype[Any]) -> str:
    if not run.unsolved:
        return ""
    worst = max(run.unsolved, key=lambda problem: problem.gap / max(problem.objective, 1e-300))
    share = worst.gap / max(worst.objective, 1e-300)
    state = (
        f"{len(run.unsolved)} of {run.n_problems} sub-problems were not solved to solver_tol = {options.solver_tol:g}: "
        f"the worst has the duality gap {worst.gap:.3g} at the objective {worst.objective:.6g}, a share of "
        f"{share:.3g}, after {worst.n_steps} steps ({worst.method})"
    )
    if worst.status == "max_iter":
        return f"{state}; raise max_iter, scale the features of X, or accept a larger solver_tol"
    return f"{state}, where the precision of {dtype} rows ends; scale the features of X, or accept a larger solver_tol"


def _degenerate(run: Run) -> str:
    scores = run.last.decision
    if run.status == "collapsed":
        return (
            f"the psi loss has collapsed: coef is 0, and all rows have the score {run.last.found['intercept']:.3g}; "
            + ("raise C, or start from another classifier (init)" if run.has_labels else "choose other costs")
        )
    n_positive = int(np.count_nonzero(scores > 0))
    if run.status in {"max_iter", "callback"} or (run.status != "no_negative" and 0 < n_positive < scores.size):
        return ""
    span = f"their scores are between {scores.min():.3g} and {scores.max():.3g}"
    if run.status == "no_negative":
        return f"no unlabelled row is called negative any more, and the iteration ended there; {span}; choose another C"
    verdict = "positive" if n_positive else "negative"
    return (
        f"the model calls all {scores.size} training rows {verdict}: {span}; choose other costs, or rank by the "
        f"scores (with_threshold)"
    )


def _excess(run: Run, rows: MarginRows) -> str:
    """Tell of more unlabelled rows called positive than there can be. Each row counts once, whatever its weight."""
    scores = run.last.decision
    share = float(np.mean(scores[~rows.is_labelled] > 0))
    most = largest_share(scores, rows.is_labelled, rows.matrix.n_features + 1)
    if share <= _TOO_MANY * most:
        return ""
    return (
        f"the model calls {share:.3g} of the unlabelled rows positive, but its own scores say that at most {most:.3g} "
        f"of them are, if the labelled rows are a sample of the positives: both classes weigh the same in what is "
        f"minimised, however few the positives are. Take the scores as a ranking and choose the threshold by a prior "
        f"(with_threshold), or use a method that is given the prior"
    )
