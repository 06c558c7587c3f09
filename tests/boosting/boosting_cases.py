"""Problems and comparisons that the tests of the boosting functions share."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import fastpu
from fastpu.common._methods import function_of

#: Sums of up to a few thousand weights of one group, in any order, after some tens of rounds.
SUM_TOL = 1e-12

#: Scores and log J: a few hundred such sums added up.
SCORE_TOL = 1e-10

NAMES = ("fit_pnu_auc_boost", "fit_rankboost_auc", "fit_pnu_adaboost")
FITS = {name.removeprefix("fit_"): function_of(name) for name in NAMES}
each_fit = pytest.mark.parametrize("fit", FITS.values(), ids=FITS)

#: The learned arrays of a model, which have an entry for each round.
ARRAYS = ("features", "thresholds", "polarity", "alphas", "deltas", "z", "objective")

#: No wait in the tests takes longer than this unless something hangs.
HANG_SECONDS = 60.0

GROUPS = {"PNU": (1, 0, -1), "PU": (1, 0), "UN": (0, -1), "PN": (1, -1)}

COLUMN_KINDS = (
    "normal",
    "rounded",
    "binary",
    "copy",
    "constant",
    "missing",
    "all_missing",
    "infinite",
    "zeros",
    "tiny",
    "huge",
)


@dataclass(frozen=True)
class Problem:
    """A training set; `weights` is None or one weight a row, whole numbers or not, some of them zero."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None


def column(rng: np.random.Generator, kind: str, y: np.ndarray, earlier: list[np.ndarray]) -> np.ndarray:
    """One column of a kind that has broken, or could break, a stump search."""
    n = len(y)
    x = rng.normal(size=n) + rng.choice([0.0, 0.7]) * y
    if kind == "rounded":
        return np.round(2 * x) / 2
    if kind == "binary":
        return (x > 0).astype(np.float64)
    if kind == "copy" and earlier:
        return earlier[rng.integers(len(earlier))].copy()
    if kind == "constant":
        return np.full(n, rng.choice([0.0, -3.5]))
    if kind == "missing":
        return np.where(rng.random(n) < 0.3, np.nan, x)
    if kind == "all_missing":
        return np.full(n, np.nan)
    if kind == "infinite":
        x[rng.random(n) < 0.15] = np.inf
        x[rng.random(n) < 0.15] = -np.inf
        x[rng.random(n) < 0.1] = np.nan
        return x
    if kind == "zeros":  # negative and positive values, so that the zeros sit in the middle
        return np.where(rng.random(n) < 0.7, 0.0, np.round(3 * x))
    if kind == "tiny":  # subnormal in float64; all of them zero in float32
        return np.round(2 * x) * 5e-324
    if kind == "huge":  # the sum of two neighbours overflows
        return np.clip(np.round(x), -2, 2) * 0.8e308
    return x


def make_problem(
    rng: np.random.Generator,
    *,
    n: int,
    d: int,
    groups: str = "PNU",
    weighted: str | None = None,
    kinds: tuple[str, ...] = COLUMN_KINDS,
) -> Problem:
    """Random labels and columns.

    `weighted` is None, "whole" (0 to 3) or "real" (multiples of 1/16, so that sums are exact).
    """
    present = GROUPS[groups]
    y = rng.choice(present, size=n).astype(np.int8)
    y[: len(present)] = present
    columns: list[np.ndarray] = []
    for _ in range(d):
        columns.append(column(rng, str(rng.choice(kinds)), y, columns))
    weights = None
    if weighted is not None:
        weights = rng.integers(0, 4, size=n).astype(np.float64)
        if weighted == "real":
            weights = rng.integers(0, 40, size=n) / 16.0
        weights[: len(present)] = 1.0
    order = rng.permutation(n)
    X = np.ascontiguousarray(np.column_stack(columns)[order])
    return Problem(X, y[order], None if weights is None else weights[order])


