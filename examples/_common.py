"""What the examples share: where the data come from, how a method is judged, and the table of the results."""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import fetch_openml
from sklearn.metrics import average_precision_score

import fastpu
from fastpu.metrics import auc, f1

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray


# ---- Where the data come from ----


def options(description: str | None, *, splits: int, data: str) -> argparse.ArgumentParser:
    """Return the options that all examples have; `data` says what a folder must hold."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"folder with {data}, read instead of fetching")
    parser.add_argument("--output", type=Path, default=Path("build/examples"), help="folder of pictures (%(default)s)")
    parser.add_argument("--splits", type=int, default=splits, help="number of random splits (%(default)s)")
    return parser


def read_csv(folder: Path, name: str) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Read <folder>/<name>.csv.gz: a header, numeric columns (empty for missing values), the class last."""
    with open_text(folder / f"{name}.csv.gz") as file:
        rows = csv.reader(file)
        next(rows)
        values, classes = [], []
        for row in rows:
            values.append([float(entry) if entry else np.nan for entry in row[:-1]])
            classes.append(row[-1])
    return np.array(values), np.array(classes)


def read_texts(folder: Path, name: str) -> tuple[list[str], NDArray[np.str_]]:
    """Read <folder>/<name>.jsonl.gz: a JSON object with "text" and "label" in each line."""
    with open_text(folder / f"{name}.jsonl.gz") as file:
        documents = [json.loads(line) for line in file]
    return [document["text"] for document in documents], np.array([document["label"] for document in documents])


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[Any]:
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            yield file
    except (OSError, EOFError) as error:  # it is not there, no gzip file, or cut off
        sys.exit(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def read_openml(name: str, *, file: str) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Fetch a data set from OpenML; `file` is what --data would read instead."""
    found = fetch(lambda: fetch_openml(name, version=1, as_frame=True), f"{name!r} from OpenML", file)
    return found.data.to_numpy(dtype=np.float64, na_value=np.nan), found.target.to_numpy().astype(str)


def fetch(function: Callable[[], Any], what: str, file: str) -> Any:
    """Call one of scikit-learn's functions that fetch data; where it cannot, say what to do and end."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of every attempt that failed: the last error says it
            return function()
    except (OSError, ImportError, ValueError) as error:  # no network, no room on the disk; no pandas; a server's error
        sys.exit(f"{what} cannot be fetched ({error}).\nWithout network pass --data DIR, a folder with {file}.")


# ---- How a method is judged ----


class Task(NamedTuple):
    """Training rows with labels +1 and 0, and other rows with their true labels."""

    X: Any
    y: NDArray[np.int8]
    X_test: Any
    truth: NDArray[np.int_]
    prior: float
    """Estimated share of positives among the unlabelled training rows; NaN where no method is told one."""

    @property
    def overall(self) -> float:
        """What the prior means for rows of which none is labelled, such as the test rows."""
        return float((self.prior * np.sum(self.y == 0) + np.sum(self.y == 1)) / self.y.size)


class Method(NamedTuple):
    """A way to a model: ``fit(X, y, prior)``, with y of +1 and 0 and an estimate of the prior among unlabelled rows.

    With `cut` the model is judged a second time with its threshold moved, so that the estimated share of the test rows
    lies above it, which takes no labels: `with_threshold` does it for models of fastpu, `CutAtPrior` for others.
    """

    name: str
    fit: Callable[[Any, NDArray[np.int8], float], Any]
    cut: bool = False


class CutAtPrior:
    """A classifier of scikit-learn whose threshold is moved: it calls a share `prior` of given rows positive."""

    def __init__(self, model: Any, prior: float, X: Any) -> None:
        self.decision_function = model.decision_function
        self.threshold = float(np.quantile(model.decision_function(X), 1 - prior))

    def predict(self, X: Any) -> NDArray[np.bool_]:
        return self.decision_function(X) > self.threshold


def estimated_prior(X: Any, y: NDArray[np.int8], seed: int, true: float) -> tuple[float, str]:
    """Return the estimate of the share of positives among the unlabelled rows, and words for it and for the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastpu.exceptions.EstimateWarning)  # the words say what it is
        found = fastpu.priors.bbe(X, y, random_state=seed)
    kind = f" (only an upper bound: at most {found.allowed[1]:.4f})" if found.allowed and found.only_upper_bound else ""
    return found.value, f"prior {found.value:.4f} estimated{kind}, {true:.4f} true"


def true_prior(y: NDArray[np.int8], truth: NDArray[np.int_]) -> float:
    """Return the share of positives among the unlabelled rows, to be printed beside its estimate."""
    return float(np.mean(truth[y == 0] == 1))


def cut_at_prior(model: Any, task: Task) -> Any:
    if isinstance(model, fastpu.Model):
        return model.with_threshold(prior=task.overall, X_unl=task.X_test)
    return CutAtPrior(model, task.overall, task.X_test)


def judge(method: Method, tasks: Sequence[Task]) -> dict[str, NDArray[np.float64]]:
    """Fit each task and judge by the true labels of its test rows, which nothing before this has seen.

    Returns for each way to cut a row for each task: AUC, average precision, F1, the share called positive, seconds.
    """
    figures: dict[str, list[list[float]]] = {}
    for task in tasks:
        start = time.perf_counter()
        model = method.fit(task.X, task.y, task.prior)
        seconds = time.perf_counter() - start
        scores = model.decision_function(task.X_test)
        ranked = auc(task.truth, scores), average_precision_score(task.truth, scores)
        ways = {method.name: model}
        if method.cut:
            ways["  cut at the prior"] = cut_at_prior(model, task)
        for name, way in ways.items():
            called = way.predict(task.X_test) == 1
            score = f1(task.truth, np.where(called, 1, -1))
            figures.setdefault(name, []).append([*ranked, score, float(called.mean()), seconds])
    return {name: np.array(rows) for name, rows in figures.items()}


def print_table(methods: Sequence[Method], tasks: Sequence[Task]) -> None:
    """Print the means over the splits, and the standard deviation of F1 where there are several."""
    print(
        f"{'method':<44}{'AUC':>7}{'av.prec.':>10}{'F1':>7}{'sd':>7}{'called +':>10}{'fit, s':>9}", "-" * 94, sep="\n"
    )
    for method in methods:
        for name, figures in judge(method, tasks).items():
            area, precision, score, called, seconds = figures.mean(axis=0)
            sd = f"{figures[:, 2].std(ddof=1):.3f}" if len(figures) > 1 else "-"
            print(
                f"{name:<44}{area:>7.3f}{precision:>10.3f}{score:>7.3f}{sd:>7}{called:>10.1%}{seconds:>9.3f}",
                flush=True,
            )


INCHES, DPI = 7.0, 150  # the width of all pictures, and their pixels for an inch


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a picture, all of one width."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.set_figwidth(INCHES)
    figure.savefig(folder / name, dpi=DPI)
    print(f"picture: {folder / name}")
