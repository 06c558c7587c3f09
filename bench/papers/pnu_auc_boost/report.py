"""Statistics over the data sets, and the table."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from methods import METHODS
from protocol import describe
from published import PRINTED, PrintedAuc
from scipy import stats
from shared import critical_difference, line, ranks, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from protocol import Choice

_LEVEL = 0.05
_OURS = METHODS[0].column
_OTHERS = METHODS[1:]


@dataclass(frozen=True)
class Result:
    """What was found on one data set."""

    name: str
    n_rows: int
    n_features: int
    max_bins: int | None
    choices: Mapping[str, Choice]


@dataclass(frozen=True)
class Comparison:
    """Our test AUCs against a competitor's: Wilcoxon's signed-rank test over the splits."""

    p: float
    mark: str


def compare(ours: NDArray[np.float64], other: NDArray[np.float64]) -> Comparison:
    """Compare two methods on the same splits: mark * where ours is better at p < 0.05, - where it is worse."""
    difference = ours - other
    if not difference.any():
        return Comparison(1.0, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few splits or ties: the p value is then an approximation
        p = float(stats.wilcoxon(difference).pvalue)
    if not p < _LEVEL:
        return Comparison(p, "")
    return Comparison(p, "*" if np.mean(difference) > 0 else "-")


def ranks_of(results: Sequence[Result]) -> NDArray[np.float64]:
    """Return the mean ranks of the methods that were run, 1 the best."""
    return ranks(np.array([[np.mean(r.choices[m.column].test) for m in METHODS] for r in results])).mean(axis=0)


def printed_ranks(names: Sequence[str]) -> NDArray[np.float64]:
    """Return the mean ranks in the printed table, on some data sets."""
    return ranks(np.array([[PRINTED[name][m.column].mean for m in METHODS] for name in names])).mean(axis=0)


# ---- The table -------------------------------------------------------------------------------------------------------


def table_head() -> str:
    """Return the head of the table, in Markdown."""
    cells = ["set", "n x d", f"{METHODS[0].title}: paper (sd)", "here (sd)", "chosen"]
    for method in _OTHERS:
        cells += [f"{method.title}: paper (sd)", "here (sd)", "p"]
    return table(cells)


def _printed(cell: PrintedAuc | None) -> str:
    return "" if cell is None else f"{cell.mean:.4f}{cell.mark} ({cell.sd:.4f})"


def _found(choice: Choice, mark: str = "") -> str:
    spread = float(np.std(choice.test, ddof=1)) if choice.test.size > 1 else math.nan
    return f"{np.mean(choice.test):.4f}{mark} ({spread:.4f})"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def row(result: Result) -> str:
    """Return the row of a data set."""
    printed = PRINTED.get(result.name, {})
    ours = result.choices[_OURS]
    bins = "" if result.max_bins is None else f", {result.max_bins} bins"
    cells = [
        result.name,
        f"{result.n_rows} x {result.n_features}{bins}",
        _printed(printed.get(_OURS)),
        _found(ours),
        describe(ours.params),
    ]
    for method in _OTHERS:
        choice = result.choices[method.column]
        comparison = compare(ours.test, choice.test)
        cells += [_printed(printed.get(method.column)), _found(choice, comparison.mark), _p(comparison.p)]
    return line(cells)


def _counts(marks: Sequence[str]) -> str:
    return "/".join(str(marks.count(mark)) for mark in ("*", "", "-"))


def summary(results: Sequence[Result]) -> str:
    """Return the rows below the data sets: means, win/tie/loss and mean ranks, printed and found."""
    in_paper = [result.name for result in results if result.name in PRINTED]

    def printed_mean(column: str) -> str:
        return f"{np.mean([PRINTED[name][column].mean for name in in_paper]):.4f}" if in_paper else ""

    def found_mean(column: str) -> str:
        return f"{np.mean([np.mean(result.choices[column].test) for result in results]):.4f}"

    found = ranks_of(results)
    printed = printed_ranks(in_paper) if in_paper else None
    means = ["mean", f"{len(results)} sets", printed_mean(_OURS), found_mean(_OURS), ""]
    wins = ["win/tie/loss", "", "", "", ""]
    places = ["mean rank", "", "" if printed is None else f"{printed[0]:.2f}", f"{found[0]:.2f}", ""]
    for i, method in enumerate(_OTHERS, start=1):
        column = method.column
        marks = [compare(r.choices[_OURS].test, r.choices[column].test).mark for r in results]
        means += [printed_mean(column), found_mean(column), ""]
        wins += [_counts([PRINTED[name][column].mark for name in in_paper]) if in_paper else "", _counts(marks), ""]
        places += ["" if printed is None else f"{printed[i]:.2f}", f"{found[i]:.2f}", ""]
    lines = [line(means), line(wins), line(places)]
    note = (
        f"\nMarks: * {METHODS[0].title} is better, - it is worse, Wilcoxon p < {_LEVEL:g} over the splits (not "
        f"corrected for the number of tests).\nNemenyi critical difference of the mean ranks, {len(METHODS)} methods "
        f"on {len(results)} sets: {critical_difference(len(METHODS), len(results)):.2f}."
    )
    return "\n".join(lines) + "\n" + note
