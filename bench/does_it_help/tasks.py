"""The tasks: rows whose classes are known, by kind of data; some of the positive rows to fit keep their label."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from packages import FEWEST_POSITIVE, FEWEST_ROWS, TUNED, films, fingerprints, news, tables, tweets
from shared import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Source = Callable[[Path], tuple[Any, NDArray[np.bool_]]]

_FEWEST = 5  # labelled rows
_TABLE_ROWS = 8000  # at most, of which half are to fit


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
    tuned : a default of this library was once chosen by this table.
    """

    name: str
    kind: str
    about: str
    rows: Source
    labels: tuple[float, ...] = (0.05, 0.3)
    max_rows: int = _TABLE_ROWS
    labelled_by: str | None = None
    later: bool = False
    tuned: bool = False

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
    """Return a problem, or None where there are too few positive rows for so many labels."""
    rng = np.random.default_rng(seed)
    n = truth.size
    if task.later:
        half = n // 2
        train, test = rng.permutation(half)[: task.max_rows // 2], half + rng.permutation(n - half)
    else:
        order = rng.permutation(n)
        half = min(n, task.max_rows) // 2
        train, test = order[:half], order[half:]
    test = test[: 2 * task.max_rows]
    positives = np.flatnonzero(truth[train])
    n_labelled = int(labels) if labels >= 1 else max(_FEWEST, round(labels * positives.size))
    if n_labelled > 0.75 * positives.size or not 0 < truth[test].sum() < test.size:
        return None
    chance = np.ones(positives.size)
    if task.labelled_by is not None:
        column = X[task.labelled_by].to_numpy()[train[positives]]
        chance = np.exp(-3 * np.argsort(np.argsort(column, kind="stable")) / positives.size)
    is_labelled = np.zeros(train.size, dtype=np.bool_)
    is_labelled[rng.choice(positives, n_labelled, replace=False, p=chance / chance.sum())] = True
    rows, others = (X.iloc[part] if hasattr(X, "iloc") else X[part] for part in (train, test))
    Z, Z_test = _numbers(rows, others)
    return Problem(rows, others, Z, Z_test, truth[train], is_labelled, truth[test], task.labelled_by)


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
             tuned=name in TUNED.split())
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
        Task("fingerprints", "fingerprints", "simulated: 2,048 binary columns, CSR", _bits, few, 20_000),
        *[
            Task(f"pixels: {digit}", "images", "8 x 8 pixels, one digit against the others",
                 partial(_of_table, "optdigits", digit), (0.01, 0.05, 0.3, 20.0, 200.0))
            for digit in ("8", "3", "1")
        ],
        Task("embedding: one direction", "embeddings (simulated)", "768 columns, classes apart in one direction",
             partial(_embedding, 1), few, 20_000),
        Task("embedding: 20 topics", "embeddings (simulated)", "768 columns, 6 topics of 20 are positive",
             partial(_embedding, 20), few, 20_000),
        Task("rare", "rare: 1 in 1,000", "simulated: 200,000 rows, half to fit; categories, missing entries",
             partial(_screening, rare=True), (0.2, 0.5), 400_000),
        Task("spambase at capitals", "labels not at random", "few capitals are labelled most often",
             partial(_of_table, "spambase", "1"), (0.05, 0.3), labelled_by="x56", tuned=True),
        Task("magic by width", "labels not at random", "narrow showers are labelled most often",
             partial(_of_table, "magic", "h"), (0.05, 0.3), labelled_by="x1"),
        Task("phoneme by harmonic", "labels not at random", "weak first harmonics are labelled most often",
             partial(_of_table, "phoneme", "1"), (0.05, 0.3), labelled_by="x0"),
        Task("screening, later", "later, another prior", "simulated: columns drift, twice as many are positive",
             partial(_screening, drift=True), (0.05, 0.3), later=True),
    ]  # fmt: skip
    return found + ([] if data is None else _ours(data))


def _ours(data: Path) -> list[Task]:
    def table(name: str, positive: str) -> Source:
        return lambda _: _as_frame(*load(data / f"{name}.csv.gz", positive))

    def pages(_: Path) -> tuple[Any, NDArray[np.bool_]]:
        with gzip.open(data / "webkb7.jsonl.gz", "rt") as file:
            rows = [json.loads(line) for line in file]
        return _tfidf([row["text"] for row in rows]), np.array([row["label"] == "student" for row in rows])

    return [
        Task("surgical", "our tables", "24 mixed columns, 25 % with a complication", table("surgical", "1"),
             tuned=True),
        Task("insurance", "our tables", "10 mixed columns, 12 % buyers, noisy", table("insurance_part44", "1"),
             tuned=True),
        Task("RNA", "our tables", "8 smooth numbers, 33 % coding", table("cod-rna", "1"), tuned=True),
        Task("rooms", "our tables", "5 sensors, 21 % occupied", table("occupancy_train", "1"), tuned=True),
        Task("pages", "text, TF-IDF", "text of web pages, 20 % by students", pages, (20, 200), tuned=True),
    ]  # fmt: skip


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


