"""Algorithm 1 and the difference-of-convex iteration slow and obvious: sections 3 and 5 of the specification.

    S(f, y) = 1/2 |w|^2 + C [ mean_(y_i = 1) L(f_i) + mean_(y_i = -1) L(-f_i) ],    f_i = w'x_i + b0

with weighted means where rows have weights. Every sub-problem is one of `large_margin`, solved by the core and
certified by its gap; the intercept is the middle of the best ones. Fit for some fifty rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from margin_engine_cases import certify, make_engine, solve
from oracles import large_margin, svm


@dataclass(frozen=True)
class Classifier:
    """f(x) = w'x + b0, with the interval of best intercepts."""

    w: np.ndarray
    b0: float
    interval: tuple[float, float] = (np.nan, np.nan)

    def scores(self, X: np.ndarray) -> np.ndarray:
        return X @ self.w + self.b0


def loss(kind: str, margins: np.ndarray) -> np.ndarray:
    hinge = np.maximum(1 - margins, 0)
    return np.minimum(hinge, 1) if kind == "psi" else hinge


def costs(C: float, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """c_i of S: C / n_+ or C / n_-, which count weights."""
    v = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    return C * v / np.where(y == 1, v[y == 1].sum(), v[y == -1].sum())


def value(f: Classifier, X: np.ndarray, y: np.ndarray, c: np.ndarray, kind: str) -> float:
    """1/2 |w|^2 + sum c_i L(y_i f(x_i)): S for the costs of (2.2)."""
    return 0.5 * float(f.w @ f.w) + float(c @ loss(kind, y * f.scores(X)))


def minimise(X: np.ndarray, y: np.ndarray, c: np.ndarray, s: np.ndarray | None = None) -> Classifier:
    """The optimum of the sub-problem of section 2, s = 0 by default."""
    s = np.zeros(len(y)) if s is None else s
    problem = large_margin.Problem(X, y, c, s)
    found = solve(make_engine(X), problem)
    certify(problem, found)
    interval = problem.best_intercepts(found["coef"])
    return Classifier(found["coef"], svm.midpoint(interval), interval)


def minimise_psi(X: np.ndarray, y: np.ndarray, c: np.ndarray, f: Classifier) -> list[Classifier]:
    """Section 3 from f, which is first in the list; the last one repeats the set {s_i = 1}."""
    path, sets = [f], []
    s = (y * f.scores(X) < 0).astype(float)
    while not any(np.array_equal(s, old) for old in sets):
        sets.append(s)
        path.append(minimise(X, y, c, s))
        s = (y * path[-1].scores(X) < 0).astype(float)
    return path


@dataclass(frozen=True)
class Fit:
    """The end of Algorithm 1: f, the labels that S was last about, why, and S(f_k, y_k) of the accepted steps."""

    f: Classifier
    labels: np.ndarray
    status: str
    values: list[float]


def algorithm_1(
    X: np.ndarray,
    labelled: np.ndarray,
    C: float,
    *,
    kind: str = "hinge",
    init: str = "hinge",
    tol: float = 1e-3,
    max_iter: int = 100,
    check_increase: bool = True,
    weights: np.ndarray | None = None,
) -> Fit:
    """Section 5, line by line."""

    def argmin(y: np.ndarray, f: Classifier | None) -> Classifier:
        c = costs(C, y, weights)
        if kind == "psi" and f is not None:
            return minimise_psi(X, y, c, f)[-1]
        return minimise(X, y, c)

    def value_of(f: Classifier, y: np.ndarray) -> float:
        return value(f, X, y, costs(C, y, weights), kind)

    def relabel(f: Classifier) -> np.ndarray:
        return np.where(labelled | (f.scores(X) > 0), 1, -1)

    y_init = np.where(labelled, 1, -1)

    def is_collapsed(f: Classifier) -> bool:
        return kind == "psi" and float(f.w @ f.w) < 1e-16

    f = argmin(y_init, None)
    if init == "psi":
        f = argmin(y_init, f)
    y = relabel(f)
    if is_collapsed(f):
        return Fit(f, y_init, "collapsed", [value_of(f, y_init)])
    if np.all(y == 1):
        return Fit(f, y_init, "no_negative", [value_of(f, y_init)])
    values = [value_of(f, y)]
    for _ in range(max_iter):
        f = argmin(y, f)
        y_new = relabel(f)
        if is_collapsed(f):
            return Fit(f, y, "collapsed", [*values, value_of(f, y)])
        if np.all(y_new == 1):
            return Fit(f, y, "no_negative", [*values, value_of(f, y)])
        if check_increase and value_of(f, y_new) > value_of(f, y):
            return Fit(f, y, "increase", [*values, value_of(f, y)])
        if np.array_equal(y_new, y):
            return Fit(f, y, "labels", [*values, value_of(f, y)])
        values.append(value_of(f, y_new))
        y = y_new
        if abs(values[-1] - values[-2]) <= tol * values[-2]:
            return Fit(f, y, "tol", values)
    return Fit(f, y, "max_iter", values)
