"""What was measured: a record for each problem and learner, kept in a file of lines as it comes."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from learners import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


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
    figures = {name: round(getattr(outcome, name), 4) for name in ("auc", "ap", "top")}
    return figures | {"seconds": round(outcome.seconds, 4)}


def read(paths: Iterable[Path]) -> tuple[Outcomes, dict[Place, Sizes]]:
    """Return what the lines of some files hold; of two lines for one thing the later one counts."""
    outcomes: Outcomes = {}
    sizes: dict[Place, Sizes] = {}
    for path in paths:
        for line in _lines(path):
            row = json.loads(line)
            place = Place(row.pop("task"), float(row.pop("labels")), row.pop("split"))
            sizes[place] = Sizes(row.pop("rows"), row.pop("positive"), row.pop("labelled"))
            name = row.pop("learner")
            outcomes.setdefault(place, {})[name] = Outcome(**row)
    return outcomes, sizes


def forget(path: Path, learners: Sequence[str]) -> None:
    """Take the lines of some learners out of a file."""
    kept = [line for line in _lines(path) if json.loads(line)["learner"] not in learners]
    path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def write_csv(path: Path, outcomes: Outcomes, sizes: Mapping[Place, Sizes]) -> None:
    """Write one line for each problem and measure, with a column for each learner, which fits in a small file.

    An empty cell is a learner that refused the rows, or was not run on them.
    """
    names = list(dict.fromkeys(name for each in outcomes.values() for name in each))
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["task", "labels", "split", "rows", "positive", "labelled", "measure", *names])
        for place, each in sorted(outcomes.items()):
            size = sizes[place]
            for measure in ("auc", "ap", "top", "seconds"):
                values = [getattr(each[name], measure) if name in each else np.nan for name in names]
                cells = ["" if np.isnan(value) else f"{value:.3f}".lstrip("0") for value in values]
                where = [place.task, f"{place.labels:g}", place.split, size.rows, size.positive, size.labelled]
                lines.writerow([*where, measure, *cells])


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
