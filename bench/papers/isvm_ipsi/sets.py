"""The data of the ISVM paper: two simulated examples, and two sets of UCI with either class absent from the labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from shared import DataError, read_labelled, standardised

from fastpu.datasets import make_four_normals, make_two_normals

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class DataSet:
    """A column of the tables.

    A simulated one is drawn by `make`, a real one read from `file`; `negative` is the class in it that is absent from
    the labels ("novelty"). `n_train` rows are to train with and as many to tune by, `n_labeled` of them labelled in the
    two cases. `bayes` is the Bayes error where it is known. Features that are skewed are long-tailed frequencies, of
    which the logarithm of 1 + x is taken first. `note` says how the set differs from the paper's.
    """

    name: str
    n_train: int
    n_labeled: tuple[int, int]
    make: Callable[..., tuple[NDArray[np.float64], NDArray[np.int8]]] | None = None
    file: str = ""
    negative: str = ""
    bayes: float | None = None
    is_skewed: bool = False
    note: str = ""


_SPAM = "the paper does not say how features are scaled; here log(1 + x) is standardised"
_EXAMPLE_2 = "a stand-in with the Bayes error that the paper prints, whose definition is not known"
_HEART = (
    "Statlog's 270 rows, 70 of them to test with; the paper has the 297 complete rows of Cleveland and tests with 97"
)

DATA_SETS = (
    DataSet("example-1", 100, (5, 10), make=make_two_normals, bayes=0.15866),
    DataSet("example-2", 100, (5, 10), make=make_four_normals, bayes=0.08900, note=_EXAMPLE_2),
    DataSet("heart-absent", 100, (5, 10), file="heart_statlog.csv.gz", negative="absence", note=_HEART),
    DataSet("heart-present", 100, (5, 10), file="heart_statlog.csv.gz", negative="presence", note=_HEART),
    DataSet("spam-no", 200, (10, 20), file="spambase.csv.gz", negative="nonspam", is_skewed=True, note=_SPAM),
    DataSet("spam-yes", 200, (10, 20), file="spambase.csv.gz", negative="spam", is_skewed=True, note=_SPAM),
)


def sample(
    data_set: DataSet, folder: Path | None, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return rows and true labels of a set: n fresh rows, or all of a real set, each feature standardised over them."""
    if data_set.make is not None:
        return data_set.make(n, random_state=rng)
    X, labels = _read(folder / data_set.file, data_set.is_skewed)  # type: ignore[operator] (what is not made has one)
    names = np.unique(labels)
    if names.size != 2 or data_set.negative not in names:
        raise DataError(f"{data_set.file}: rows must be {data_set.negative!r} or one other, got {', '.join(names)}")
    return X, np.where(labels == data_set.negative, np.int8(-1), np.int8(1))


@lru_cache(maxsize=2)
def _read(path: Path, is_skewed: bool) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    X, labels = read_labelled(path)
    if is_skewed:
        X = np.log1p(X)
    return standardised(X, X), labels
