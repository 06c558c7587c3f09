"""Grids of support vector machines: many costs, kernel widths and folds, solved by one call of the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._types import LabelsLike
from fastpu.data._matrix import Matrix
from fastpu.kernels._kernel import Kernel, KernelOptions, resolve_gamma, value_dtype
from fastpu.svm._kernel_solver import KernelRows, SolverEnd, SvmFit, history_of
from fastpu.svm._svm_point import SvmPoint
from fastpu.svm._svm_problem import SvmProblem
from fastpu.svm._svm_warnings import warn_of_failures
from fastpu.svm.kernel_machine import KernelMachine

_KERNELS = ("rbf", "poly", "precomputed")  # linear has solvers of its own; with sigmoid starts decide what is found


@dataclass(frozen=True)
class FoldData:
    """Numbers of the rows to fit to and of the rows to score, and the labels of the former."""

    train: NDArray[np.int64]
    held_out: NDArray[np.int64]
    labels: LabelsLike | None


@dataclass(frozen=True)
class GridFit:
    """A fit of a grid: its solution has numbers of rows of the whole matrix, `support` those among the fitted ones."""

    held_out_scores: NDArray[np.float64]
    support: NDArray[np.int64]
    fold: FoldData
    point: SvmPoint
    solved: SvmFit
    span: tuple[int, int, float, float]
    training: KernelRows

    @property
    def threshold(self) -> float:
        return self.training.threshold(self.solved)

    def warn(self) -> None:
        warn_of_failures(self.point.method, self.solved, self.span, self.training)

    def model(self) -> KernelMachine:
        machine = self.training.machine(self.solved, self.point.params())
        # `support` has numbers of the fold's own rows, whose kernel values are the columns of a precomputed matrix.
        is_precomputed = self.training.kernel.name == "precomputed"
        n_features = self.fold.train.size if is_precomputed else machine.n_features
        return replace(machine, support=self.support, n_features=n_features)


def shares_work(kernel: KernelOptions) -> bool:
    """Tell whether machines with this kernel share work in a grid."""
    return kernel.name in _KERNELS


def solve_grid(matrix: Matrix, folds: Sequence[FoldData], points: Sequence[Sequence[SvmPoint]]) -> list[list[GridFit]]:
    """Return, for each fold, the fit of each of its points, whose options differ in gamma alone.

    Raise ValueError if one of the problems is not as its function wants it.
    """
    chains: dict[tuple[int, float], _Chain] = {}
    for k, (fold, of_fold) in enumerate(zip(folds, points, strict=True)):
        rows = matrix[fold.train]
        for i, point in enumerate(of_fold):
            problem = point.method.problem(fold.labels, fold.train.size)
            kernel = resolve_gamma(point.options.kernel, rows, problem.counts)
            key = k, kernel.core_gamma
            if key not in chains:
                chains[key] = _Chain(fold, problem, KernelRows(matrix, kernel, point.options))
            chains[key].add(i, point, problem)
    first = points[0][0]
    options = first.options
    kernel_of_first = next(iter(chains.values())).kernel  # each chain has a gamma of its own beside it
    solutions = _core.solve_svm_grid(
        matrix.convert(value_dtype(options.kernel.name, matrix.dtype), sparse=matrix.is_sparse),
        first.method.kind,
        [chain.for_core() for chain in chains.values()],
        kernel=kernel_of_first.core_params,
        options=options.core_options(matrix.n_rows),
        cache_bytes=options.cache_bytes,
        n_threads=options.n_threads,
    )
    fits: list[dict[int, GridFit]] = [{} for _ in folds]
    for (k, _), chain, solution in zip(chains, chains.values(), solutions, strict=True):
        fits[k] |= chain.fits(solution)
    return [[of_fold[i] for i in range(len(of_fold))] for of_fold in fits]


class _Chain:
    """The points of one kernel width on one fold: the costs of a class are shares of its largest one times factors."""

    def __init__(self, fold: FoldData, first: SvmProblem, training: KernelRows) -> None:
        self._fold, self._training, self._rows = fold, training, first.rows
        self._labels = None if first.labels is None else first.labels[self._rows]
        signs = np.ones(self._rows.size) if self._labels is None else self._labels
        self._base = first.cost[self._rows]
        # A row of each class with the largest cost, or any where there is no class.
        self._examples = [int(np.argmax(np.where(signs == sign, self._base, 0.0))) for sign in (1, -1)]
        for sign, example in zip((1, -1), self._examples, strict=True):
            self._base[signs == sign] /= self._base[example]
        self._points: dict[int, SvmPoint] = {}
        self._factors: list[tuple[float, float, float]] = []

    @property
    def kernel(self) -> Kernel:
        return self._training.kernel

    def add(self, number: int, point: SvmPoint, problem: SvmProblem) -> None:
        positive, negative = (float(problem.cost[self._rows[i]]) for i in self._examples)
        self._points[number] = point
        self._factors.append((positive, negative, problem.nu))

    def for_core(self) -> _core.GridChain:
        return _core.GridChain(
            gamma=self._training.kernel.core_gamma,
            rows=self._fold.train[self._rows],
            labels=self._labels,
            base=self._base,
            points=self._factors,
            held_out=self._fold.held_out,
        )

    def fits(self, solution: _core.ChainSolution) -> dict[int, GridFit]:
        """Return the fits by the numbers of their points."""
        columns = zip(self._points.items(), solution.fits, solution.held_out_scores.T, strict=True)
        return {number: self._fit_of(point, fit, scores) for (number, point), fit, scores in columns}

    def _fit_of(self, point: SvmPoint, fit: _core.GridFit, scores: NDArray[np.float64]) -> GridFit:
        places, n_rows = fit.support, self._rows.size
        support = self._rows[places]
        end = SolverEnd(
            status=fit.status,
            n_steps=fit.n_steps,
            objective=fit.objective,
            gap=fit.gap,
            violation=fit.violation,
        )
        solved = SvmFit(
            rows=self._fold.train[support],
            labels=None if self._labels is None else self._labels[places],
            alpha=fit.alpha,
            intercept=fit.intercept,
            decision=np.empty(0),
            margin=fit.margin,
            end=end,
            history=history_of(end, n_rows),
            lowest_inside=fit.lowest_inside,
        )
        return GridFit(
            held_out_scores=scores,
            support=support,
            fold=self._fold,
            point=point,
            solved=solved,
            span=(fit.n_positive, n_rows, fit.lowest_score, fit.highest_score),
            training=replace(self._training, options=point.options),
        )
