"""The problems that SVMs are timed on, and how good a solution is, judged in float64 whoever found it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from workload import classes

sys.path.append(str(Path(__file__).resolve().parent.parent / "papers" / "svmc"))

import sets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_BLOCK = 1 << 24  # kernel values held at a time
_SUPPORT_SHARE = 1e-8  # alpha of a support vector, relative to the largest


@dataclass(frozen=True)
class Problem:
    """An SVM to fit: "c_svm" with the cost C, "one_class" or "nu_svm" with nu; and rows to score."""

    kind: str
    X: Any
    y: NDArray[np.int8]
    test: Any
    parameter: float
    kernel: Mapping[str, Any]
    tol: float
    cache_mb: float

    def start(self, n: int) -> Problem:
        """Return the same with fewer rows, to warm up with: of either class, in turn."""
        order = np.argsort(np.concatenate([np.arange(np.count_nonzero(self.y == label)) for label in (1, -1)]))
        rows = np.concatenate([np.flatnonzero(self.y == label) for label in (1, -1)])[order][:n]
        return replace(self, X=self.X[rows], y=self.y[rows], test=self.test[:n])


@dataclass(frozen=True)
class Solution:
    """The dual variables of all rows: alpha of both classes positive."""

    alpha: NDArray[np.float64]

    @property
    def n_support(self) -> int:
        """How many of them are not 0."""
        return int(np.count_nonzero(self.alpha > _SUPPORT_SHARE * self.alpha.max()))


def tuned_set(name: str, data: str, n_rows: int | None) -> tuple[Any, NDArray[np.int8]]:
    """Return rows and true labels of a set of the SVMC paper (letter-A, student, ...), all or a random part of it."""
    data_set = next(found for found in sets.DATA_SETS if found.name == name)
    X, y = sets.load(Path(data), data_set)
    if n_rows is None:
        return X, y
    rows = np.random.default_rng(0).permutation(y.size)[:n_rows]
    return X[rows], y[rows]


def make_problem(
    *, rows: int | str, data: str = ".", n_rows: int | None = None, n_test: int = 0, **options: Any
) -> Problem:
    """Return a problem on so many rows of 20 features (`classes`), or on a set of the SVMC paper (`tuned_set`).

    The rows to score are others of the same distribution, or the set's own.
    """
    if isinstance(rows, str):
        X, y = tuned_set(rows, data, n_rows)
        return Problem(X=X, y=y, test=X[:n_test], **options)
    X, y = classes(rows + n_test, 20)
    return Problem(X=X[:rows], y=y[:rows], test=X[rows:], **options)


def plain_problem(n: int, cache_mb: float) -> Problem:
    """Return rows that are drawn in place, so that they cost no more memory than what they are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0, np.int8(1), np.int8(-1))
    return Problem("c_svm", X, y, X[:0], 1.0, {"kernel": "rbf", "gamma": 0.05}, 1e-3, cache_mb)


def judge(problem: Problem, solution: Solution) -> dict[str, float]:
    """Return the dual objective, as a minimum, and the largest KKT violation.

    Of SVMs with nu, whose alpha different libraries scale differently, after scaling to sum alpha = nu n; a nu-SVM has
    an equality constraint for each class, so the violation is that within a class.
    """
    alpha, n = solution.alpha, solution.alpha.size
    y = np.ones(n) if problem.kind == "one_class" else problem.y.astype(np.float64)
    bound = problem.parameter if problem.kind == "c_svm" else 1.0
    if problem.kind != "c_svm":
        alpha = alpha * (problem.parameter * n / alpha.sum())
    gradient = y * _kernel_product(problem, alpha * y)
    quadratic = 0.5 * float(alpha @ gradient)
    objective = quadratic - (float(alpha.sum()) if problem.kind == "c_svm" else 0.0)
    if problem.kind == "c_svm":
        gradient -= 1.0
    slack = 1e-12 * bound
    up = np.where(y > 0, alpha < bound - slack, alpha > slack)
    low = np.where(y > 0, alpha > slack, alpha < bound - slack)
    violation = 0.0
    for among in [y > 0, y < 0] if problem.kind == "nu_svm" else [y != 0]:
        if (up & among).any() and (low & among).any():
            violation = max(violation, float((-y * gradient)[up & among].max() - (-y * gradient)[low & among].min()))
    return {"objective": objective, "violation": violation}


def _kernel_product(problem: Problem, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sum_j K(x_i, x_j) coef_j for all rows, in blocks of rows."""
    support = np.flatnonzero(coef)
    right = problem.X[support]
    product = np.empty(coef.size)
    step = max(1, _BLOCK // max(1, support.size))
    for start in range(0, coef.size, step):
        rows = slice(start, start + step)
        product[rows] = _kernel(problem.X[rows], right, problem.kernel) @ coef[support]
    return product


def _kernel(left: Any, right: Any, kernel: Mapping[str, Any]) -> NDArray[np.float64]:
    dot = left @ right.T
    values = np.asarray(dot if isinstance(dot, np.ndarray) else dot.toarray(), dtype=np.float64)
    if kernel["kernel"] == "rbf":
        values *= -2
        values += _square_norms(left)[:, None]
        values += _square_norms(right)
        np.maximum(values, 0, out=values)
        values *= -kernel["gamma"]
        np.exp(values, out=values)
    return values


def _square_norms(X: Any) -> NDArray[np.float64]:
    if isinstance(X, np.ndarray):
        norms: NDArray[np.float64] = np.einsum("ij,ij->i", X, X)
        return norms
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
