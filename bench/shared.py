"""What the commands of this folder share: tables of data, options, splits side by side, ranks, and Markdown."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R")

_LIBRARIES = ("fastpu", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "lightgbm", "catboost", "xgboost",
              "xgboost-cpu", "faiss-cpu", "pulearn", "torch")  # fmt: skip


_FEWEST = 5  # labelled rows


class DataError(ValueError):
    """A file that does not hold a data set."""


# ---- Data ------------------------------------------------------------------------------------------------------------


def read_labelled(
    path: Path, *, skip: int = 0, keep: Callable[[str, str], bool] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return the columns of NAME.csv.gz, all numbers, and the last column, which is called label.

    Leaves out the first `skip` rows, and those of which `keep(values, label)` is false.
    """
    with gzip.open(path, "rt") as file:
        header, *lines = file.read().splitlines()
    if header.rsplit(",", 1)[-1] != "label":
        raise DataError(f"{path}: the last column must be called label, got header {header!r}")
    rows = [line.rsplit(",", 1) for line in lines[skip:]]
    values, labels = zip(*(row for row in rows if keep is None or keep(*row)), strict=True)
    return np.loadtxt(values, delimiter=",", ndmin=2), np.array(labels)


def load(path: Path, positive: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the columns of NAME.csv.gz and which rows have the label of the positive class."""
    X, labels = read_labelled(path)
    truth = labels == positive
    if truth.all() or not truth.any():
        raise DataError(f"{path}: some rows must be labelled {positive!r} and some not, got {np.unique(labels)}")
    return X, truth


def standardised(X: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns less their means in the rows `by`, over their standard deviations there."""
    spread = by.std(axis=0)
    scaled: NDArray[np.float64] = (X - by.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


@dataclass(frozen=True)
class Problem:
    """Training rows with the truth and which of them are labelled, and test rows.

    The unlabelled rows are all training rows without a label.
    """

    X: NDArray[np.float64]
    truth: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    X_test: NDArray[np.float64]
    truth_test: NDArray[np.bool_]

    @property
    def prior(self) -> float:
        """The share of positives among the unlabelled rows."""
        return float(self.truth[~self.is_labelled].mean())


def draw(
    X: NDArray[np.float64], truth: NDArray[np.bool_], *, scaling: str, share: float, seed: int, max_rows: int
) -> Problem:
    """Return a problem: half of the rows to fit, the others to test, at most `max_rows` of each.

    A share `share` of the positive training rows is labelled. Features are standardised by the training rows, or raw.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(truth.size)
    half = min(truth.size // 2, max_rows)
    train, test = order[:half], order[half : 2 * half]
    positives = np.flatnonzero(truth[train])
    n_labelled = max(_FEWEST, round(share * positives.size))
    if n_labelled >= positives.size:
        raise ValueError(f"needs more than {n_labelled} positive training rows, got {positives.size}")
    is_labelled = np.zeros(half, dtype=np.bool_)
    is_labelled[positives[:n_labelled]] = True
    if scaling == "standardised":
        X = standardised(X, X[train])
    return Problem(X[train], truth[train], is_labelled, X[test], truth[test])


def find_sets(data_sets: Sequence[Any], folder: Path | None, names: Sequence[str] | None) -> tuple[list[Any], int]:
    """Return the sets to run, in the order of their table, and an exit code: 2 where one that was named is missing.

    A set has a name, and a file unless it is simulated. Without `names` all that the folder holds are run.
    """
    known = {data_set.name: data_set for data_set in data_sets}
    wanted = [data_set for data_set in data_sets if names is None or data_set.name in names]
    present = [s for s in wanted if not s.file or (folder is not None and (folder / s.file).is_file())]
    missing = [s.name for s in wanted if s not in present] + [name for name in names or () if name not in known]
    if missing:
        print(f"no file in {folder or 'no folder (--data)'} for: {', '.join(missing)}", file=sys.stderr)
    return present, 2 if missing and names else 0


# ---- Commands --------------------------------------------------------------------------------------------------------


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Parser(argparse.ArgumentParser):
    """The options of a command; its help is what the module says of itself."""

    def __init__(self, name: str, about: str | None, **options: Any) -> None:
        super().__init__(name, description=about, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def add(self, name: str, text: str, default: Any = None, **options: Any) -> None:
        """Add an option; its default stands in the help, and says the type."""
        if default is not None:
            kind = type(default[0] if isinstance(default, list) else default)
            options = {"default": default, "type": kind} | options
            text += " (default: %(default)s)"
        self.add_argument(name, help=text, **options)

    def add_common(self, data: str = "", *, required: bool = False, jobs: bool = False) -> None:
        """Add --data, --jobs and --output, which commands have in common."""
        if data:
            self.add("--data", data, type=Path, required=required)
        if jobs:
            self.add("--jobs", "processes", cpus())
        self.add("--output", "folder for the tables and raw results (default: none written)", type=Path)

    def parsed(self, argv: Sequence[str] | None, *at_least_one: str, shares: Sequence[str] = ()) -> argparse.Namespace:
        """Return the options, of which some must be at least 1 and others are shares in (0, 1)."""
        options = self.parse_args(argv)
        for name in at_least_one:
            if getattr(options, name) < 1:
                self.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(options, name)}")
        for name in shares:
            if wrong := [share for share in np.atleast_1d(getattr(options, name)) if not 0 < share < 1]:
                self.error(f"--{name} must be in (0, 1), got {wrong[0]:g}")
        if getattr(options, "data", None) is not None and not options.data.is_dir():
            self.error(f"--data: there is no folder {options.data}")
        return options


def progress(text: str) -> None:
    """Overwrite the last line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def run_tasks(work: Callable[[T], R], tasks: Sequence[T], jobs: int, title: str) -> list[R]:
    """Return what comes of each task, some at a time."""
    results = []
    pool = ProcessPoolExecutor(jobs) if jobs > 1 else None
    try:
        for result in map(work, tasks) if pool is None else pool.map(work, tasks):
            results.append(result)
            progress(f"{title}: {len(results)}/{len(tasks)}" if len(results) < len(tasks) else "")
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    return results


def write(folder: Path | None, text: str, raw: Any, options: argparse.Namespace) -> None:
    """Write the tables and, as JSON, the options and every single result, where a folder was asked for."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.md").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    known = {"options": vars(options), "results": raw}
    (folder / "results.json").write_text(json.dumps(known, indent=1, default=_plain) + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """Return what JSON can hold: the fields of an object, the entries of an array."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return str(value) if isinstance(value, Path) or callable(value) else vars(value)


# ---- Tables ----------------------------------------------------------------------------------------------------------


def line(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def table(head: Sequence[str], rows: Iterable[Sequence[str]] = (), *, title: str = "") -> str:
    """Return a Markdown table, below its title if it has one."""
    return (f"### {title}\n\n" if title else "") + "\n".join(map(line, [head, ["---"] * len(head), *rows]))


def machine(*libraries: str) -> str:
    """Return the processor, Python and the versions of those libraries that are installed (by default of all)."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [text.split(":", 1)[1].strip() for text in info.read_text().splitlines() if text.startswith("model n")]
        model = names[0] if names else model
    found = []
    for name in libraries or _LIBRARIES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return f"{model}, {os.cpu_count()} CPUs; Python {platform.python_version()}, {', '.join(found)}"


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks along the last axis, 1 for the largest; ties share theirs, and what is missing comes last."""
    from scipy.stats import rankdata  # noqa: PLC0415 (only in reports)

    found: NDArray[np.float64] = rankdata(-np.nan_to_num(np.round(values, 10), nan=-np.inf), axis=-1)
    return found


def critical_difference(n_learners: int, n_sets: int) -> float:
    """Return the difference of mean ranks that Nemenyi's test calls significant at 5 %."""
    from scipy.stats import studentized_range  # noqa: PLC0415 (only in reports)

    quantile = studentized_range.ppf(0.95, n_learners, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))
