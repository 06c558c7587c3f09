"""The data of the PUAL paper: simulated positives on both sides of the negatives, and small sets of UCI."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["DATA_SETS", "DataError", "DataSet", "find_sets", "read_set"]


class DataError(ValueError):
    """A file that does not hold a data set."""


@dataclass(frozen=True)
class DataSet:
    """A line of Table 2.

    Attributes
    ----------
    name : str
    file : str
        A header, numeric columns, the last one `label`.
    positive, negative : tuple of (label, number)
        Which labels are positive and negative, and how many rows of each, the first ones in the file (0: all).
    skip : int
        Rows at the head of the file that are left out.
    drop : tuple of str
        Columns that are left out.
    perplexity : int
        Of the paper's t-SNE map, 0 where there is none.
    figure : int
        5 or 6, the figure that has the map.
    map_gamma : float
        The label frequency in it.
    note : str
        What the paper leaves open.
    """

    name: str
    file: str
    positive: tuple[tuple[str, int], ...]
    negative: tuple[tuple[str, int], ...]
    skip: int = 0
    drop: tuple[str, ...] = ()
    perplexity: int = 0
    figure: int = 0
    map_gamma: float = 0.25
    note: str = ""


_FIRST = "the first rows of each class, as the paper does not say which"
_HEADER = "its first row is left out: that gives the paper's counts, and reads like a header taken for one"

DATA_SETS = (
    DataSet("ENB", "enb.csv.gz", (("2", 0),), (("3", 0),), note="X8 is the label: of two columns that may be meant"),
    DataSet("HD", "heart_statlog.csv.gz", (("absence", 0),), (("presence", 0),), skip=1, note=_HEADER),
    DataSet("Pen", "pen.csv.gz", (("1", 200), ("8", 200)), (("4", 400),), perplexity=750, figure=5, note=_FIRST),
    DataSet("LD", "liver.csv.gz", (("1", 0),), (("2", 0),), skip=1, perplexity=250, figure=6, note=_HEADER),
    DataSet("OR1", "online_retail.csv.gz", (("United Kingdom", 301),), (("Germany", 301),), perplexity=40, figure=5,
            note=f"{_FIRST}; those with a customer's number"),
    DataSet("RD", "raisin.csv.gz", (("Kecimen", 0),), (("Besni", 0),), perplexity=300, figure=6),
    DataSet("Seeds", "seeds.csv.gz", (("Kama", 0),), (("Rosa", 0),)),
    DataSet("wifi", "wifi.csv.gz", (("2", 100), ("4", 100)), (("1", 499), ("3", 100)), perplexity=750, figure=5,
            note=_FIRST),
    DataSet("Avila", "avila.csv.gz", (("E", 300),), (("A", 900),), perplexity=550, figure=6, note=_FIRST),
    DataSet("OD", "occupancy_train.csv.gz", (("1", 100),), (("0", 300),), perplexity=200, figure=6, note=_FIRST),
    DataSet("OR2", "online_retail_ii.csv.gz", (("United Kingdom", 500),), (("Germany", 500),), perplexity=250,
            figure=5, note=_FIRST),
    DataSet("PB", "parking.csv.gz", (("Bull Ring", 500),), (("BHMBCCMKT01", 500),), perplexity=300, figure=6,
            map_gamma=0.5, note=_FIRST),
    DataSet("Acc", "accelerometer.csv.gz", (("red", 100),), (("blue", 100),), note=_FIRST),
    DataSet("Ecoli", "ecoli.csv.gz", (("im", 0), ("imU", 0), ("imS", 0), ("imL", 0), ("pp", 0)),
            (("cp", 0), ("om", 0), ("omL", 0)), drop=("chg",), note="without chg, to have the paper's six features"),
    DataSet("SSMCR", "sepsis_study.csv.gz", (("alive", 391),), (("dead", 109),), note=_FIRST),
    DataSet("UMD", "ukm_train.csv.gz", (("Low", 0),), (("High", 0),)),
)  # fmt: skip


def find_sets(folder: Path | None, names: Sequence[str] | None) -> tuple[list[DataSet], list[str]]:
    """Return the sets that can be run, in the table's order, and the names of those that cannot."""
    wanted = [data_set for data_set in DATA_SETS if names is None or data_set.name in names]
    present = [s for s in wanted if folder is not None and (folder / s.file).is_file()]
    known = {data_set.name for data_set in DATA_SETS}
    unknown = [name for name in names or () if name not in known]
    return present, [data_set.name for data_set in wanted if data_set not in present] + unknown


def read_set(data_set: DataSet, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the rows of a set and their true labels."""
    path = folder / data_set.file
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    names = header.split(",")
    if names[-1] != "label":
        raise DataError(f"{path}: the last column must be called label, got header {header!r}")
    split = [line.rsplit(",", 1) for line in lines[data_set.skip :]]
    columns = [e for e, name in enumerate(names[:-1]) if name not in data_set.drop]
    rows, truth = [], []
    for sign, groups in ((1, data_set.positive), (-1, data_set.negative)):
        for label, most in groups:
            chosen = [values for values, of in split if of == label and "" not in values.split(",")]
            if len(chosen) < max(most, 1):
                raise DataError(f"{path}: {max(most, 1)} rows must be labelled {label!r}, got {len(chosen)}")
            chosen = chosen[: most or None]
            rows += chosen
            truth += [sign] * len(chosen)
    X = np.loadtxt(rows, delimiter=",", ndmin=2)[:, columns]
    return X, np.array(truth, dtype=np.int8)
