"""The data sets of the PNUAUCBoost paper, and what its Table 2 prints for them."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["COLUMNS", "DATA_SETS", "OURS", "PRINTED", "DataError", "DataSet", "PrintedAuc", "find_sets", "load"]

OURS = "Ours"
COLUMNS = (OURS, "RBAUC", "PNUAUC", "Samult", "PNUAB", "LSAUC")

# Mean and standard deviation of the test AUC over 15 splits; * marks a competitor that the paper's method beats at
# p < 0.05, - one that beats it.
_TABLE_2 = """
pima      0.8022(0.0481) 0.7923(0.0476)* 0.6458(0.0546)* 0.6459(0.0480)* 0.6743(0.0370)* 0.6511(0.0447)*
ring      0.9470(0.0095) 0.9315(0.0120)* 0.9099(0.0061)* 0.9099(0.0061)* 0.8603(0.0131)* 0.9117(0.0058)*
phoneme   0.8579(0.0143) 0.8543(0.0149)* 0.8009(0.0156)* 0.8005(0.0145)* 0.7798(0.0171)* 0.7753(0.0129)*
vehicle0  0.9518(0.0215) 0.9465(0.0207)  0.9780(0.0182)- 0.9846(0.0171)  0.8172(0.0432)* 0.8550(0.0317)*
vehicle2  0.9704(0.0153) 0.9595(0.0228)* 0.9647(0.0195)  0.9810(0.0134)- 0.8555(0.0417)* 0.7588(0.1247)*
credit-g  0.7290(0.0314) 0.7267(0.0420)  0.6968(0.0553)* 0.7147(0.0523)  0.6296(0.0597)* 0.6785(0.0813)*
glass1    0.7225(0.0904) 0.7048(0.0795)  0.5828(0.1199)* 0.6365(0.0898)* 0.6321(0.1086)* 0.5833(0.1304)*
wisconsin 0.9909(0.0065) 0.9892(0.0076)  0.9195(0.0282)* 0.9211(0.0275)* 0.9105(0.0257)* 0.9054(0.0384)*
wdbc      0.9873(0.0100) 0.9859(0.0100)  0.9704(0.0180)* 0.9786(0.0193)* 0.8367(0.0489)* 0.9725(0.0226)*
shuttle   1.0000(0.0000) 0.9801(0.0322)* 0.9998(0.0005)  0.9998(0.0008)  0.9526(0.0354)* 0.9922(0.0176)*
monk-2    0.9844(0.0202) 0.9839(0.0196)  0.8065(0.0498)* 0.8213(0.0474)* 0.9462(0.0260)* 0.7294(0.0570)*
sonar     0.7247(0.1128) 0.7140(0.0768)  0.6664(0.1025)* 0.6719(0.1089)* 0.5991(0.0774)* 0.5673(0.0864)*
surgical  0.8332(0.0095) 0.8266(0.0114)* 0.7797(0.0082)* 0.7910(0.0066)* 0.7820(0.0160)* 0.6291(0.0178)*
insurance 0.8810(0.0012) 0.8765(0.0015)* 0.6395(0.0072)* 0.6457(0.0065)* 0.8290(0.0022)* 0.6081(0.0198)*
numerai   0.5245(0.0049) 0.5226(0.0045)* 0.5229(0.0040)  0.5229(0.0040)  0.5112(0.0044)* 0.5210(0.0049)*
cod-rna   0.9681(0.0019) 0.9362(0.0018)* 0.9313(0.0018)* 0.9363(0.0017)* 0.9218(0.0020)* 0.9314(0.0018)*
"""


class DataError(ValueError):
    """A file that does not hold a data set."""


@dataclass(frozen=True)
class PrintedAuc:
    """A cell of the printed table."""

    mean: float
    sd: float
    mark: str


def _parse(table: str) -> dict[str, dict[str, PrintedAuc]]:
    cell = re.compile(r"([\d.]+)\(([\d.]+)\)([*-]?)")
    rows = {}
    for line in table.strip().splitlines():
        cells = [PrintedAuc(float(mean), float(sd), mark) for mean, sd, mark in cell.findall(line)]
        rows[line.split()[0]] = dict(zip(COLUMNS, cells, strict=True))
    return rows


PRINTED = _parse(_TABLE_2)


@dataclass(frozen=True)
class DataSet:
    """A data set and where a folder may hold it.

    Attributes
    ----------
    name : str
        Its name in the table.
    positive : str, or None
        The label of the positives; None takes the rarer of the two labels, which it is in every set of the paper.
    files : tuple of str
        Names that its file may have, without the ending ``.csv.gz``; the first one there is taken.
    """

    name: str
    positive: str | None = None
    files: tuple[str, ...] = ()

    def path(self, folder: Path) -> Path | None:
        """Return the set's file in a folder, or None."""
        paths = (folder / f"{stem}.csv.gz" for stem in (*self.files, self.name))
        return next((path for path in paths if path.is_file()), None)


DATA_SETS = (
    DataSet("pima", "positive"),
    DataSet("ring", "0"),
    DataSet("phoneme"),
    DataSet("vehicle0", "positive"),
    DataSet("vehicle2", "positive"),
    DataSet("credit-g", "bad"),
    DataSet("glass1", "positive"),
    DataSet("wisconsin", "positive"),
    DataSet("wdbc", "malignant"),
    DataSet("shuttle", "positive", ("shuttle-c0-vs-c4",)),
    DataSet("monk-2", "0"),
    DataSet("sonar"),
    DataSet("surgical", "1", ("surgical-deepnet",)),
    DataSet("insurance", "1", ("insurance", "insurance_part44")),
    DataSet("numerai"),
    DataSet("cod-rna", "1"),
)


def find_sets(folder: Path, names: Sequence[str] | None) -> tuple[list[tuple[DataSet, Path]], list[str]]:
    """Return the sets to run with their files, in the table's order, and the names of those without a file.

    Without `names`, all sets of the table that the folder holds. A name that the table does not know is a file's.
    """
    if names is None:
        wanted = list(DATA_SETS)
    else:
        known = {data_set.name: data_set for data_set in DATA_SETS}
        known |= {stem: data_set for data_set in DATA_SETS for stem in data_set.files}
        wanted = [known.get(name, DataSet(name)) for name in names]
    found = [(data_set, data_set.path(folder)) for data_set in wanted]
    present = [(data_set, path) for data_set, path in found if path is not None]
    return present, [data_set.name for data_set, path in found if path is None]


def load(path: Path, positive: str | None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the features of a set and its labels, +1 and -1."""
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    if header.rsplit(",", 1)[-1] != "label":
        raise DataError(f"{path}: the last column must be called label, got header {header!r}")
    values, labels = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    X = np.loadtxt(values, delimiter=",", ndmin=2)
    names, counts = np.unique(labels, return_counts=True)
    if names.size != 2:
        raise DataError(f"{path}: there must be two labels, got {', '.join(names)}")
    if positive is None:
        positive = str(names[np.argmin(counts)])
    elif positive not in names:
        raise DataError(f"{path}: no row is labelled {positive!r}, the positives' label; got {', '.join(names)}")
    return X, np.where(np.array(labels) == positive, np.int8(1), np.int8(-1))
