"""The stages of mapping convergence: SVMs on one solver, and functions and estimators that users pass."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from fastpu.common._text import describe
from fastpu.common._warn import span_of
from fastpu.data._validate import check_vector
from fastpu.mapping._loop import Boundary, Rows, Scores, Stage
from fastpu.svm._solver import KernelSolver, Solved

_NU_SHARE = 0.999  # nu is cut to this share of the largest nu that has a solution, for at the largest the margin is 0
# The threshold lies below the lowest score of P by this share of the largest score, so that rounding of kernel values
# cannot put a positive outside.
_SLACK = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-6}


class SvmStages:
    """One-class mapping, and C- or nu-SVM, on a solver whose kernel cache serves the whole loop."""

    def __init__(self, training: KernelSolver, *, nu_map: float, C: float, nu: float | None) -> None:
        self._training = training
        self._nu_map, self._C, self._nu = nu_map, C, nu
        self._alpha: Scores | None = None  # of the last C-SVM, for every row

    def map(self, positive: Rows, unlabeled: Rows) -> Boundary:
        """psi1: the one-class SVM of P, with its threshold lowered until no row of P is rejected."""
        del unlabeled
        nu = max(self._nu_map, 1.0 / positive.size)
        solved = self._training.solve("one_class", positive, None, np.ones(positive.size), nu=nu)
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
            solved = self._training.solve("c_svm", rows, labels, np.full(rows.size, self._C), start=start)
            self._alpha = np.zeros(self._training.matrix.n_rows)
            self._alpha[rows] = solved.alpha
            nu = np.nan
        else:
            nu = min(self._nu, _NU_SHARE * 2.0 * min(positive.size, negative.size) / rows.size)
            solved = self._training.solve("nu_svm", rows, labels, np.ones(rows.size), nu=nu)
        scores, is_support = solved.decision[: positive.size].copy(), solved.is_support[positive.size :]
        return self._boundary(solved, solved.of_support(), scores, negative[is_support], nu)

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
            fitted=fitted,
            span=span_of(solved.decision),
            positive_scores=positive_scores,
            solver={**solver, "nu": nu},
        )


Table: TypeAlias = Any  # rows as users see them: an ndarray, or a CSR matrix or array of SciPy
_PARTNER = {"psi1": "U", "psi2": "N"}


@dataclass(frozen=True)
class UserScorer:
    """A score function of the user: `name` is the stage that made it, `shift` is added to its scores."""

    name: str
    function: Callable[[Table], object]
    shift: float = 0.0

    def __call__(self, table: Table) -> Scores:
        if not table.shape[0]:  # which users' functions need not take
            return np.empty(0)
        scores = check_vector(f"scores by {self.name}", self.function(table), n=table.shape[0], allow_inf=True)
        return scores + self.shift


def user_mapping(psi1: Any, table: Table) -> Stage:
    is_estimator = _is_estimator("psi1", psi1)

    def stage(positive: Rows, unlabeled: Rows) -> Boundary:
        if not is_estimator:
            scorer = _scorer("psi1", psi1(table[positive], table[unlabeled]))
            return _boundary(scorer, table, positive.size)
        fitted = copy.deepcopy(psi1)
        fitted.fit(table[positive])
        scorer = _scorer("psi1", fitted)
        # The estimator's own threshold is kept, unless it leaves rows of P outside: then it is lowered to the lowest
        # score of P.
        least = float(scorer(table[positive]).min())
        if least == -np.inf:
            raise ValueError(
                "the score function of psi1 must return scores above -inf for the rows of P, because its threshold is "
                "lowered to the lowest of them, got -inf"
            )
        return _boundary(UserScorer("psi1", scorer.function, max(0.0, -least)), table, positive.size)

    return stage


def user_separation(psi2: Any, table: Table) -> Stage:
    is_estimator = _is_estimator("psi2", psi2)

    def stage(positive: Rows, negative: Rows) -> Boundary:
        if is_estimator:
            fitted = copy.deepcopy(psi2)
            labels = np.repeat(np.array([1, -1]), [positive.size, negative.size])
            fitted.fit(table[np.concatenate([positive, negative])], labels)
        else:
            fitted = psi2(table[positive], table[negative])
        scorer = _scorer("psi2", fitted)
        numbers = _support_numbers(fitted, positive.size, negative.size)
        if numbers is None:
            return _boundary(scorer, table, positive.size)
        n_pos = int(np.searchsorted(numbers, positive.size))
        return _boundary(scorer, table, n_pos, negative[numbers[n_pos:] - positive.size])

    return stage


def _boundary(scorer: UserScorer, table: Table, n_pos: int, support: Rows | None = None) -> Boundary:
    return Boundary(score=lambda rows: scorer(table[rows]), support=support, n_support_pos=n_pos, fitted=scorer)


def _is_estimator(name: str, psi: object) -> bool:
    """Tell an estimator from a function; raise TypeError for what is neither."""
    expected = (
        f"{name} must be a function {name}(P, {_PARTNER[name]}) that returns a score function, or an estimator "
        f"with fit and decision_function"
    )
    if isinstance(psi, type):
        raise TypeError(f"{expected}, got the class {psi.__name__}; pass an instance")
    if callable(getattr(psi, "fit", None)):
        if not callable(getattr(psi, "decision_function", None)):
            raise TypeError(f"{expected}, got {type(psi).__name__}, which has no decision_function")
        return True
    if not callable(psi):
        raise TypeError(f"{expected}, got {describe(psi)}")
    return False


def _scorer(name: str, fitted: object) -> UserScorer:
    decision = getattr(fitted, "decision_function", None)
    if callable(decision):
        return UserScorer(name, decision)
    if not callable(fitted):
        raise TypeError(
            f"{name} must return a score function, or an estimator with decision_function, got {describe(fitted)}"
        )
    return UserScorer(name, fitted)


def _support_numbers(fitted: object, n_pos: int, n_neg: int) -> Rows | None:
    """Return the positions of the support vectors among the rows of P and then N, or None if there is no `support_`."""
    given = getattr(fitted, "support_", None)
    # A boolean `support_` is what feature selection calls its mask of columns.
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu" or given.ndim != 1:
        return None
    numbers: Rows = np.unique(given.astype(np.int64))
    if numbers.size and not 0 <= numbers[0] <= numbers[-1] < n_pos + n_neg:
        bad = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(
            f"support_ of what psi2 made must number the {n_pos} rows of P followed by the {n_neg} of N, from 0 to "
            f"{n_pos + n_neg - 1}, got {bad}"
        )
    return numbers
