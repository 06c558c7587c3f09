"""The stages of mapping convergence that are SVMs; all of them share one solver with its kernel cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastpu.common._warn import span_of
from fastpu.mapping._loop import Boundary, Rows, Scores
from fastpu.svm._solver import Solved, Task, Training

_NU_SHARE = 0.999  # nu is cut to this share of the largest nu that has a solution, for at the largest the margin is 0
# The threshold lies below the lowest score of P by this share of the largest score, so that rounding of kernel values
# cannot put a positive outside.
_SLACK = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}


@dataclass(frozen=True)
class Variant:
    """SMC or SVMC: whether N is reset to its support vectors, and whether dropped negatives are put back."""

    function: str
    title: str
    reset: bool
    repair: bool


class SvmStages:
    """One-class mapping, and C- or nu-SVM, on a solver whose kernel cache serves the whole loop."""

    def __init__(self, training: Training, variant: Variant, *, nu_map: float, C: float, nu: float | None) -> None:
        self._training, self._variant = training, variant
        self._nu_map, self._C, self._nu = nu_map, C, nu
        self._alpha: Scores | None = None  # of the last C-SVM, for every row

    def map(self, positive: Rows, unlabeled: Rows) -> Boundary:
        """psi1: the one-class SVM of P, with its threshold lowered until no row of P is rejected."""
        del unlabeled
        nu = max(self._nu_map, 1.0 / positive.size)
        solved = self._training.solve(self._task("one_class", nu), positive, None, np.ones(positive.size))
        support = solved.of_support()
        scores = self._training.engine.scores(support.rows, support.dual_coef, 0.0, positive)
        slack = _SLACK[self._training.dtype] * float(np.abs(scores).max())
        intercept = slack - float(scores.min())
        return self._boundary(solved, replace(support, intercept=intercept), scores + intercept)

    def separate(self, positive: Rows, negative: Rows) -> Boundary:
        """psi2: the nu-SVM of P against N, or the C-SVM, which starts from the alpha of the last one."""
        rows = np.concatenate([positive, negative])
        labels = np.repeat(np.array([1, -1], dtype=np.int8), [positive.size, negative.size])
        if self._nu is None:
            start = None if self._alpha is None else self._alpha[rows]
            solved = self._training.solve(
                self._task("c_svm", 0.0), rows, labels, np.full(rows.size, self._C), start=start
            )
            self._alpha = np.zeros(self._training.matrix.n_rows)
            self._alpha[rows] = solved.alpha
            nu = np.nan
        else:
            nu = min(self._nu, _NU_SHARE * 2.0 * min(positive.size, negative.size) / rows.size)
            solved = self._training.solve(self._task("nu_svm", nu), rows, labels, np.ones(rows.size))
        scores, is_support = solved.decision[: positive.size].copy(), solved.is_support[positive.size :]
        return self._boundary(solved, solved.of_support(), scores, negative[is_support], nu)

    def _task(self, problem: Any, nu: float) -> Task:
        return Task(self._variant.function, self._variant.title, problem, {}, nu)

    def _boundary(
        self,
        solved: Solved,
        fitted: Solved,
        positive_scores: Scores,
        negative_support: Rows | None = None,
        nu: float = np.nan,
    ) -> Boundary:
        def score(rows: Rows) -> Scores:
            scores = self._training.engine.scores(fitted.rows, coefs, fitted.intercept, rows)
            if np.isnan(scores).any():
                dtype = self._training.dtype
                raise ValueError(f"X must have entries so small that kernel values do not overflow {dtype}; scale X")
            return scores

        coefs = fitted.dual_coef
        solver = {name: getattr(solved, name) for name in ("n_steps", "objective", "gap", "violation", "margin")}
        n_neg = 0 if negative_support is None else negative_support.size
        return Boundary(
            score=score,
            support=negative_support,
            n_support_pos=coefs.size - n_neg,
            n_support_neg=n_neg,
            fitted=fitted,
            span=span_of(solved.decision),
            positive_scores=positive_scores,
            solver={**solver, "nu": nu},
        )
