"""The rows that all libraries are timed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def _embeddings(n: int, rng: np.random.Generator) -> tuple[Any, NDArray[np.float32]]:
    """Return 768 columns float32: 32 hidden numbers in all of them, and noise; the score is the first hidden number."""
    hidden = rng.standard_normal((n, 32), dtype=np.float32)
    mixing = rng.standard_normal((32, 768), dtype=np.float32) / 6
    return hidden @ mixing + rng.standard_normal((n, 768), dtype=np.float32), hidden[:, 0]


def _fingerprints(n: int, rng: np.random.Generator) -> tuple[Any, NDArray[np.float32]]:
    """Return 2,048 binary columns in CSR, of which a row has 90 and some columns most; every 20th adds to the score."""
    from scipy import sparse  # noqa: PLC0415 (only where it is wanted)

    shares = 0.5 * rng.beta(0.3, 3.0, 2048)
    rows = [sparse.csr_array(rng.random((min(5000, n - start), 2048), dtype=np.float32) < shares, dtype=np.float32)
            for start in range(0, n, 5000)]  # fmt: skip
    X = sparse.csr_matrix(sparse.vstack(rows))
    return X, X[:, ::20] @ rng.standard_normal(103, dtype=np.float32)


def labelled(table: str, n: int, n_pos: int) -> tuple[Any, NDArray[np.int8]]:
    """Return "normal" rows, "embeddings" or "fingerprints", of which n_pos of the positive ones are labelled."""
    rng = np.random.default_rng(0)
    if table == "normal":
        rows = make_rows(n)
        X, truth = rows.X, rows.truth > 0
    else:
        X, score = {"embeddings": _embeddings, "fingerprints": _fingerprints}[table](n, rng)
        truth = score > np.quantile(score, 0.8)
    y = np.zeros(n, np.int8)
    y[rng.permutation(np.flatnonzero(truth))[:n_pos]] = 1
    return X, y


def classes(n: int, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return n rows, ten features of which are informative, in three clusters a class, and labels +1 and -1."""
    from sklearn.datasets import make_classification  # noqa: PLC0415 (only where it is wanted)

    X, y = make_classification(
        n, n_features, n_informative=10, n_redundant=0, n_clusters_per_class=3, class_sep=1.2, flip_y=0.02,
        random_state=0,
    )  # fmt: skip
    return X, np.where(y > 0, np.int8(1), np.int8(-1))
