"""Fits of kernel machines to all rows: one by itself, or many that share work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fastpu.common._progress import make_report
from fastpu.common._types import LabelsLike, MatrixLike, RoundCallback, VectorLike
from fastpu.common._warn import span_of
from fastpu.data._matrix import Matrix
from fastpu.data._row_labels import warn_of_other_order
from fastpu.kernels._check_rows import check_training_rows
from fastpu.svm._grid import FoldData, shares_work, solve_grid
from fastpu.svm._kernel_solver import open_solver
from fastpu.svm._linear_solver import linear_engine, solve_linear
from fastpu.svm._svm_point import SvmPoint
from fastpu.svm._svm_warnings import warn_of_failures
from fastpu.svm.kernel_machine import KernelMachine
from fastpu.svm.svm_round import SvmRound


def fit_points(
    X: MatrixLike,
    y: LabelsLike | None,
    points: Sequence[SvmPoint],
    *,
    sample_weight: VectorLike | None,
    callback: RoundCallback[SvmRound] | None,
    progress: bool,
) -> list[KernelMachine]:
    """Return the model of each point, and warn the caller of the fit function of failures.

    Several points share kernel rows and starts, unless a callback or a progress bar is to see each fit.
    """
    first = points[0]
    warn_of_other_order(X, y=y, sample_weight=sample_weight)
    matrix = check_training_rows(X, first.options.kernel, first.method.function)
    if len(points) == 1 or callback is not None or progress or not shares_work(first.options.kernel):
        return [_fit_point(matrix, y, point, callback, progress) for point in points]
    everything = FoldData(np.arange(matrix.n_rows), np.empty(0, dtype=np.int64), y)
    fits = solve_grid(matrix, [everything], [points])[0]
    for fit in fits:
        fit.warn()
    return [fit.model() for fit in fits]


def _fit_point(
    matrix: Matrix, y: LabelsLike | None, point: SvmPoint, callback: RoundCallback[SvmRound] | None, progress: bool
) -> KernelMachine:
    """Fit one machine to the rows whose cost is not 0."""
    method = point.method
    problem = method.problem(y, matrix.n_rows)
    rows, labels = problem.rows, problem.labels
    with make_report(callback, progress, total=None, description=method.title) as report:
        training = open_solver(matrix, point.options, problem.counts)
        if labels is not None and method.kind == "c_svm" and training.kernel.name == "linear":
            fit = solve_linear(training, linear_engine(training), labels, problem.cost, report)
        else:
            of_rows = None if labels is None else labels[rows]
            fit = training.solve(method.kind, rows, of_rows, problem.cost[rows], nu=problem.nu, report=report)
    model = training.machine(fit, point.params())
    warn_of_failures(method, fit, span_of(fit.decision), training)
    return model
