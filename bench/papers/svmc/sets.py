"""The data sets of the SVMC paper: rows scaled as its kernels want them, and which rows are positive."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from shared import DataError, read_labelled, standardised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

Features = Any  # ndarray of float64, or csr_array of float64
_MIN_DOCUMENTS = 3  # a word that fewer texts have is left out


@dataclass(frozen=True)
class DataSet:
    """One class of a data set against the others.

    Its scaling is "unit" (to [0, 1]), "standard" (mean 0, deviation 1) or "tf-idf" (words of a text); `kernel` is that
    of both stages, and C the cost of the second.
    """

    name: str
    file: str
    positive: str
    scaling: str
    kernel: Mapping[str, Any]
    C: float


def _rbf(gamma: float) -> dict[str, Any]:
    return {"kernel": "rbf", "gamma": gamma}


DATA_SETS = (
    *(DataSet(f"letter-{letter}", "letter.csv.gz", letter, "unit", _rbf(1), 100.0) for letter in "ABCDE"),
    DataSet("wisconsin", "wisconsin.csv.gz", "positive", "unit", _rbf(1 / 9), 1.0),
    DataSet("wdbc", "wdbc.csv.gz", "malignant", "standard", _rbf(1 / 30), 1.0),
    DataSet("course", "webkb7.jsonl.gz", "course", "tf-idf", {"kernel": "linear"}, 10.0),
    DataSet("faculty", "webkb7.jsonl.gz", "faculty", "tf-idf", {"kernel": "linear"}, 10.0),
    DataSet("student", "webkb7.jsonl.gz", "student", "tf-idf", {"kernel": "linear"}, 10.0),
)


def load(folder: Path, data_set: DataSet) -> tuple[Features, NDArray[np.int8]]:
    """Return the features of a set and its labels, +1 and -1."""
    X, labels = _scaled(folder / data_set.file, data_set.scaling)
    positive = labels == data_set.positive
    if not positive.any() or positive.all():
        names = ", ".join(np.unique(labels))
        raise DataError(f"{data_set.file}: some rows must be {data_set.positive!r} and some not, got {names}")
    return X, np.where(positive, np.int8(1), np.int8(-1))


@lru_cache(maxsize=1)  # the letters share their file, and so do the classes of pages
def _scaled(path: Path, scaling: str) -> tuple[Features, NDArray[np.str_]]:
    if scaling == "tf-idf":
        texts, labels = read_texts(path)
        return tf_idf(texts), labels
    X, labels = read_labelled(path)
    if scaling == "standard":
        return standardised(X, X), labels
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), labels


def read_texts(path: Path) -> tuple[list[str], NDArray[np.str_]]:
    """Return the texts and labels of a file of JSON lines, texts without words left out."""
    with gzip.open(path, "rt") as file:
        pages = [json.loads(line) for line in file]
    pages = [page for page in pages if page["text"].split()]
    return [page["text"] for page in pages], np.array([page["label"] for page in pages])


def tf_idf(texts: Iterable[str]) -> sp.csr_array:
    """Return rows of length 1: 1 + log of how often a word occurs, times log of how few texts have it."""
    vocabulary: dict[str, int] = {}
    indices: list[int] = []
    indptr = [0]
    for text in texts:
        indices += [vocabulary.setdefault(word, len(vocabulary)) for word in text.split()]
        indptr.append(len(indices))
    structure = (np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32))
    counts = sp.csr_array((np.ones(len(indices)), *structure), shape=(len(indptr) - 1, len(vocabulary)))
    counts.sum_duplicates()
    n_texts = np.bincount(counts.indices, minlength=len(vocabulary))
    kept = np.flatnonzero(n_texts >= min(_MIN_DOCUMENTS, counts.shape[0]))
    X = counts[:, kept]
    X.data = (1 + np.log(X.data)) * (1 + np.log((1 + X.shape[0]) / (1 + n_texts[kept])))[X.indices]
    length = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(X.indptr))
    X.sort_indices()
    return X
