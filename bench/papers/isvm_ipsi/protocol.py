"""The protocol of section 5: rows to train with, to tune by and to test with, drawn anew in every replication."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from methods import METHODS, Method, Remembered
from sets import sample

import fastpu
from fastpu.datasets import split_case_control

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from sets import DataSet


@dataclass(frozen=True)
class Task:
    """One replication of a case of one data set."""

    data_set: DataSet
    folder: Path | None
    case: int
    seed: int
    prior: float
    n_rows: int
    grid_step: float
    n_weights: int


@dataclass(frozen=True)
class Tested:
    """What one method did in a replication: for each table its test error and its parameters, and the seconds."""

    error: dict[int, float]
    params: dict[int, dict[str, float]]
    seconds: float


def _hide(task: Task, y: NDArray[np.int8], rng: np.random.Generator) -> fastpu.datasets.PUSplit:
    """Draw as many rows as there are to train with, or to tune by, as many of them labelled as the case says."""
    n, n_labeled = task.data_set.n_train, task.data_set.n_labeled[task.case - 1]
    return split_case_control(y, labeled=n_labeled, unlabeled=n - n_labeled, stratify=False, random_state=rng)


def replicate(task: Task) -> dict[str, Tested]:
    """Return what each method did."""
    rng = np.random.default_rng([task.seed, task.case])
    X, y = sample(task.data_set, task.folder, task.n_rows, rng)
    train = _hide(task, y, rng)
    rest = train.test
    # Each table has a tuning set of its own among the other rows, and is tested on those that are left.
    labelled = rng.permutation(rest)[: task.data_set.n_train]
    hidden = _hide(task, y[rest], rng)
    tune: dict[int, dict[str, Any]] = {
        1: {"scoring": "error", "validation": (X[labelled], y[labelled])},
        2: {
            "scoring": "err_star",
            "validation": (X[rest[hidden.train]], hidden.y_train),
            "prior": task.prior,
        },
    }
    test = {1: np.setdiff1d(rest, labelled), 2: rest[hidden.test]}
    tested = {}
    for method in METHODS:
        fit = Remembered(method.function(task.seed))
        error, params, seconds = {}, {}, 0.0
        for table, options in tune.items():
            found = _select(fit, X[train.train], train.y_train, method, task, options)
            error[table] = float(np.mean(found.model.predict(X[test[table]]) != y[test[table]]))
            params[table] = dict(found.best_params)
            seconds += float(found.table["seconds"].sum())
        tested[method.name] = Tested(error, params, seconds)
    return tested


def _select(fit: Any, X: Any, y: Any, method: Method, task: Task, options: dict[str, Any]) -> fastpu.models.Selection:
    grid = method.grid(task.grid_step, task.n_weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the final fit: the table has it
        try:
            return fastpu.select(fit, X, y, grid, admit=["not_converged"], **options)
        except ValueError:  # a grid of degenerate models only: the paper's choice is one of them
            return fastpu.select(fit, X, y, grid, admit=["not_converged", "degenerate"], **options)