def draw_options(rng: np.random.Generator) -> dict[str, object]:
    """gamma, rho and step at random over the values that matter."""
    return {
        "gamma": float(rng.choice([0.0, 0.3, 0.95, 1.0])),
        "rho": float(rng.choice([0.0, 0.01, 0.1])),
        "step": "line_search" if rng.random() < 0.3 else "jensen",
    }


def to_csr(X: np.ndarray, *, explicit_zeros: bool = False) -> sp.csr_matrix:
    """The same values in CSR; NaN and inf are stored, zeros too where asked for."""
    matrix = sp.csr_matrix(X)
    if explicit_zeros and X.size:
        full = sp.csr_matrix(np.ones_like(X))
        full.data = X.ravel().copy()
        return full
    return matrix


def in_float32(X: np.ndarray) -> np.ndarray:
    """X as float32, overflow to inf included."""
    with np.errstate(over="ignore", under="ignore"):
        return X.astype(np.float32)


def warns_if_empty(oracle) -> AbstractContextManager:
    """A fit without a single stump warns, any other is silent."""
    return (
        nullcontext() if len(oracle.features) else pytest.warns(fastpu.exceptions.DegenerateModelWarning, match="empty")
    )


def assert_identical(model, other) -> None:
    """Bit for bit the same model."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    assert model.threshold == other.threshold


def assert_same_stumps(model, oracle) -> None:
    """Exactly the same (feature, threshold, polarity) in every round."""
    np.testing.assert_array_equal(model.features, oracle.features)
    np.testing.assert_array_equal(model.polarity, oracle.polarity)
    np.testing.assert_array_equal(model.thresholds, oracle.thresholds)


def assert_same_run(model, oracle) -> None:
    """The same stumps, and Delta, alpha, Z and log J up to rounding."""
    assert_same_stumps(model, oracle)
    if len(oracle.features):
        assert_same_numbers(model, oracle)


def assert_same_numbers(model, oracle) -> None:
    """Delta, alpha, Z and log J of the same stumps are the same up to rounding."""
    deltas = np.asarray(oracle.deltas)
    np.testing.assert_allclose(model.deltas, deltas, rtol=0, atol=SUM_TOL)
    # An error of Delta grows by 1 / (1 - Delta^2) in alpha = atanh(Delta) - atanh(rho), one of W- by about
    # cosh(alpha)^2 in the line search: 5e5 at the cap.
    alphas = np.asarray(oracle.alphas)
    growth = np.maximum(1 / (1 - np.minimum(deltas, 1 - 1e-6) ** 2), np.cosh(alphas) ** 2)
    np.testing.assert_array_less(np.abs(np.asarray(model.alphas) - alphas), SUM_TOL * growth)
    np.testing.assert_allclose(model.z, oracle.z, rtol=SCORE_TOL, atol=SUM_TOL)
    np.testing.assert_allclose(model.objective, oracle.objective, rtol=SCORE_TOL, atol=SCORE_TOL)


def run_together(members, lead):
    """Return what `lead` returns as the driver of a fit, whose other members are functions of `exchange` in threads."""
    from fastpu.dask._members import Meeting, take_part
    from fastpu.dask._worker_rows import WorkerRows

    key, nobody = b"key", WorkerRows(None, np.empty(0, np.int8), None)
    meeting = Meeting(len(members), key)
    answers = deque()

    def follow(*_):
        if not answers:
            answers.extend(asyncio.run(meeting.answers()))
        if not answers:
            raise EOFError
        return answers.popleft()

    with ThreadPoolExecutor(len(members)) as pool:
        others = [
            pool.submit(
                take_part, nobody, meeting.address(), place, key, lambda _, exchange, __, m=member: m(exchange), 1
            )
            for place, member in enumerate(members)
        ]
        try:
            with suppress(EOFError):
                return lead(follow)
        finally:
            meeting.end()
    raise next(error for other in others if (error := other.exception()) is not None)
