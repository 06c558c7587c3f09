"""The problems of the comparison: rows of a data set, some of the positive ones labelled, and rows to test on."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: set -> the label of its positive class; all others are negative.
SETS = {
    "letter": "A",
    "spambase": "spam",
    "pima": "positive",
    "wdbc": "malignant",
    "cod-rna": "1",
    "surgical": "1",
    "credit-g": "bad",
    "vehicle0": "positive",
}
SCALINGS = ("standardised", "raw")
_FEWEST = 5  # labelled rows


@dataclass(frozen=True)
class Problem:
    """Training rows with the truth and which of them are labelled, and test rows.

    The unlabelled rows are all training rows without a label.
    """

    X: NDArray[np.float64]
    truth: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    X_test: NDArray[np.float64]
    truth_test: NDArray[np.bool_]

    @property
    def prior(self) -> float:
        """The share of positives among the unlabelled rows."""
        return float(self.truth[~self.is_labelled].mean())


def load(path: Path, positive: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the features of a set and which rows are positive."""
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    values, labels = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    truth = np.array(labels) == positive
    if header.rsplit(",", 1)[-1] != "label" or truth.all() or not truth.any():
        raise ValueError(f"{path.name} must have a last column 'label' with {positive!r} and others in it")
    return np.loadtxt(values, delimiter=",", ndmin=2), truth


def draw(
    X: NDArray[np.float64], truth: NDArray[np.bool_], *, scaling: str, share: float, seed: int, max_rows: int
) -> Problem:
    """Return a problem: half of the rows to fit, the others to test, at most `max_rows` of each.

    A share `share` of the positive training rows is labelled. Features are standardised by the training rows, or raw.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(truth.size)
    half = min(truth.size // 2, max_rows)
    train, test = order[:half], order[half : 2 * half]
    positives = np.flatnonzero(truth[train])
    n_labelled = max(_FEWEST, round(share * positives.size))
    if n_labelled >= positives.size:
        raise ValueError(f"needs more than {n_labelled} positive training rows, got {positives.size}")
    is_labelled = np.zeros(half, dtype=np.bool_)
    is_labelled[positives[:n_labelled]] = True
    if scaling == "standardised":
        spread = X[train].std(axis=0)
        X = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return Problem(X[train], truth[train], is_labelled, X[test], truth[test])
