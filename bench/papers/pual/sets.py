"""The data of the PUAL paper: simulated positives on both sides of the negatives, and small sets of UCI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from shared import DataError, read_labelled

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True)
class DataSet:
    """A line of Table 2.

    `positive` and `negative` name their labels, each with how many rows of it, the first ones in the file (0: all). The
    first `skip` rows of the file and the columns `drop` are left out; `note` says what the paper leaves open.
    """

    name: str
    file: str
    positive: tuple[tuple[str, int], ...]
    negative: tuple[tuple[str, int], ...]
    skip: int = 0
    drop: tuple[int, ...] = ()
    note: str = ""


_FIRST = "the first rows of each class, as the paper does not say which"
_HEADER = "its first row is left out: that gives the paper's counts, and reads like a header taken for one"

DATA_SETS = (
    DataSet("ENB", "enb.csv.gz", (("2", 0),), (("3", 0),), note="X8 is the label: of two columns that may be meant"),
    DataSet("HD", "heart_statlog.csv.gz", (("absence", 0),), (("presence", 0),), skip=1, note=_HEADER),
    DataSet("Pen", "pen.csv.gz", (("1", 200), ("8", 200)), (("4", 400),), note=_FIRST),
    DataSet("LD", "liver.csv.gz", (("1", 0),), (("2", 0),), skip=1, note=_HEADER),
    DataSet("OR1", "online_retail.csv.gz", (("United Kingdom", 301),), (("Germany", 301),),
            note=f"{_FIRST}; those with a customer's number"),
    DataSet("RD", "raisin.csv.gz", (("Kecimen", 0),), (("Besni", 0),)),
    DataSet("Seeds", "seeds.csv.gz", (("Kama", 0),), (("Rosa", 0),)),
    DataSet("wifi", "wifi.csv.gz", (("2", 100), ("4", 100)), (("1", 499), ("3", 100)),
            note=_FIRST),
    DataSet("Avila", "avila.csv.gz", (("E", 300),), (("A", 900),), note=_FIRST),
    DataSet("OD", "occupancy_train.csv.gz", (("1", 100),), (("0", 300),), note=_FIRST),
    DataSet("OR2", "online_retail_ii.csv.gz", (("United Kingdom", 500),), (("Germany", 500),), note=_FIRST),
    DataSet("PB", "parking.csv.gz", (("Bull Ring", 500),), (("BHMBCCMKT01", 500),), note=_FIRST),
    DataSet("Acc", "accelerometer.csv.gz", (("red", 100),), (("blue", 100),), note=_FIRST),
    DataSet("Ecoli", "ecoli.csv.gz", (("im", 0), ("imU", 0), ("imS", 0), ("imL", 0), ("pp", 0)),
            (("cp", 0), ("om", 0), ("omL", 0)), drop=(3,), note="without chg, to have the paper's six features"),
    DataSet("SSMCR", "sepsis_study.csv.gz", (("alive", 391),), (("dead", 109),), note=_FIRST),
    DataSet("UMD", "ukm_train.csv.gz", (("Low", 0),), (("High", 0),)),
)  # fmt: skip


def read_set(data_set: DataSet, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the rows of a set and their true labels."""

    def is_complete(values: str, _: str) -> bool:
        return "" not in values.split(",")

    X, labels = read_labelled(folder / data_set.file, skip=data_set.skip, keep=is_complete)
    chosen, truth = [], []
    for sign, groups in ((1, data_set.positive), (-1, data_set.negative)):
        for label, most in groups:
            rows = np.flatnonzero(labels == label)
            if rows.size < max(most, 1):
                raise DataError(f"{data_set.file}: {max(most, 1)} rows must be labelled {label!r}, got {rows.size}")
            chosen.append(rows[: most or None])
            truth += [sign] * chosen[-1].size
    return np.delete(X[np.concatenate(chosen)], data_set.drop, axis=1), np.array(truth, dtype=np.int8)
