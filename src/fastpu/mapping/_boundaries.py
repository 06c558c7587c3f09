"""The SVMs of mapping convergence, on one solver whose kernel cache serves the whole loop."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fastpu.common._warn import span_of
from fastpu.mapping._mapping_options import MappingOptions, Rows, Scores
from fastpu.svm._kernel_solver import KernelSolver, SolverEnd, SvmFit

_NU_SHARE = 0.999  # nu is cut to this share of the largest nu that has a solution, for at the largest the margin is 0
# The threshold lies below the lowest score of P by this share of the largest score, so that rounding of kernel values
# cannot put a positive outside.
_SLACK = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}


@dataclass(frozen=True)
class Boundary:
    """A boundary h of mapping convergence: an SVM that is negative for the rows that it rejects.

    `fit` has its support vectors, and `support` the rows of N among them, in the order of N. `positive_scores` are the
    scores of P, and `span` is `span_of` the scores of all rows that the SVM was fitted to. `nu` is NaN unless it is a
    nu-SVM of P against N.
    """

    training: KernelSolver
    fit: SvmFit
    support: Rows
    positive_scores: Scores
    span: tuple[int, int, float, float]
    nu: float

    @property
    def end(self) -> SolverEnd:
        return self.fit.end

    @property
    def margin(self) -> float:
        return self.fit.margin

    @property
    def n_support_pos(self) -> int:
        return self.fit.rows.size - self.support.size

    def score(self, rows: Rows) -> Scores:
        fit = self.fit
        scores = self.training.engine.scores(fit.rows, fit.dual_coef, fit.intercept, rows)
        if np.isnan(scores).any():
            dtype = self.training.dtype
            raise ValueError(f"X must have smaller entries, because kernel values overflow {dtype}; scale X")
        return scores


class SvmStages:
    """The two stages of mapping convergence: the mapping, and the separation of P from N."""

    def __init__(self, training: KernelSolver, options: MappingOptions) -> None:
        self._training, self._options = training, options
        self._alpha: Scores | None = None  # of the last C-SVM, for every row

    def map(self, positive: Rows) -> Boundary:
        """Return the one-class SVM of P, with its threshold lowered until no row of P is rejected."""
        nu = max(self._options.nu_map, 1.0 / positive.size)
        labels = np.ones(positive.size, dtype=np.int8)
        fit = self._training.solve("one_class", positive, labels, np.ones(positive.size), nu=nu)
        support = fit.of_support()
        scores = self._training.engine.scores(support.rows, support.dual_coef, 0.0, positive)
        slack = _SLACK[self._training.dtype] * float(np.abs(scores).max())
        intercept = slack - float(scores.min())
        return Boundary(
            training=self._training,
            fit=replace(support, intercept=intercept),
            support=positive[:0],
            positive_scores=scores + intercept,
            span=span_of(fit.decision),
            nu=np.nan,
        )

    def separate(self, positive: Rows, negative: Rows) -> Boundary:
        """Return the nu-SVM of P against N, or the C-SVM, which starts from the alpha of the last one."""
        rows = np.concatenate([positive, negative])
        labels = np.repeat(np.array([1, -1], dtype=np.int8), [positive.size, negative.size])
        if self._options.nu is None:
            start = None if self._alpha is None else self._alpha[rows]
            fit = self._training.solve("c_svm", rows, labels, np.full(rows.size, self._options.C), start=start)
            self._alpha = np.zeros(self._training.matrix.n_rows)
            self._alpha[rows] = fit.alpha
            nu = np.nan
        else:
            nu = min(self._options.nu, _NU_SHARE * 2.0 * min(positive.size, negative.size) / rows.size)
            fit = self._training.solve("nu_svm", rows, labels, np.ones(rows.size), nu=nu)
        return Boundary(
            training=self._training,
            fit=fit.of_support(),
            support=negative[fit.is_support[positive.size :]],
            positive_scores=fit.decision[: positive.size].copy(),
            span=span_of(fit.decision),
            nu=nu,
        )
