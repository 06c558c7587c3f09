"""Grids of support vector machines: many costs, kernel widths and folds, solved by one call of the core."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import check_one_length, entries_of, is_sequence
from fastpu.common._sharing import unwrapped
from fastpu.common._text import describe
from fastpu.data._row_labels import warn_of_other_order
from fastpu.kernels._kernels import resolve_gamma, value_dtype
from fastpu.kernels._scales import check_training_rows
from fastpu.svm._arguments import Options, check_options
from fastpu.svm._fit import Posed, fit_machine, model_params, warn_of_failures
from fastpu.svm._solver import KernelRows, Solved, Task
from fastpu.svm.kernel_machine import KernelMachine

_KERNELS = ("rbf", "poly", "precomputed")  # linear has solvers of its own; with sigmoid starts decide what is found
# What the core says of a fit and `Solved` keeps as it is.
_SOLVED = ("alpha", "intercept", "objective", "gap", "lowest_inside", "violation", "margin", "n_steps", "status")


def fit_posed(fit: Callable[..., Any], arguments: Mapping[str, Any]) -> KernelMachine | list[KernelMachine]:
    """Return the model of a marked fit function with these arguments, or one for each entry of their sequences.

    Its mark `poses_svm`, called with the number of rows, y and the arguments, checks those of them that are not of the
    kernel or the solver; `takes_many` are the names of its costs and "gamma", whose values share work in a grid.
    """
    warn_of_other_order(arguments["X"], y=arguments.get("y"), sample_weight=arguments.get("sample_weight"))
    names = [name for name in unwrapped(fit).takes_many if is_sequence(arguments[name])]
    if not names:
        options = check_options(arguments)
        matrix = check_training_rows(arguments["X"], options.kernel, fit.__name__)
        posed = unwrapped(fit).poses_svm(matrix.n_rows, arguments.get("y"), arguments)
        return fit_machine(posed, matrix, options, arguments)
    for name in names:
        if any(is_sequence(entry) for entry in entries_of(name, arguments[name]).values()):
            raise TypeError(f"{name} must be one value or a sequence of single values, got {describe(arguments[name])}")
    check_one_length({name: len(arguments[name]) for name in names})
    points = [dict(zip(names, entries, strict=True)) for entries in zip(*(arguments[n] for n in names), strict=True)]
    rest = {name: value for name, value in arguments.items() if name not in names}
    if not SvmGrid.takes(fit, set(names), rest):
        return [fit(**rest, **point) for point in points]
    X, y = rest.pop("X"), rest.pop("y", None)
    grid = SvmGrid(fit, X, rest, is_alone=True)
    everything = FoldData(np.arange(grid.matrix.n_rows), np.empty(0, dtype=np.int64), y, {})
    fits = grid.solve(points, [everything])[0]
    for each in fits:
        each.warn()
    return [each.model() for each in fits]


@dataclass(frozen=True)
class FoldData:
    """Numbers of the rows to fit to and to score, labels of the former, and arguments with an entry for each."""

    train: NDArray[np.int64]
    held: NDArray[np.int64]
    labels: object
    by_row: Mapping[str, Any]


@dataclass(frozen=True)
class GridFit:
    """A fit of a grid; `solved` has numbers of rows of the whole matrix, `support` those among the fitted ones."""

    held: NDArray[np.float64]
    support: NDArray[np.int64]
    fold: FoldData
    task: Task
    solved: Solved
    span: tuple[int, int, float, float]
    training: KernelRows

    def warn(self) -> None:
        warn_of_failures(self.task, self.solved, self.span, self.training)

    def model(self) -> KernelMachine:
        fields: dict[str, Any] = {"support": self.support}
        if self.training.kernel.name == "precomputed":
            fields["n_features"] = self.fold.train.size
        params = model_params(self.task, self.training.options)
        return self.training.machine(self.solved, params, **fields)


class SvmGrid:
    """The rows of all folds, and the arguments that all fits have in common."""

    def __init__(
        self, fit: Callable[..., Any], X: object, arguments: Mapping[str, Any], *, is_alone: bool = False
    ) -> None:
        self._fit, self._arguments = fit, {**_defaults(fit), **arguments}
        # Of columns on different scales a single fit warns, and in a search the last fit to all rows.
        self.matrix = check_training_rows(X, self._options({}).kernel, unwrapped(fit).__name__, solves=is_alone)

    @staticmethod
    def takes(fit: Callable[..., Any], names: set[str], arguments: Mapping[str, Any]) -> bool:
        """Tell whether fits with these arguments, which differ in the parameters `names` alone, share work."""
        if not hasattr(unwrapped(fit), "poses_svm") or not names <= set(unwrapped(fit).takes_many):
            return False
        given = {**_defaults(fit), **arguments}
        kernel = given["kernel"]
        return isinstance(kernel, str) and kernel in _KERNELS and given["callback"] is None and not given["progress"]

    def _options(self, point: Mapping[str, Any]) -> Options:
        return check_options({**self._arguments, **point})

    def solve(self, points: Sequence[Mapping[str, Any]], folds: Sequence[FoldData]) -> list[list[GridFit]]:
        """Return, for each fold, the fit of each point; raise ValueError if one is not as the function wants it."""
        chains: dict[tuple[int, float], _Chain] = {}
        for k, fold in enumerate(folds):
            rows = self.matrix[fold.train]
            for i, point in enumerate(points):
                given = {**self._arguments, **fold.by_row, **point}
                posed: Posed = unwrapped(self._fit).poses_svm(fold.train.size, fold.labels, given)
                options = self._options(point)
                kernel = resolve_gamma(options.kernel, rows, posed.counts)
                key = k, kernel.core_gamma
                if key not in chains:
                    chains[key] = _Chain(fold, posed, KernelRows(self.matrix, kernel, options))
                chains[key].add(i, posed, options)
        options = self._options({})
        dtype = value_dtype(options.kernel.name, self.matrix.dtype)
        results = _core.solve_svm_grid(
            self.matrix.convert(dtype, sparse=self.matrix.is_sparse),
            posed.task.problem,
            [chain.arguments() for chain in chains.values()],
            kernel=options.kernel.core_params,
            options=_core.SmoOptions(tol=options.tol, max_steps=options.steps(self.matrix.n_rows)),
            cache_bytes=options.cache_bytes,
            n_threads=options.n_threads,
        )
        fits: list[dict[int, GridFit]] = [{} for _ in folds]
        for (k, _), chain, (solved, held) in zip(chains, chains.values(), results, strict=True):
            fits[k] |= chain.fits(solved, held)
        return [[of_fold[i] for i in range(len(points))] for of_fold in fits]


def _defaults(fit: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(fit).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}


class _Chain:
    """The points of one kernel width on one fold: the costs of a class are shares of its largest one times factors."""

    def __init__(self, fold: FoldData, first: Posed, training: KernelRows) -> None:
        self._fold, self._training, self._rows = fold, training, first.rows
        self._labels = None if first.labels is None else first.labels[self._rows]
        signs = np.ones(self._rows.size) if self._labels is None else self._labels
        self._base = first.cost[self._rows]
        # A row of each class with the largest cost, or any where there is no class.
        self._examples = [int(np.argmax(np.where(signs == sign, self._base, 0.0))) for sign in (1, -1)]
        for sign, example in zip((1, -1), self._examples, strict=True):
            self._base[signs == sign] /= self._base[example]
        self._tasks: dict[int, tuple[Task, Options]] = {}
        self._points: list[tuple[float, float, float]] = []

    def add(self, number: int, posed: Posed, options: Options) -> None:
        positive, negative = (float(posed.cost[self._rows[i]]) for i in self._examples)
        self._tasks[number] = posed.task, options
        self._points.append((positive, negative, posed.task.nu))

    def arguments(self) -> _core.GridChain:
        return {
            "gamma": self._training.kernel.core_gamma,
            "rows": self._fold.train[self._rows],
            "labels": self._labels,
            "base": self._base,
            "points": self._points,
            "held": self._fold.held,
        }

    def fits(self, results: list[_core.GridFit], held: NDArray[np.float64]) -> dict[int, GridFit]:
        fits = {}
        for (number, (task, options)), result, scores in zip(self._tasks.items(), results, held.T, strict=True):
            support, n_rows = self._rows[result["support"]], self._rows.size
            known: dict[str, Any] = dict(result)
            last = {**{name: known[name] for name in ("objective", "violation", "n_steps")}, "n_active": n_rows}
            solved = Solved(
                rows=self._fold.train[support],
                labels=None if self._labels is None else self._labels[result["support"]],
                decision=np.empty(0),
                history={name: np.array([value]) for name, value in last.items()},
                **{name: known[name] for name in _SOLVED},
            )
            span = result["n_positive"], n_rows, result["lowest_score"], result["highest_score"]
            training = replace(self._training, options=options)
            fits[number] = GridFit(scores, support, self._fold, task, solved, span, training)
        return fits
