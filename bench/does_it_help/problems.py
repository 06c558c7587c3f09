"""A task and the problems that are drawn of it: rows to fit, which of them are labelled, and rows to test on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Source = Callable[[Path], tuple[Any, NDArray[np.bool_]]]

_FEWEST = 5  # labelled rows, where a share of the positive ones is labelled


@dataclass(frozen=True)
class Task:
    """Rows with the class of each, and how labels are lost.

    Attributes
    ----------
    name, kind, about : what a reader is told.
    rows : makes rows, a frame or CSR, and which of them are positive, from the folder of the packages.
    labels : what is labelled: shares of the positive rows to fit, or numbers of them from 1 on.
    max_rows : of which half are to fit.
    labelled_by : a column; its smallest values are labelled some twenty times as often as its largest ones. Without it,
        every positive row has the same chance.
    later : the last half of the rows, as they come, is to test on.
    split_by : a column that names groups of rows; a group is either to fit or to test on, and no learner sees the name.
    fit_only : a column that is true for rows whose class nobody knows; they are to fit, as unlabelled rows.
    as_they_are : columns are numbers, and no learner gets them standardised.
    learners : who is judged here; () is everybody.
    chose_a_default : a default of this library was once chosen by this table.
    """

    name: str
    kind: str
    about: str
    rows: Source
    labels: tuple[float, ...] = (0.05, 0.3)
    max_rows: int = 20_000
    labelled_by: str | None = None
    later: bool = False
    split_by: str | None = None
    fit_only: str | None = None
    as_they_are: bool = False
    learners: tuple[str, ...] = ()
    chose_a_default: bool = False

    @property
    def table(self) -> str:
        """The table that tasks have in common."""
        return self.name.split(":")[0]


@dataclass(frozen=True)
class Problem:
    """Rows to fit, which of them are labelled, and rows to test on; all other rows to fit are unlabelled.

    `X` has the columns as they are, `Z` numbers alone: categories one-hot, missing entries filled with medians,
    columns standardised, all by the rows to fit and without their labels. CSR is left as it is in both.
    """

    X: Any
    X_test: Any
    Z: Any
    Z_test: Any
    truth: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    truth_test: NDArray[np.bool_]
    labelled_by: str | None


def draw(task: Task, X: Any, truth: NDArray[np.bool_], *, labels: float, seed: int) -> Problem | None:
    """Return a problem, or None where there are too few positive rows for so many labels.

    None as well where a share comes to a number of labels that the task has anyway: no problem counts twice.
    """
    rng = np.random.default_rng(seed)
    train, test = _halves(task, X, truth.size, rng)
    test = test[: 2 * task.max_rows]
    positives = np.flatnonzero(truth[train])
    n_labelled = int(labels) if labels >= 1 else max(_FEWEST, round(labels * positives.size))
    if n_labelled > 0.75 * positives.size or not 0 < truth[test].sum() < test.size:
        return None
    if labels < 1 and n_labelled in task.labels:
        return None
    chance = np.ones(positives.size)
    if task.labelled_by is not None:
        column = X[task.labelled_by].to_numpy()[train[positives]]
        chance = np.exp(-3 * np.argsort(np.argsort(column, kind="stable")) / positives.size)
    is_labelled = np.zeros(train.size, dtype=np.bool_)
    is_labelled[rng.choice(positives, n_labelled, replace=False, p=chance / chance.sum())] = True
    hidden = [name for name in (task.split_by, task.fit_only) if name is not None]
    rows, others = (X.drop(columns=hidden).iloc[part] if hasattr(X, "iloc") else X[part] for part in (train, test))
    Z, Z_test = (rows.to_numpy(), others.to_numpy()) if task.as_they_are else _numbers(rows, others)
    return Problem(rows, others, Z, Z_test, truth[train], is_labelled, truth[test], task.labelled_by)


def _halves(task: Task, X: Any, n: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of the rows to fit, at most half of `max_rows`, and of the others, each in random order."""
    most = task.max_rows // 2
    if task.later:
        half = n // 2
        return rng.permutation(half)[:most], half + rng.permutation(n - half)
    order = rng.permutation(n)
    if task.split_by is not None:
        names, of_row = np.unique(X[task.split_by].to_numpy(), return_inverse=True)
        is_fitted = np.isin(of_row[order], rng.permutation(names.size)[: names.size // 2])
        return order[is_fitted][:most], order[~is_fitted]
    if task.fit_only is not None:
        unknown = X[task.fit_only].to_numpy()[order]
        known = order[~unknown]
        return rng.permutation(np.concatenate([order[unknown], known[: known.size // 2]])), known[known.size // 2 :]
    half = min(n // 2, most)
    return order[:half], order[half:]


def _numbers(X: Any, X_test: Any) -> tuple[Any, Any]:
    from scipy.sparse import issparse  # noqa: PLC0415 (only where it is wanted)
    from sklearn.compose import make_column_selector, make_column_transformer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    if issparse(X):
        return X, X_test
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    prepare = make_pipeline(prepare, StandardScaler())
    return prepare.fit_transform(X), prepare.transform(X_test)
