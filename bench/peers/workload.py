"""The rows that all libraries are timed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_FEATURES", "Rows", "classes", "make_rows"]

N_FEATURES = 50
_LABELLED = 0.15  # share of the rows whose label is known
_SUMMED = slice(0, None, 10)  # every tenth feature adds to the score,
_STEP = 5  # and the sign of this one
_CHUNK = 65536  # rows drawn at a time: no temporary array of the size of the data


@dataclass(frozen=True)
class Rows:
    """Features, true labels (+1, -1) and the labels that training sees (+1, 0, -1)."""

    X: NDArray[np.float32]
    truth: NDArray[np.int8]
    y: NDArray[np.int8]

    @property
    def positive(self) -> NDArray[np.int8]:
        """Labels for a library that knows two classes: 1 labelled positive, 0 all others."""
        return (self.y > 0).astype(np.int8)


def make_rows(n: int, *, seed: int = 0) -> Rows:
    """Return n rows of normal features, positive where five of them, the sign of a sixth and noise sum above 0."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, N_FEATURES), dtype=np.float32)
    truth = np.empty(n, dtype=np.int8)
    y = np.empty(n, dtype=np.int8)
    for start in range(0, n, _CHUNK):
        part = X[start : start + _CHUNK]
        rng.standard_normal(out=part, dtype=np.float32)
        rows = slice(start, start + len(part))
        score = part[:, _SUMMED].sum(axis=1) + np.sign(part[:, _STEP]) + rng.standard_normal(len(part))
        truth[rows] = np.where(score > 0, 1, -1)
        y[rows] = np.where(rng.random(len(part)) < _LABELLED, truth[rows], 0)
    return Rows(X, truth, y)


def classes(n: int, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return n rows, ten features of which are informative, in three clusters a class, and labels +1 and -1."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only where it is wanted)

    X, y = make_classification(
        n, n_features, n_informative=10, n_redundant=0, n_clusters_per_class=3, class_sep=1.2, flip_y=0.02,
        random_state=0,
    )  # fmt: skip
    return X, np.where(y > 0, np.int8(1), np.int8(-1))
