"""Training sets, engines and tolerances that the tests of the SVMs share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fastpu import _core
from fastpu.data._matrix import CsrMatrix
from oracles import svm as oracle

#: How far the rounding of an engine's own sums may move what it reports, beside what its gap and the precision of its
#: kernel explain: a few hundred operations in double.
SUM_TOL = 1e-12


DTYPES = (np.float32, np.float64)
KINDS = ("c_svm", "nu_svm", "one_class")

#: Each kernel with parameters at which it bends, and powers of two, so that they are exact.
KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "poly": {"kernel": "poly", "gamma": 0.25, "degree": 3, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.03125, "coef0": 0.0},
}


@dataclass(frozen=True)
class Rows:
    """A training set with labels of both signs."""

    X: np.ndarray
    y: np.ndarray


# -- training sets -----------------------------------------------------------------------------------------------------


def labels_of(rng: np.random.Generator, scores: np.ndarray, *, noise: float = 0.7) -> np.ndarray:
    """Labels by noisy scores, at least two of each."""
    noisy = scores + noise * rng.normal(size=len(scores))
    y = np.where(noisy > np.median(noisy), 1, -1).astype(np.int8)
    if len(y) >= 4:
        y[:4] = 1, -1, 1, -1
    return y


def random_rows(rng, n=40, d=3) -> Rows:
    X = rng.normal(size=(n, d))
    return Rows(X, labels_of(rng, X[:, 0]))


def equal_rows(rng, n=12) -> Rows:
    """Every row the same, five of eleven or so positive: nothing can be told apart."""
    return Rows(np.tile(rng.normal(size=(1, 3)), (n, 1)), np.where(np.arange(n) < n // 2 - 1, 1, -1).astype(np.int8))


def one_row_each(rng) -> Rows:
    return Rows(rng.normal(size=(2, 3)), np.array([1, -1], dtype=np.int8))


def duplicated_rows(rng, n=14) -> Rows:
    """Each row three times."""
    rows = random_rows(rng, n)
    return Rows(np.repeat(rows.X, 3, axis=0), np.repeat(rows.y, 3))


def contradictory_rows(rng, n=24) -> Rows:
    """A third of the rows are there with both labels."""
    rows = random_rows(rng, n)
    return Rows(np.vstack([rows.X, rows.X[: n // 3]]), np.concatenate([rows.y, -rows.y[: n // 3]]))


def separable_rows(rng, n=30) -> Rows:
    y = labels_of(rng, rng.normal(size=n))
    X = rng.normal(size=(n, 3))
    X[:, 0] = 3.0 * y + 0.3 * X[:, 0]
    return Rows(X, y)


def badly_scaled_rows(rng, n=30) -> Rows:
    """Columns of a size from 1e-6 to 1e6; their products fill no float32 and hardly a float64."""
    rows = random_rows(rng, n, 5)
    return Rows(rows.X * 10.0 ** np.array([-6, -3, 0, 3, 6]), rows.y)


def constant_columns(rng, n=30) -> Rows:
    rows = random_rows(rng, n, 5)
    rows.X[:, 1] = 0.0
    rows.X[:, 3] = -2.5
    return rows


def wide_rows(rng, n=12, d=37) -> Rows:
    """More columns than rows."""
    return random_rows(rng, n, d)


def single_feature(rng, n=40) -> Rows:
    return random_rows(rng, n, 1)


def integer_grid(rng, n=40) -> Rows:
    """Whole numbers: many rows, and many working sets, are tied."""
    X = rng.integers(-2, 3, size=(n, 2)).astype(np.float64)
    return Rows(X, labels_of(rng, X[:, 0], noise=1.0))


def far_away(rng, n=30) -> Rows:
    """All of it far from the origin, at a distance that is exact in float32 and in float64 alike."""
    rows = random_rows(rng, n)
    return Rows(np.round(rows.X * 64) / 64 + 4096.0, rows.y)


CASES: dict[str, Callable[[np.random.Generator], Rows]] = {
    "random": random_rows,
    "equal_rows": equal_rows,
    "one_row_each": one_row_each,
    "duplicated": duplicated_rows,
    "contradictory": contradictory_rows,
    "separable": separable_rows,
    "badly_scaled": badly_scaled_rows,
    "constant_columns": constant_columns,
    "wide": wide_rows,
    "single_feature": single_feature,
    "integer_grid": integer_grid,
    "far_away": far_away,
}


def case(name: str, seed: int = 0) -> Rows:
    return CASES[name](np.random.default_rng([71, list(CASES).index(name), seed]))


def kernel_for(name: str, case_name: str) -> dict[str, object]:
    """The kernel's parameters, its gamma such that it tells the rows of this set apart."""
    params = dict(KERNELS[name])
    if case_name == "badly_scaled" and "gamma" in params:
        params["gamma"] *= 2.0**-40
    if case_name == "far_away" and name in {"poly", "sigmoid"}:
        params["gamma"] *= 2.0**-24
    return params


