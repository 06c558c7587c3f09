"""What was measured: a record for each problem and learner, kept in a file of lines as it comes.

When a run ends, all records are written into one table, which is the file that the pages publish. Both hold three
digits behind the point, so that reports made of either are the same.
"""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from learners import LEARNERS, Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path


_MEASURES = ("auc", "ap", "top", "seconds")
_DIGITS = 3


@dataclass(frozen=True, order=True)
class Place:
    """A problem: its task, what is labelled (a share of the positive rows, or a number of them), the split."""

    task: str
    labels: float
    split: int


@dataclass(frozen=True)
class Sizes:
    """Rows to fit, and how many of them are positive and labelled."""

    rows: int
    positive: int
    labelled: int


Outcomes: TypeAlias = "dict[Place, dict[str, Outcome]]"


def keep(path: Path, outcomes: Outcomes, sizes: Mapping[Place, Sizes]) -> None:
    """Add lines for these results to a file."""
    with path.open("a", encoding="utf-8") as file:
        for place, each in outcomes.items():
            for name, outcome in each.items():
                file.write(
                    json.dumps(asdict(place) | asdict(sizes[place]) | {"learner": name} | _short(outcome)) + "\n"
                )


def _short(outcome: Outcome) -> dict[str, float | str]:
    if outcome.flaw:
        return {"flaw": outcome.flaw}
    return {name: round(getattr(outcome, name), _DIGITS) for name in _MEASURES}


def read(paths: Iterable[Path], *, without: Collection[str] = ()) -> tuple[Outcomes, dict[Place, Sizes]]:
    """Return what some files hold, tables (.csv) or files of lines, but for some learners.

    What several files hold counts as in the last one of them.
    """
    outcomes: Outcomes = {}
    sizes: dict[Place, Sizes] = {}
    for path in paths:
        if path.suffix == ".csv":
            _read_csv(path, without, outcomes, sizes)
            continue
        for line in _lines(path):
            row = json.loads(line)
            place = Place(row.pop("task"), float(row.pop("labels")), row.pop("split"))
            sizes[place] = Sizes(row.pop("rows"), row.pop("positive"), row.pop("labelled"))
            name = row.pop("learner")
            if name not in without:
                outcomes.setdefault(place, {})[name] = Outcome(**row)
    return outcomes, sizes


def _read_csv(path: Path, without: Collection[str], outcomes: Outcomes, sizes: dict[Place, Sizes]) -> None:
    """Add what a table of `write_csv` holds."""
    figures: dict[tuple[Place, str], dict[str, str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            place = Place(row.pop("task"), float(row.pop("labels")), int(row.pop("split")))
            sizes[place] = Sizes(int(row.pop("rows")), int(row.pop("positive")), int(row.pop("labelled")))
            measure = row.pop("measure")
            for name, cell in row.items():
                if cell and name not in without:
                    figures.setdefault((place, name), {})[measure] = cell
    for (place, name), cells in figures.items():
        flaw = cells.pop("flaw", "")
        values = {measure: float(cell) for measure, cell in cells.items()}
        outcomes.setdefault(place, {})[name] = Outcome(**values, flaw=flaw)


def forget(path: Path, learners: Collection[str]) -> None:
    """Take the lines of some learners out of a file."""
    kept = [line for line in _lines(path) if json.loads(line)["learner"] not in learners]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def write_csv(path: Path, outcomes: Outcomes, sizes: Mapping[Place, Sizes]) -> None:
    """Write one line for each problem and measure, with a column for each learner, which fits in a small file.

    A problem that somebody refused has a line "flaw" too, which says why. An empty cell is a learner that was not run.
    """
    names = [name for name in LEARNERS if any(name in each for each in outcomes.values())]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["task", "labels", "split", "rows", "positive", "labelled", "measure", *names])
        for place, each in sorted(outcomes.items()):
            size = sizes[place]
            where = [place.task, f"{place.labels:g}", place.split, size.rows, size.positive, size.labelled]
            for measure in _MEASURES:
                values = [getattr(each[name], measure) if name in each else np.nan for name in names]
                cells = ["" if np.isnan(value) else f"{value:.{_DIGITS}f}".lstrip("0") for value in values]
                lines.writerow([*where, measure, *cells])
            if any(outcome.flaw for outcome in each.values()):
                lines.writerow([*where, "flaw", *(each[name].flaw if name in each else "" for name in names)])


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
