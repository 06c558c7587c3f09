"""Problems, engines and tolerances that the tests of the large-margin engine share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastpu import _core
from oracles import large_margin as oracle
from svm_cases import CASES, Rows, case, native

#: How far sums of rounded terms may be off, relative to the sum of their sizes: a few hundred operations in double.
SUM_TOL = 1e-12

#: Kinds of costs and s over the rows of a training set.
PROBLEMS = ("hinge", "class_means", "uneven", "psi", "psi_of_a_class", "dropped")

__all__ = ["CASES", "PROBLEMS", "SUM_TOL", "Rows", "case", "certify", "kept", "make_engine", "problem_of", "solve"]


def problem_of(kind: str, rows: Rows, C: float = 1.0, seed: int = 5) -> oracle.Problem:
    """The rows with costs and s; "dropped" has rows of cost 0, which the oracle is not to be given."""
    rng = np.random.default_rng(seed)
    X, y = np.asarray(rows.X, dtype=np.float64), np.asarray(rows.y)
    c, s = np.full(len(y), C), np.zeros(len(y))
    if kind == "class_means":
        c = C / np.where(y > 0, (y > 0).sum(), (y < 0).sum())
    elif kind == "uneven":
        c = C * 10.0 ** rng.uniform(-2, 2, size=len(y))
    elif kind == "psi":
        s = (rng.random(len(y)) < 0.2).astype(float)
        s[:2] = 0
    elif kind == "psi_of_a_class":  # every row wants f <= 1
        s = (y > 0).astype(float)
    elif kind == "dropped":
        c = np.where(rng.random(len(y)) < 0.3, 0.0, C)
        c[[int(np.argmax(y > 0)), int(np.argmax(y < 0))]] = C
    return oracle.Problem(X, y, c, s)


def kept(problem: oracle.Problem) -> oracle.Problem:
    """Without rows of cost 0."""
    has_cost = problem.c > 0
    return oracle.Problem(problem.X[has_cost], problem.y[has_cost], problem.c[has_cost], problem.s[has_cost])


def make_engine(X: Any, *, dtype=np.float64, sparse=False, n_threads=1) -> _core.LargeMarginEngine:
    return _core.LargeMarginEngine(native(X, dtype=dtype, sparse=sparse), n_threads=n_threads)


#: What a solution says, by name.
SAID = (
    "coef", "intercept", "intercept_low", "intercept_high", "objective", "gap", "beta", "decision", "n_iter", "status",
    "method",
)  # fmt: skip


def solve(
    engine: _core.LargeMarginEngine,
    problem: oracle.Problem,
    *,
    start: dict[str, Any] | None = None,
    callback: Any = None,
    n_threads: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """The solution by names, with the margins; `start` is what an earlier call returned."""
    slopes = problem.s.astype(np.uint8) if problem.s.any() else None
    solution = engine.solve(
        problem.y.astype(np.int8),
        problem.c,
        slopes,
        None if start is None else start["solution"],
        _core.MarginOptions(**options),
        callback,
        n_threads=n_threads,
    )
    said = {name: getattr(solution, name) for name in SAID}
    return {**said, "solution": solution, "margins": problem.y * said["decision"]}


def certify(problem: oracle.Problem, result: dict[str, Any], *, tol: float = 1e-9) -> None:
    """What the result says of itself is so, by the definitions of section 2, and it is the optimum within tol.

    Rows are taken from the mean of all, as the engine does; what rounding does to f is relative to |w| |x - mean|.
    """
    w, b0, beta = result["coef"], result["intercept"], result["beta"]
    centre = problem.X.mean(axis=0)
    X = problem.X - centre
    f = X @ w + (b0 + centre @ w)
    size = 1 + np.abs(X) @ np.abs(w) + abs(b0) + np.abs(centre) @ np.abs(w)
    f_slack = SUM_TOL * size
    assert np.all(np.abs(result["decision"] - f) <= f_slack)

    # beta is feasible.
    assert np.all(beta >= problem.low)
    assert np.all(beta <= problem.high)
    assert abs(beta @ problem.y) <= SUM_TOL * np.abs(beta).sum()

    # P, D and their difference are what they are said to be.
    m = result["margins"]
    hinge = problem.c * (np.maximum(1 - m, 0) + problem.s * m)
    objective = 0.5 * w @ w + hinge.sum()
    slack = SUM_TOL * (0.5 * w @ w + np.abs(hinge).sum()) + float(problem.c @ f_slack)
    assert abs(result["objective"] - objective) <= slack
    dual_w = (beta * problem.y) @ X
    dual = beta.sum() + problem.c @ problem.s - 0.5 * dual_w @ dual_w
    rounding = slack + SUM_TOL * (np.abs(beta).sum() + dual_w @ dual_w)
    assert abs(result["gap"] - (objective - dual)) <= rounding
    assert result["gap"] >= 0
    assert result["status"] == "gap"
    assert result["gap"] <= tol * result["objective"]
    assert 0.5 * np.sum((w - dual_w) ** 2) <= result["gap"] + rounding

    # b0 is the middle of its interval.
    low, high = result["intercept_low"], result["intercept_high"]
    assert low <= high
    shift_slack = SUM_TOL * float(size.max())
    if np.isinf(low) or np.isinf(high):
        assert b0 == (high if np.isinf(low) else low)
    else:
        assert abs(b0 - (low + high) / 2) <= shift_slack