# -- rounding ----------------------------------------------------------------------------------------------------------


def kernel_rounding(X, Z, *, dtype=np.float64, sparse=False, kernel="rbf", gamma=1.0, degree=3, coef0=0.0):
    """A bound of what rounding does to each K(x_i, z_j) computed in dtype: sums of d terms, and a few steps after."""
    eps, eps_sum = np.finfo(dtype).eps, np.finfo(np.float64 if sparse else dtype).eps
    X, Z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
    d = X.shape[1]
    if kernel == "rbf":
        exponents = gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
        error = 4 * eps * exponents + (d + 2) * eps_sum * exponents
        if sparse:  # |x|^2 - 2 x'z + |z|^2
            norms = np.add.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Z, axis=1))
            error += gamma * (d + 3) * eps_sum * norms**2
        # Less than a normal number can hold is 0.
        return np.exp(-exponents) * (np.expm1(np.minimum(error, 700)) + 4 * eps) + 2 * np.finfo(dtype).tiny
    products, sizes = X @ Z.T, np.abs(X) @ np.abs(Z).T
    error = (d + 2) * eps_sum * sizes + eps * np.abs(products)
    if kernel == "linear":
        return error
    base = np.abs(gamma * products + coef0)
    error = gamma * error + 3 * eps * (gamma * np.abs(products) + abs(coef0))
    if kernel == "sigmoid":
        return error + 2 * eps
    return (base + error) ** degree * (1 + 2 * degree * eps) - base**degree


def kernel_slack(rows: Rows, *, dtype=np.float64, sparse=False, **kernel) -> float:
    """The largest of these bounds over the pairs of a training set."""
    X = rows.X.astype(dtype)
    return float(kernel_rounding(X, X, dtype=dtype, sparse=sparse, **kernel).max())


# -- engines -----------------------------------------------------------------------------------------------------------


def native(X: np.ndarray, *, dtype=np.float64, sparse: bool = False):
    """X in the form that _core takes."""
    X = np.ascontiguousarray(X, dtype=dtype)
    if not sparse:
        return X
    csr = sp.csr_matrix(X)
    return CsrMatrix.of(csr)


def make_engine(
    X,
    *,
    kernel="rbf",
    function=None,
    dtype=np.float64,
    sparse=False,
    cache_bytes=2**24,
    n_threads=1,
    **params,
):
    """An engine on X with a kernel of its own name and parameters, or the function's or, for None, X's own values."""
    given = kernel is None or function is not None
    return _core.SvmEngine(
        native(X, dtype=dtype, sparse=sparse),
        kernel=None if given else _core.KernelParams(kind=kernel, **params),
        function=function,
        cache_bytes=cache_bytes,
        n_threads=n_threads,
    )


#: What a solution says, by name.
SAID = (
    "alpha", "intercept", "margin", "objective", "gap", "lowest_inside", "violation", "n_steps", "status", "decision",
)  # fmt: skip
ROUNDS = ("n_steps", "objective", "violation", "n_active")


