"""What columns of categories are worth to trees with few labels, beside the same columns as dummies.

python bench/categories [--draws 30] [--categories 3 10 50 300] [--labels 5 20 200] [--fits forest] [--parts tables]

Part `tables`: 2,000 unlabelled rows, a tenth of them positive, besides the labelled ones. One column of categories
tells of the class: either one category has more of the positives, or a third of them have, or their shares of positives
ascend smoothly. The other columns are one more of as many categories and two of numbers, one of which tells a little.
Printed are mean AUCs of 2,000 other rows by their true classes: of the frame, and of pandas.get_dummies of it, by the
same fit.

Part `letters`: 6,000 rows of 15 columns of ten letters, 3,000 of them to fit; one letter of one column is positive in
half of its rows. Part `noise`: what a column of 1,000 categories that tells nothing costs beside four numbers.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import fastpu
from fastpu.metrics import auc

sys.path.append(str(Path(__file__).resolve().parents[1]))

from shared import Parser, run_tasks, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

KINDS = ("one", "third", "smooth")
FITS: dict[str, Callable[..., Any]] = {
    "forest": partial(fastpu.fit_forest, n_trees=200),
    "forest, best": partial(fastpu.fit_forest, n_trees=200, splitter="best"),
    "trees": fastpu.fit_boosted_trees,
    "bags": partial(fastpu.fit_boosted_trees, n_bags=20),
    "stumps": lambda X, y, random_state, **options: fastpu.fit_pnu_auc_boost(X, y, **options),
}
_N_ROWS, _SHARE = 2000, 0.1

Rows = tuple[pd.DataFrame, "NDArray[np.bool_]"]


def chances_of_positives(kind: str, n_categories: int) -> NDArray[np.float64]:
    """Return how the positive rows are spread over the categories; all others are spread evenly."""
    places = np.arange(n_categories)
    if kind == "smooth":
        chances = np.exp(3.0 * places / max(1, n_categories - 1))
    else:
        upper = places < (1 if kind == "one" else max(1, n_categories // 3))
        chances = 0.3 / n_categories + 0.7 * upper / upper.sum()
    return chances / chances.sum()


def draw(
    n_rows: int, is_positive: NDArray[np.bool_], chances: NDArray[np.float64], names: NDArray[Any], rng: Any
) -> pd.DataFrame:
    k = chances.size
    told = np.where(is_positive, rng.choice(k, n_rows, p=chances), rng.integers(0, k, n_rows))
    return pd.DataFrame(
        {
            "told": pd.Categorical(names[told], categories=np.sort(names)),
            "noise": pd.Categorical(names[rng.integers(0, k, n_rows)], categories=np.sort(names)),
            "a": rng.normal(size=n_rows) + 0.5 * is_positive,
            "b": rng.normal(size=n_rows),
        }
    )


def a_table(kind: str, n_categories: int, n_labels: int, rng: Any) -> tuple[Rows, Rows]:
    """Return rows to fit with their labels, and rows to test with their classes."""
    names = np.array([f"c{k:04}" for k in rng.permutation(n_categories)], dtype=object)
    chances = chances_of_positives(kind, n_categories)
    truth = np.concatenate([np.full(n_labels, True), rng.random(_N_ROWS) < _SHARE])
    labels = np.arange(truth.size) < n_labels
    order = rng.permutation(truth.size)
    test = rng.random(_N_ROWS) < _SHARE
    return (draw(truth.size, truth[order], chances, names, rng), labels[order]), (
        draw(_N_ROWS, test, chances, names, rng),
        test,
    )


def letters(n_labels: int, rng: Any) -> tuple[Rows, Rows]:
    """Return halves of 6,000 rows of 15 letters."""
    codes = rng.integers(0, 10, (6000, 15))
    truth = (codes[:, 4] == 3) & (rng.random(6000) < 0.5)
    frame = pd.DataFrame(np.array(list("abcdefghij"), dtype=object)[codes], columns=[f"x{j}" for j in range(15)])
    labels = np.zeros(3000, dtype=np.bool_)
    labels[rng.choice(np.flatnonzero(truth[:3000]), n_labels, replace=False)] = True
    return (frame[:3000], labels), (frame[3000:].reset_index(drop=True), truth[3000:])


def noise(n_labels: int, rng: Any) -> tuple[Rows, Rows]:
    """Return rows of four numbers, two of which tell, and a column of 1,000 categories that does not."""

    def rows(n: int, share: float) -> Rows:
        truth = rng.random(n) < share
        numbers = pd.DataFrame(rng.normal(size=(n, 4)) + 0.7 * truth[:, None] * [1, 1, 0, 0], columns=list("abcd"))
        return numbers.assign(shop=np.char.add("s", rng.integers(0, 1000, n).astype(str)).astype(object)), truth

    (X, truth), test = rows(4000, 0.3), rows(4000, 0.3)
    labels = np.zeros(truth.size, dtype=np.bool_)
    labels[rng.choice(np.flatnonzero(truth), n_labels, replace=False)] = True
    return (X, labels), test


def pair(train: Rows, test: Rows, fit: Callable[..., Any], seed: int, other: Callable[..., Any]) -> tuple[float, ...]:
    """Return AUC and average precision of the frame, and of `other` columns of it."""
    found: list[float] = []
    both = pd.concat([train[0], test[0]], ignore_index=True)
    for X in (both, other(both)):
        model = fit(X[: len(train[0])], train[1], random_state=seed, n_threads=1)
        scores = model.decision_function(X[len(train[0]) :])
        found += auc(test[1], scores), _precision(test[1], scores)
    return tuple(found)


def _precision(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Average precision; rows of one score are taken together."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(truth[order])[ends]
    return float(np.sum(np.diff(hits, prepend=0) * hits / (ends + 1)) / truth.sum())


def dummies(X: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(X, dtype=np.float32)


def without_shop(X: pd.DataFrame) -> pd.DataFrame:
    return X[list("abcd")]


def one(task: tuple[str, str, int, int, int]) -> tuple[float, ...]:
    """Return what one draw gives."""
    warnings.simplefilter("ignore")
    name, kind, n_categories, n_labels, seed = task
    rng = np.random.default_rng([seed, n_categories, n_labels, len(kind)])
    if kind == "letters":
        return pair(*letters(n_labels, rng), FITS[name], seed, dummies)
    if kind == "noise":
        return pair(*noise(n_labels, rng), FITS[name], seed, without_shop)
    return pair(*a_table(kind, n_categories, n_labels, rng), FITS[name], seed, dummies)


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("categories", __doc__)
    parser.add("--draws", "tables of each cell", 30)
    parser.add("--categories", "numbers of categories", [3, 10, 50, 300], nargs="+")
    parser.add("--labels", "numbers of labelled rows", [5, 20, 200], nargs="+")
    parser.add("--fits", "what is fitted", ["forest", "trees", "bags"], nargs="+", choices=FITS)
    parser.add("--parts", "of the report", ["tables", "letters", "noise"], nargs="+")
    parser.add_common(jobs=True)
    options = parser.parsed(argv, "draws", "jobs")
    cells = []
    if "tables" in options.parts:
        cells += [(kind, k, labels) for kind in KINDS for k in options.categories for labels in options.labels]
    if "letters" in options.parts:
        cells += [("letters", 10, labels) for labels in (5, 10, 20)]
    if "noise" in options.parts:
        cells += [("noise", 1000, labels) for labels in options.labels]
    for name in options.fits:
        tasks = [(name, *cell, seed) for cell in cells for seed in range(options.draws)]
        results = np.array(run_tasks(one, tasks, options.jobs, name)).reshape(len(cells), options.draws, 4)
        lines = []
        for (kind, k, labels), of_cell in zip(cells, results, strict=True):
            frame, _, other, _ = mean = of_cell.mean(axis=0)
            spread = np.std(of_cell[:, 0] - of_cell[:, 2], ddof=1) / np.sqrt(options.draws) if options.draws > 1 else 0
            ap = f"{mean[1]:.3f}", f"{mean[3]:.3f}"
            lines.append([kind, str(k), str(labels), f"{frame:.3f}", f"{other:.3f}", f"{frame - other:+.3f}",
                          f"{spread:.3f}", *ap])  # fmt: skip
        head = ["carried by", "categories", "labels", "AUC", "of dummies", "ahead", "+-", "AP", "of dummies"]
        print(table(head, lines, title=name) + "\n", flush=True)


if __name__ == "__main__":
    main()
