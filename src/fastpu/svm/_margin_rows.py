"""The options and the training rows of the large-margin iterations, with the engine that solves their sub-problems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu import _core
from fastpu.common._params import MANY, check_choice, check_float, check_int
from fastpu.common._text import columns_named
from fastpu.common._threads import resolve_n_threads
from fastpu.common._types import LabelsLike, MatrixLike, VectorLike
from fastpu.data._training_rows import TrainingRows, open_training_rows
from fastpu.data._validate import check_matrix
from fastpu.data.binned_features import require_rows
from fastpu.kernels._scales import warn_of_scales

SolverName: TypeAlias = Literal["exact", "iadmm"]

_SOLVERS: tuple[SolverName, ...] = ("exact", "iadmm")


@dataclass(frozen=True)
class MarginOptions:
    """The checked arguments that ISVM, IPSI and BPSI share; `max_iter` is the limit of their own loop."""

    max_iter: int
    solver_tol: float
    solver_max_iter: int | None
    solver: SolverName
    n_threads: int

    @staticmethod
    def checked(
        *, max_iter: int, solver_tol: float, solver_max_iter: int | None, solver: object, n_threads: int | None
    ) -> MarginOptions:
        return MarginOptions(
            max_iter=check_int("max_iter", max_iter, low=1),
            solver=check_choice("solver", solver, _SOLVERS),
            solver_tol=check_float("solver_tol", solver_tol, low=0, high=1, open_low=True, open_high=True),
            solver_max_iter=(
                None if solver_max_iter is None else min(check_int("solver_max_iter", solver_max_iter, low=1), MANY)
            ),
            n_threads=resolve_n_threads(n_threads),
        )

    @property
    def core_options(self) -> _core.MarginOptions:
        return _core.MarginOptions(
            solver=self.solver,
            tol=self.solver_tol,
            max_iter=self.solver_max_iter or 0,
        )

    def params(self) -> dict[str, object]:
        return {
            "max_iter": self.max_iter,
            "solver_tol": self.solver_tol,
            "solver_max_iter": self.solver_max_iter,
            "solver": self.solver,
        }


@dataclass(frozen=True)
class MarginRows(TrainingRows):
    """The training rows, with an engine that holds what all fits to them share."""

    engine: _core.LargeMarginEngine

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        labelled: NDArray[np.bool_] = self.labels == 1
        return labelled

    def signs(self, is_positive: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Return +1 and -1; labelled rows are +1."""
        signs: NDArray[np.int8] = np.where(is_positive | self.is_labelled, np.int8(1), np.int8(-1))
        return signs

    def of_all_rows(self, labels: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the labels of all rows that the caller passed: 0 for those of weight 0, which were left out."""
        if self.numbers is None:
            return labels
        every: NDArray[np.int8] = np.zeros(self.n_given, dtype=np.int8)
        every[self.numbers] = labels
        return every


def open_margin_rows(
    X: MatrixLike,
    y: LabelsLike,
    sample_weight: VectorLike | None,
    function: str,
    n_threads: int,
    *,
    is_relative: bool,
) -> MarginRows:
    """Check the training rows of a public function; with `is_relative` only ratios of sample weights matter."""
    require_rows(X, function)
    rows = open_training_rows(check_matrix(X), y, sample_weight, function, is_relative=is_relative)
    warn_of_scales(rows.matrix)
    with columns_named(rows.matrix.feature_names):
        engine = _core.LargeMarginEngine(rows.matrix, n_threads=n_threads)
    return MarginRows(
        matrix=rows.matrix,
        labels=rows.labels,
        weights=rows.weights,
        numbers=rows.numbers,
        n_given=rows.n_given,
        engine=engine,
    )
