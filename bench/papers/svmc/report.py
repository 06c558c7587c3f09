"""The table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from methods import METHODS
from reference import REFERENCE
from shared import line, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIMED = ("TSVM", "SMC", "SVMC", "SVMC printed")


@dataclass(frozen=True)
class Judged:
    """A method on one split: F1 and accuracy in percent, of its last boundary and of the set never rejected, if any."""

    f1: float
    accuracy: float
    set_f1: float
    set_accuracy: float
    seconds: float
    n_fits: int
    params: str


@dataclass(frozen=True)
class Result:
    """What was found on one set with one kind of supervised SVM: a list over the splits for each method."""

    name: str
    stage: str
    stage_text: str
    n_pos: int
    n_unl: int
    n_hidden: int
    judged: Mapping[str, Sequence[Judged]]

    def mean(self, column: str, field: str) -> float:
        """Return a mean over the splits."""
        return float(np.mean([getattr(judged, field) for judged in self.judged[column]]))


def quality_head() -> str:
    """Return the head of the table of F1 and accuracy."""
    return table(["set", "SVM", "P", "U", "PU", *(method.column for method in METHODS)])


def quality_row(result: Result) -> str:
    """Return the row of a set, and below it that of the specification, if it has one."""
    cells = [result.name, result.stage_text, f"{result.n_pos:,}", f"{result.n_unl:,}", f"{result.n_hidden:,}"]
    for method in METHODS:
        text = f"{result.mean(method.column, 'f1'):.1f} ({result.mean(method.column, 'accuracy'):.1f})"
        kept = result.mean(method.column, "set_f1")
        cells.append(text if np.isnan(kept) else f"{text}, set {kept:.1f}")
    lines = [line(cells)]
    known = REFERENCE.get((result.name, result.stage))
    if known is not None:
        figures = [f"{known[method.column]:.1f}" if method.column in known else "" for method in METHODS]
        lines.append(line(["", "specification: F1", "", "", "", *figures]))
    return "\n".join(lines)


def times_table(results: Sequence[Result]) -> str:
    """Return training times and the number of supervised SVMs that were trained."""
    rows = []
    for result in results:
        seconds = {column: result.mean(column, "seconds") for column in _TIMED}
        cells = [f"{seconds['TSVM']:.3f}"]
        cells += [f"{seconds[column]:.3f} ({result.mean(column, 'n_fits'):.1f})" for column in _TIMED[1:]]
        ratios = [
            f"{seconds[a] / seconds[b]:.2f}"
            for a, b in (("SMC", "SVMC"), ("SMC", "SVMC printed"), ("SVMC", "TSVM"), ("SVMC printed", "TSVM"))
        ]
        rows.append([result.name, result.stage_text, *cells, *ratios])
    head = ["set", "SVM", "TSVM", *(f"{column} (fits)" for column in _TIMED[1:]), "SMC / SVMC", "SMC / SVMC printed",
            "SVMC / TSVM", "SVMC printed / TSVM"]  # fmt: skip
    return "Training time, s\n\n" + table(head, rows)


def note(n_splits: int) -> str:
    """Return what the figures mean."""
    splits = f"mean of {n_splits} splits" if n_splits > 1 else "one split"
    methods = "; ".join(f"{method.column}: {method.title}" for method in METHODS)
    return (
        f'F1 (accuracy) on U in percent, {splits}; "set" is F1 of the rows of U that were never rejected. P: labelled,'
        " half of the positives; U: all other rows, of which PU are positive.\n"
        f"{methods}.\n"
        'The digits of the paper\'s own table are lost in the text that we have; "specification" is section 4 of our'
        " corrected specification, computed with scikit-learn's solvers (letters: one split)."
    )
