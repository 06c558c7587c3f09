"""Rows and fits that several tests of boosting share."""

from __future__ import annotations

import numpy as np
import pytest

from boosting_cases import make_problem


@pytest.fixture(scope="module")
def large() -> tuple[np.ndarray, np.ndarray]:
    """Rows enough that every loop is cut into several blocks."""
    problem = make_problem(np.random.default_rng(1), n=30_000, d=8, kinds=("normal", "rounded", "zeros", "missing"))
    return problem.X, problem.y


@pytest.fixture(scope="module")
def wide() -> tuple[np.ndarray, np.ndarray]:
    """Bins enough that the search itself is shared out."""
    problem = make_problem(np.random.default_rng(6), n=12_000, d=36, kinds=("normal", "normal", "zeros", "missing"))
    return problem.X, problem.y


@pytest.fixture(scope="module")
def endless() -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """A fit that would run for minutes: nothing but the caller ends it."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20_000, 10)), rng.choice([1, 0, -1], size=20_000)
    return X, y, {"n_rounds": 1_000_000, "stop_tol": 0.0, "rho": 0.0}
