"""Grids of kernel machines: fits to all folds share work, and score the rows held out on the way."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu.selection._trials import judge_single
from fastpu.svm._grid import FoldData, SvmGrid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fastpu.selection._parts import FoldParts
    from fastpu.selection._trials import Outcome, Part, Work


@dataclass(frozen=True)
class _Scored:
    """Stands for a model whose scores of the rows held out are known."""

    scores: NDArray[np.float64]
    threshold: float = 0.0

    def decision_function(self, X: object) -> NDArray[np.float64]:
        del X
        return self.scores


@dataclass(frozen=True)
class KernelGrid:
    """All folds of a grid of kernel machines; a criterion of the user's wants models, the others scores alone."""

    work: Work
    source: FoldParts
    grid: SvmGrid
    wants_models: bool

    @classmethod
    def of(
        cls, work: Work, source: FoldParts, names: set[str], *, n_threads: int | None, wants_models: bool
    ) -> KernelGrid | None:
        """Return the grid whose points differ in the parameters `names`, or None where fits do not share work."""
        if not SvmGrid.takes(work.fit, names, work.arguments):
            return None
        threads = {} if n_threads is None else {"n_threads": n_threads}
        try:
            grid = SvmGrid(work.fit, source.rows.all(), {**work.arguments, **threads})
        except ValueError:  # the fits that are made one by one raise it again
            return None
        return cls(work, source, grid, wants_models)

    def outcomes(self, points: Sequence[Mapping[str, Any]]) -> list[list[Outcome]] | None:
        """Return the outcomes of each point on all folds, or None if a point cannot be fitted."""
        start = time.perf_counter()
        try:
            fits = self.grid.solve(points, [_rows_of(part) for part in self.source])
        except (ArithmeticError, ValueError):
            return None  # fitted one by one, only the points that caused the error fail
        seconds = (time.perf_counter() - start) / (len(points) * len(fits))
        outcomes: list[list[Outcome]] = [[] for _ in points]
        for part, of_fold in zip(self.source, fits, strict=True):
            for i, fit in enumerate(of_fold):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    fit.warn()
                model = fit.model() if self.wants_models else _Scored(fit.held)
                outcomes[i].append(judge_single(self.work, part, model, seconds, caught))
        return outcomes


def _rows_of(part: Part) -> FoldData:
    train, held = (np.asarray(rows, dtype=np.int64) for rows in (part.train, part.held))
    return FoldData(train, held, part.y, part.by_row)
