"""The tables that losses, leaves and bags are judged on: those of the forest, and simulated ones that are noisy.

A task makes rows, dense or a frame with categories, and which of them are positive; `draw_task` makes a problem of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from quality import SETS
from shared import Problem, draw, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Rows = tuple[Any, NDArray[np.bool_]]

_N = 20_000


@dataclass(frozen=True)
class Task:
    """Rows with the class of each; `mislabelled` is the share of negatives among the rows that have a label."""

    about: str
    rows: Callable[[], Rows]
    mislabelled: float = 0.0


def _positive(rng: np.random.Generator, log_odds: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    noisy = log_odds + rng.logistic(size=log_odds.size)
    return noisy > np.quantile(noisy, 1 - share)


def _noise_columns() -> Rows:
    rng = np.random.default_rng(31)
    X = rng.standard_normal((_N, 60))
    return X, _positive(rng, 2 * X[:, 0] + 1.5 * np.abs(X[:, 1]) - X[:, 2] + X[:, 3] * (X[:, 4] > 0), 0.3)


def _interactions() -> Rows:
    rng = np.random.default_rng(32)
    X = rng.standard_normal((_N, 12))
    pairs = np.sign(X[:, 0] * X[:, 1]) + np.sign(X[:, 2] * X[:, 3])
    return X, _positive(rng, 1.5 * pairs + 0.7 * X[:, 4], 0.3)


def _rare() -> Rows:
    rng = np.random.default_rng(33)
    X = np.hstack([rng.standard_normal((_N, 10)), rng.exponential(size=(_N, 10)) ** 2])
    return X, _positive(rng, 2 * X[:, 0] - 2 * X[:, 1] + 3 * (X[:, 10] > 2) * (X[:, 2] > 0) + np.log1p(X[:, 11]), 0.04)


def _mislabelled() -> Rows:
    rng = np.random.default_rng(34)
    X = rng.standard_normal((_N, 15))
    return X, _positive(rng, 3 * X[:, 0] + 2 * X[:, 1] * X[:, 2] + 2 * (X[:, 3] > 1), 0.35)


def _categories(n_categories: int) -> Rows:
    """Return two columns of categories that matter, two that do not, and four of numbers, one of which matters."""
    import pandas as pd  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(35)
    codes = rng.integers(0, n_categories, size=(_N, 4))
    numbers = rng.standard_normal((_N, 4))
    effects = rng.standard_normal((2, n_categories))
    log_odds = 1.5 * effects[0, codes[:, 0]] + effects[1, codes[:, 1]] + numbers[:, 0]
    columns = {f"c{k}": pd.Categorical(codes[:, k], categories=range(n_categories)) for k in range(4)}
    frame = pd.DataFrame(columns | {f"x{k}": numbers[:, k] for k in range(4)})
    return frame, _positive(rng, log_odds, 0.3)


_SIMULATED: Mapping[str, Task] = {
    "noise columns*": Task("55 of 60 columns tell nothing, 30 % positive", _noise_columns),
    "interactions*": Task("the signs of two products of columns, 30 % positive", _interactions),
    "rare*": Task("20 mixed columns, 4 % positive", _rare),
    "mislabelled*": Task("15 columns, a fifth of the labelled rows is negative", _mislabelled, mislabelled=0.2),
    "5 categories*": Task("4 columns of 5 categories, two of which matter, 30 % positive", partial(_categories, 5)),
    "50 categories*": Task("4 columns of 50 categories, two of which matter, 30 % positive", partial(_categories, 50)),
}


def tasks(folder: str | None) -> dict[str, Task]:
    """Return the simulated tables, and before them the fifteen tables of forest.py if there is a folder of them."""
    real = {
        name: Task(f"class {positive}", partial(load, Path(folder) / f"{name}.csv.gz", positive))
        for name, positive in (SETS.items() if folder else ())
    }
    return {**real, **_SIMULATED}


def draw_task(task: Task, X: Any, truth: NDArray[np.bool_], *, share: float, seed: int, max_rows: int) -> Problem:
    """Return a problem: half of the rows to fit, the others to test; columns stay as they are."""
    places = np.arange(truth.size, dtype=np.float64)[:, None]
    problem = draw(places, truth, scaling="raw", share=share, seed=seed, max_rows=max_rows)
    is_labelled = problem.is_labelled.copy()
    labelled, negative = np.flatnonzero(is_labelled), np.flatnonzero(~problem.truth)
    n_wrong = round(task.mislabelled * labelled.size)
    is_labelled[labelled[:n_wrong]] = False
    is_labelled[np.random.default_rng(seed).choice(negative, n_wrong, replace=False)] = True
    chosen = [places[:, 0].astype(np.intp) for places in (problem.X, problem.X_test)]
    train, test = (X[rows] if isinstance(X, np.ndarray) else X.iloc[rows] for rows in chosen)
    return Problem(train, problem.truth, is_labelled, test, problem.truth_test)


def numbers(X: Any) -> NDArray[np.float64]:
    """Return the rows as an array: categories by their numbers."""
    if isinstance(X, np.ndarray):
        return X
    columns = [X[name].cat.codes if X[name].dtype == "category" else X[name] for name in X.columns]
    return np.column_stack(columns).astype(np.float64)