def _as_frame(X: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[Any, NDArray[np.bool_]]:
    from pandas import DataFrame  # noqa: PLC0415 (only where it is wanted)

    return DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), truth


def _tfidf(texts: list[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 (only where it is wanted)

    return TfidfVectorizer(min_df=5, sublinear_tf=True).fit_transform(texts).tocsr()


def _words(corpus: Any, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    texts, classes = corpus(folder)
    return _tfidf(texts), classes == positive


def _components(corpus: Any, positive: str, folder: Path) -> tuple[Any, NDArray[np.bool_]]:
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415 (only where it is wanted)

    words, truth = _words(corpus, positive, folder)
    return _as_frame(TruncatedSVD(256, random_state=0).fit_transform(words), truth)


def _bits(_: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return fingerprints of 200 families of compounds; active are those with one of two pairs of fragments."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(22)
    n, d = 20_000, 2048
    shares = rng.beta(0.05, 1.2, size=(200, d))
    bits = rng.random((n, d)) < shares[rng.integers(0, 200, size=n)]
    often = np.argsort(-bits.mean(axis=0))[:40]
    a, b, c, e = bits[:, often[rng.choice(40, 4, replace=False)]].T
    active = rng.random(n) < np.where((a & b) | (c & e), 0.9, 0.004)
    return csr_matrix(bits, dtype=np.float64), active


def _embedding(topics: int, _: Path) -> tuple[Any, NDArray[np.bool_]]:
    """Return rows of 768 columns, of low rank with noise: classes one direction apart, or some of 20 topics."""
    rng = np.random.default_rng(23)
    n, d, rank = 20_000, 768, 64
    spectrum = 1 / np.sqrt(1 + np.arange(rank))
    factors = rng.standard_normal((n, rank)) * spectrum
    if topics == 1:
        truth = rng.random(n) < 0.3
        factors[:, 20] += 0.5 * truth
    else:
        topic = rng.integers(0, topics, size=n)
        factors += (rng.standard_normal((topics, rank)) * spectrum)[topic] * 1.2
        truth = topic < 6
    basis = np.linalg.qr(rng.standard_normal((d, rank)))[0]
    return _as_frame(factors @ basis.T + 0.02 * rng.standard_normal((n, d)), truth)


def _screening(_: Path, *, rare: bool = False, drift: bool = False) -> tuple[Any, NDArray[np.bool_]]:
    """Return mixed columns, few of which matter, some only together with others, with categories and missing entries.

    In the second half of the rows of `drift` the columns that matter have other means, and twice as many are positive.
    """
    from pandas import DataFrame, Series  # noqa: PLC0415 (only where it is wanted)

    rng = np.random.default_rng(20)
    n, share = (200_000, 0.001) if rare else (20_000, 0.05)
    late = np.arange(n) >= n // 2 if drift else np.zeros(n, dtype=np.bool_)
    normal = rng.standard_normal((n, 15)) + 0.5 * late[:, None] * (np.arange(15) < 5)
    skewed = rng.exponential(size=(n, 8)) ** 2
    codes = rng.integers(0, 6, size=(n, 6))
    signal = (
        0.9 * normal[:, 0] - 0.7 * normal[:, 1] + 1.2 * np.sign(normal[:, 2] * normal[:, 3])
        + 1.5 * (skewed[:, 0] > 2) * (normal[:, 4] > 0) + np.isin(codes[:, 0], (1, 4)) + 0.6 * np.log1p(skewed[:, 1])
    )  # fmt: skip
    noisy = (4 if rare else 2) * signal + rng.logistic(size=n)
    truth = np.zeros(n, dtype=np.bool_)
    for part, wanted in ((~late, share), (late, 2 * share)):
        if part.any():
            truth[part] = noisy[part] > np.quantile(noisy[part], 1 - wanted)
    normal[rng.random(normal.shape) < 0.1] = np.nan
    columns = {f"x{i}": column for i, column in enumerate(np.hstack([normal, skewed]).T)}
    columns |= {
        f"c{i}": Series([f"kind {code}" for code in column], dtype="category") for i, column in enumerate(codes.T)
    }
    return DataFrame(columns), truth