def solve(engine, problem: oracle.Problem, *, rows=None, start=None, tol=1e-10, max_iter=10**6, callback=None):
    """Run the engine on an oracle's problem; rows are those of the engine that it is about."""
    labels = None if problem.kind == "one_class" else problem.y.astype(np.int8)
    rows = np.arange(len(problem.y)) if rows is None else np.asarray(rows)
    solution = engine.solve(
        problem.kind,
        rows.astype(np.int64),
        labels,
        problem.c.astype(np.float64),
        nu=problem.nu,
        start=start,
        options=_core.SmoOptions(tol=tol, max_steps=max_iter),
        callback=callback,
    )
    said = {name: getattr(solution, name) for name in SAID}
    history = {name: getattr(solution.rounds, name) for name in ROUNDS}
    return {"problem": problem.kind, **said, "history": history}


def problem_of(kind: str, rows: Rows, K: np.ndarray, *, c=1.0, nu: float | None = None) -> oracle.Problem:
    """A problem on these rows whose nu is feasible: half of the largest, by default."""
    costs = np.broadcast_to(np.asarray(c, dtype=np.float64), (len(rows.y),)).copy()
    y = np.ones(len(rows.y), dtype=np.int8) if kind == "one_class" else rows.y
    if nu is None:
        shares = [costs[rows.y == s].sum() / costs.sum() for s in (1, -1)]
        nu = 0.3 if kind == "one_class" else float(min(shares))
    return oracle.Problem(kind, K, y, costs, nu)


def without_kernel(kind: str, rows: Rows, *, c=1.0, nu=None) -> oracle.Problem:
    """A problem that only the engine will look at."""
    return problem_of(kind, rows, np.zeros((0, 0)), c=c, nu=nu)


# -- what a result must fulfil -----------------------------------------------------------------------------------------


def unscaled(result) -> oracle.Solution:
    """A result in the scale of the dual: nu_svm gives alpha, intercept and decision values divided by the margin."""
    scale = result["margin"] if result["problem"] == "nu_svm" and result["margin"] > 0 else 1.0
    intercept = 0.0 if result["problem"] == "one_class" else result["intercept"] * scale
    return oracle.Solution(
        alpha=result["alpha"] * scale,
        intercept=intercept,
        margin=result["margin"],
        objective=result["objective"],
        gap=result["gap"],
        decision=result["decision"] * scale,
    )


def score_slack(problem: oracle.Problem, alpha: np.ndarray, slack: float) -> float:
    """How far a score may be off: every K by slack, and the sums by rounding."""
    return (slack + SUM_TOL * float(np.abs(problem.K).max())) * float(alpha.sum()) + SUM_TOL


def certify(problem: oracle.Problem, result, *, slack: float = 0.0, tol: float, must_converge: bool = True) -> None:
    """The result is feasible, has converged, and reports what comes out when it is computed again.

    `slack` bounds by how much the engine's kernel differs from the problem's.
    """
    now = unscaled(result)
    alpha, A_b = now.alpha, problem.equations()
    assert not must_converge or result["status"] in {"tol", "precision"}
    assert np.all((alpha >= 0) & (alpha <= problem.c * (1 + (problem.kind == "nu_svm") * SUM_TOL)))
    np.testing.assert_allclose(A_b[0] @ alpha, A_b[1], rtol=0, atol=SUM_TOL * problem.c.sum())

    off = score_slack(problem, alpha, slack)
    g = problem.scores(alpha)
    decision = g - now.margin if problem.kind == "one_class" else g + now.intercept
    np.testing.assert_allclose(now.decision, decision, rtol=0, atol=off)
    total = alpha.sum() + problem.c.sum()
    assert abs(now.objective - problem.dual(alpha)) <= off * alpha.sum()
    assert abs(now.gap - problem.gap(alpha, now.intercept, now.margin)) <= 2 * off * total
    assert now.gap >= 0
    # At an exact bound or next to it: with alpha divided by the margin the two cannot be told apart afterwards.
    if problem.kind != "nu_svm":
        assert abs(result["violation"] - problem.violation(alpha)) <= 2 * off
    if result["status"] == "tol":
        assert result["violation"] <= tol
    assert not must_converge or now.gap <= (tol + 100 * off) * total
