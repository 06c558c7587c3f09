"""The protocol: labels hidden anew in every split, parameters by the PUF score of four folds, F1 on the test rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from methods import kernel_methods, linear_methods
from published import GAMMAS
from sets import read_set
from shared import standardised

import fastpu
from fastpu.datasets import make_trifurcate, split_case_control, split_single_set
from fastpu.metrics import f1

if TYPE_CHECKING:
    from pathlib import Path

    from methods import Method
    from numpy.typing import NDArray
    from sets import DataSet


@dataclass(frozen=True)
class Task:
    """A split of a simulated set (mean) or of a real one (data_set, folder, gamma)."""

    seed: int
    every: int
    mean: float | None = None
    data_set: DataSet | None = None
    folder: Path | None = None
    gamma: float = 0.5
    scale: str = "standard"
    refine: bool = True


@dataclass(frozen=True)
class Tested:
    """What a method did in a split: its F1 on the test rows, its parameters and the seconds."""

    f1: float
    params: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Split:
    """Rows to train with and their labels, and rows to test with and their true ones."""

    X: NDArray[np.float64]
    y: NDArray[np.int8]
    X_test: NDArray[np.float64]
    truth: NDArray[np.int8]
    prior: float
    scenario: str


def draw(task: Task) -> Split:
    """Return the rows of a split."""
    rng = np.random.default_rng([task.seed, round(1000 * task.gamma)])
    if task.mean is not None:
        X, truth = make_trifurcate(mean=task.mean, random_state=rng)
        found = split_single_set(truth, train=0.7, labeled=0.25, stratify=False, random_state=rng)
        scenario = "single_set"
    else:
        X, truth = read_set(task.data_set, task.folder)  # type: ignore[arg-type] # a task has the one or the other
        found = split_case_control(truth, labeled=GAMMAS[task.gamma], unlabeled=0.7, stratify=False, random_state=rng)
        scenario = "case_control"
        if task.scale == "standard":
            X = standardised(X, X[found.train])
    return Split(X[found.train], found.y_train, X[found.test], truth[found.test], found.prior, scenario)


def fit_split(split: Split, method: Method, seed: int, *, refine: bool = True) -> tuple[Any, dict[str, float]]:
    """Return the model of a method with the parameters that it is tuned to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # points of the grid that call all rows the same
        if method.grid is None:
            return method.fit(split.X, split.y), {}
        options = {"scoring": "puf", "cv": 4, "scenario": split.scenario, "random_state": seed}
        found = fastpu.select(method.fit, split.X, split.y, method.grid, admit=["not_converged", "degenerate"],
                              refine="greedy" if method.greedy and refine else None, **options)  # fmt: skip
        return found.model, dict(found.best_params)


def run_split(task: Task) -> dict[str, Tested]:
    """Return what each method did."""
    split = draw(task)
    if task.mean is not None:
        methods = linear_methods(task.every)
    else:
        methods = kernel_methods(task.every, split.prior, task.seed)
    tested = {}
    for method in methods:
        start = time.perf_counter()
        model, params = fit_split(split, method, task.seed, refine=task.refine)
        score = f1(split.truth, model.predict(split.X_test))
        tested[method.name] = Tested(score, params, time.perf_counter() - start)
    return tested
