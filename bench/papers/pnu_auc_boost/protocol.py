"""The protocol of section 5.3: random splits, selection on the mean validation AUC, the mean test AUC."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from methods import METHODS, Labelled, Method, Params, Split
from shared import DataError, read_labelled, run_tasks

from fastpu.datasets import split_pnu

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


@lru_cache(maxsize=1)
def load(path: Path, positive: str | None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the features of a set and its labels, +1 and -1."""
    X, labels = read_labelled(path)
    names, counts = np.unique(labels, return_counts=True)
    positive = str(names[np.argmin(counts)]) if positive is None else positive
    if names.size != 2 or positive not in names:
        raise DataError(f"{path}: there must be {positive!r} and one other label, got {', '.join(names)}")
    return X, np.where(labels == positive, np.int8(1), np.int8(-1))


@dataclass(frozen=True)
class Task:
    """One split of one data set."""

    path: Path
    positive: str | None
    seed: int
    n_rounds: int


def bins_of(n_train: int) -> int | None:
    """Return how many quantiles of a feature are searched with so many training rows; None for every threshold."""
    return None if n_train <= 20_000 else 255


@dataclass(frozen=True)
class Choice:
    """The parameters that a method was given on a data set, and how it did.

    Attributes
    ----------
    params : dict
        Parameters, `n_rounds` included if the method has rounds.
    valid, test : ndarray of shape (n_splits,)
        AUC of every split.
    """

    params: Params
    valid: NDArray[np.float64]
    test: NDArray[np.float64]


@lru_cache(maxsize=1)
def _split(task: Task) -> Split:
    X, y = load(task.path, task.positive)
    rows = split_pnu(y, random_state=task.seed)
    seen = rows.y_train != 0
    return Split(
        train=Labelled(X[rows.train], rows.y_train),
        train_labelled=Labelled(X[rows.train[seen]], rows.y_train[seen]),
        valid=Labelled(X[rows.valid], y[rows.valid]),
        test=Labelled(X[rows.test], y[rows.test]),
        prior=float(np.mean(y[rows.train[~seen]] > 0)),
        n_rounds=task.n_rounds,
        max_bins=bins_of(rows.train.size),
    )


@lru_cache(maxsize=len(METHODS))
def _prepared(column: str, task: Task) -> Any:
    return _method(column).prepare(_split(task))


def _method(column: str) -> Method:
    return next(method for method in METHODS if method.column == column)


def _curve(task: Task, column: str, params: Params, judge: str) -> NDArray[np.float64]:
    split = _split(task)
    method = _method(column)
    rows: Labelled = getattr(split, judge)
    return np.asarray(method.curve(_prepared(column, task), split, params, rows))


def _validation(task: Task) -> list[NDArray[np.float64]]:
    """Return the validation curves of every method: shape (n_params, n_rounds)."""
    return [np.stack([_curve(task, m.column, params, "valid") for params in m.grid]) for m in METHODS]


def _test(task: Task, chosen: Sequence[tuple[str, Params, int]]) -> list[float]:
    return [float(_curve(task, column, params, "test")[stage]) for column, params, stage in chosen]


@dataclass(frozen=True)
class Protocol:
    """The splits, by their seeds, and how they are run."""

    seeds: Sequence[int]
    n_rounds: int
    jobs: int


def choose(protocol: Protocol, path: Path, positive: str | None, name: str) -> dict[str, Choice]:
    """Choose each method's parameters on a data set, and judge them."""
    tasks = [Task(path, positive, seed, protocol.n_rounds) for seed in protocol.seeds]
    curves = run_tasks(_validation, tasks, protocol.jobs, name)
    chosen, valid = [], []
    for i, method in enumerate(METHODS):
        by_split = np.stack([result[i] for result in curves])
        mean = by_split.mean(axis=0)
        # The first of the best: the fewest rounds of the first parameters.
        which, stage = (int(k) for k in np.unravel_index(np.argmax(mean), mean.shape))
        chosen.append((method.column, method.grid[which], stage))
        valid.append(by_split[:, which, stage])
    test = np.array(run_tasks(partial(_test, chosen=chosen), tasks, protocol.jobs, name))
    choices = {}
    for i, (column, params, stage) in enumerate(chosen):
        has_rounds = curves[0][i].shape[1] > 1
        choices[column] = Choice(params | ({"n_rounds": stage + 1} if has_rounds else {}), valid[i], test[:, i])
    return choices


def describe(params: Params) -> str:
    """Return parameters as a table shows them."""
    short = {"gamma": "g", "n_rounds": "T"}
    return " ".join(f"{short.get(name, name)}={value:g}" for name, value in params.items())
