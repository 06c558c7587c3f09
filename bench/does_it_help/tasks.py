"""The tasks: rows whose classes are known, of which some positive ones keep their label."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from shared import load, standardised

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

_FEWEST = 5  # labelled rows
_SIMULATED_ROWS = 20_000


@dataclass(frozen=True)
class Task:
    """Rows with the class of each, and how labels are lost.

    Attributes
    ----------
    about : what a reader is told.
    rows : makes rows, dense or CSR, and which of them are positive, from the folder of data.
    labelled_by : a column; its smallest values are labelled some twenty times as often as its largest ones. Without it,
        every positive row has the same chance.
    """

    about: str
    rows: Callable[[Path], tuple[Any, NDArray[np.bool_]]]
    labelled_by: int | None = None


@dataclass(frozen=True)
class Problem:
    """Training rows, which of them are labelled, by which column, and test rows. All others are unlabelled."""

    X: Any
    truth: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    X_test: Any
    truth_test: NDArray[np.bool_]
    labelled_by: int | None


def draw(
    X: Any, truth: NDArray[np.bool_], *, share: float, seed: int, max_rows: int, labelled_by: int | None
) -> Problem:
    """Return a problem: half of the rows to fit, at most `max_rows`, and as many or twice as many to test.

    The share `share` of the positive training rows is labelled, five at least. Dense columns are standardised by the
    training rows.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(truth.size)
    half = min(truth.size // 2, max_rows)
    train, test = order[:half], order[half : min(truth.size, 3 * half)]
    positives = np.flatnonzero(truth[train])
    n_labelled = max(_FEWEST, round(share * positives.size))
    if n_labelled >= positives.size:
        raise ValueError(f"more than {n_labelled} positive training rows are needed, there are {positives.size}")
    chance = np.ones(positives.size)
    if labelled_by is not None:
        rank = np.argsort(np.argsort(X[train[positives], labelled_by], kind="stable")) / positives.size
        chance = np.exp(-3 * rank)
    is_labelled = np.zeros(half, dtype=np.bool_)
    is_labelled[rng.choice(positives, n_labelled, replace=False, p=chance / chance.sum())] = True
    if isinstance(X, np.ndarray):
        X = standardised(X, X[train])
    return Problem(X[train], truth[train], is_labelled, X[test], truth[test], labelled_by)


def _table(name: str, positive: str) -> Callable[[Path], tuple[Any, NDArray[np.bool_]]]:
    return lambda folder: load(folder / f"{name}.csv.gz", positive)


def _pages(folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 (only where it is wanted)

    with gzip.open(folder / "webkb7.jsonl.gz", "rt") as file:
        pages = [json.loads(line) for line in file]
    words = TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform([page["text"] for page in pages])
    return words.tocsr(), np.array([page["label"] == "student" for page in pages])


def _screening(_: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return mixed columns, few of which matter, some only together with others; 5 % are positive."""
    rng = np.random.default_rng(20)
    n = _SIMULATED_ROWS
    normal = rng.standard_normal((n, 20))
    skewed = rng.exponential(size=(n, 10)) ** 2
    codes = rng.integers(0, 6, size=(n, 10)).astype(np.float64)
    signal = (
        0.9 * normal[:, 0] - 0.7 * normal[:, 1] + 1.2 * np.sign(normal[:, 2] * normal[:, 3])
        + 1.5 * (skewed[:, 0] > 2) * (normal[:, 4] > 0) + np.isin(codes[:, 0], (1, 4)) + 0.6 * np.log1p(skewed[:, 1])
    )  # fmt: skip
    noisy = 2 * signal + rng.logistic(size=n)
    return np.hstack([normal, skewed, codes]), noisy > np.quantile(noisy, 0.95)


def _two_normals(_: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return two normal classes with one covariance: a line is the best there is."""
    rng = np.random.default_rng(21)
    truth = rng.random(_SIMULATED_ROWS) < 0.3
    return rng.standard_normal((_SIMULATED_ROWS, 10)) + np.outer(truth, np.repeat([0.7, 0.0], 5)), truth


TASKS = {
    "spam": Task("word counts of mails, 39 % spam", _table("spambase", "spam")),
    "spam, not at random": Task(
        "the same; mails with few capitals are labelled most often", _table("spambase", "spam"), labelled_by=56
    ),
    "surgery": Task("24 mixed columns, 25 % with a complication", _table("surgical", "1")),
    "insurance": Task("10 mixed columns, 12 % buyers, noisy", _table("insurance_part44", "1")),
    "credit": Task("20 columns of codes and numbers, 30 % bad risks, 500 rows to fit", _table("credit-g", "bad")),
    "RNA": Task("8 smooth numbers, 33 % coding", _table("cod-rna", "1")),
    "letter A": Task("16 numbers of an image, 4 % of this letter", _table("letter", "A")),
    "ring": Task("20 normal numbers, one class around the other, 50 %", _table("ring", "0")),
    "rooms": Task("5 sensors, 21 % occupied", _table("occupancy_train", "1")),
    "pages": Task("text of web pages, 20 % by students", _pages),
    "screening": Task("simulated: 40 mixed columns, interactions, noise, 5 % positive", _screening),
    "tumours": Task("30 numbers that a line parts, 37 % malignant, 284 rows to fit", _table("wdbc", "malignant")),
    "two normals": Task("simulated: a line is the best there is, 30 % positive", _two_normals),
}
