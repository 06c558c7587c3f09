"""The protocol of section 5.3: random splits, selection on the mean validation AUC, the mean test AUC."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from methods import METHODS, Labelled, Method, Params, Split
from published import load

from fastpu.datasets import split_pnu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Choice", "Curves", "Evaluation", "Task", "describe"]

_load = lru_cache(maxsize=1)(load)


@dataclass(frozen=True)
class Task:
    """One split of one data set."""

    path: Path
    positive: str | None
    seed: int
    n_rounds: int
    max_bins: int | None
    exact_rows: int


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


@dataclass(frozen=True)
class Curves:
    """AUC of the chosen parameters after each round, shape (n_splits, n_rounds)."""

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    n_rounds: int


@lru_cache(maxsize=1)
def _split(task: Task) -> Split:
    X, y = _load(task.path, task.positive)
    rows = split_pnu(y, random_state=task.seed)
    seen = rows.y_train != 0
    return Split(
        train=Labelled(X[rows.train], rows.y_train),
        train_labelled=Labelled(X[rows.train[seen]], rows.y_train[seen]),
        valid=Labelled(X[rows.valid], y[rows.valid]),
        test=Labelled(X[rows.test], y[rows.test]),
        prior=float(np.mean(y[rows.train[~seen]] > 0)),
        n_rounds=task.n_rounds,
        max_bins=None if rows.train.size <= task.exact_rows else task.max_bins,
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


def _figure_2(task: Task, params: Params) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    column = METHODS[0].column
    return _curve(task, column, params, "train_labelled"), _curve(task, column, params, "test")


class Evaluation:
    """Runs the protocol, split by split, on some processes."""

    def __init__(self, *, n_splits: int, n_rounds: int, seed: int, max_bins: int, exact_rows: int, jobs: int) -> None:
        self._seeds = range(seed, seed + n_splits)
        self._fixed = {"n_rounds": n_rounds, "max_bins": max_bins, "exact_rows": exact_rows}
        self._pool = ProcessPoolExecutor(jobs) if jobs > 1 else None

    def __enter__(self) -> Evaluation:  # noqa: PYI034 (Self is newer than Python 3.10)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _each_split(
        self, work: Callable[[Task], Any], path: Path, positive: str | None, progress: Callable[[int], None]
    ) -> list[Any]:
        tasks = [Task(path=path, positive=positive, seed=seed, **self._fixed) for seed in self._seeds]
        results = []
        for result in map(work, tasks) if self._pool is None else self._pool.map(work, tasks):
            results.append(result)
            progress(len(results))
        return results

    def run(
        self, path: Path, positive: str | None, progress: Callable[[int], None] = lambda _: None
    ) -> dict[str, Choice]:
        """Choose each method's parameters on a data set and judge them. Calls `progress` after each split."""
        curves = self._each_split(_validation, path, positive, progress)
        chosen = []
        valid = []
        for i, method in enumerate(METHODS):
            by_split = np.stack([result[i] for result in curves])
            mean = by_split.mean(axis=0)
            # The first of the best: the fewest rounds of the first parameters.
            which, stage = (int(k) for k in np.unravel_index(np.argmax(mean), mean.shape))
            chosen.append((method.column, method.grid[which], stage))
            valid.append(by_split[:, which, stage])
        test = np.array(self._each_split(partial(_test, chosen=chosen), path, positive, lambda _: None))
        choices = {}
        for i, (column, params, stage) in enumerate(chosen):
            has_rounds = curves[0][i].shape[1] > 1
            choices[column] = Choice(params | ({"n_rounds": stage + 1} if has_rounds else {}), valid[i], test[:, i])
        return choices

    def curves(self, path: Path, positive: str | None, choice: Choice) -> Curves:
        """Return the AUC against the rounds with the chosen parameters: Figure 2."""
        params = {name: value for name, value in choice.params.items() if name != "n_rounds"}
        results = self._each_split(partial(_figure_2, params=params), path, positive, lambda _: None)
        train, test = (np.stack(parts) for parts in zip(*results, strict=True))
        return Curves(train, test, int(choice.params["n_rounds"]))


def describe(params: Params) -> str:
    """Return parameters as a table shows them."""
    short = {"gamma": "g", "n_rounds": "T"}
    return " ".join(f"{short.get(name, name)}={value:g}" for name, value in params.items())
