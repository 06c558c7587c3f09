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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from protocol import Choice

__all__ = ["Comparison", "Ranks", "Result", "compare", "printed_ranks", "ranks_of", "row", "summary", "table_head"]

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
    seconds: float


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


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods over data sets (1 is best), and the Nemenyi critical difference at 0.05."""

    columns: tuple[str, ...]
    means: NDArray[np.float64]
    n_sets: int

    @property
    def critical_difference(self) -> float:
        """What two mean ranks must differ by to be told apart."""
        k = len(self.columns)
        q = float(stats.studentized_range.ppf(1 - _LEVEL, k, math.inf)) / math.sqrt(2)
        return q * math.sqrt(k * (k + 1) / (6 * self.n_sets))


def _mean_ranks(auc: NDArray[np.float64], columns: Sequence[str]) -> Ranks:
    return Ranks(tuple(columns), stats.rankdata(-auc, axis=1).mean(axis=0), len(auc))


def ranks_of(results: Sequence[Result]) -> Ranks:
    """Return the mean ranks of the methods that were run."""
    columns = [method.column for method in METHODS]
    auc = np.array([[np.mean(result.choices[column].test) for column in columns] for result in results])
    return _mean_ranks(auc, columns)


def printed_ranks(columns: Sequence[str], names: Sequence[str]) -> Ranks:
    """Return the mean ranks in the printed table, of some methods on some data sets."""
    return _mean_ranks(np.array([[PRINTED[name][column].mean for column in columns] for name in names]), columns)


# ---- The table -------------------------------------------------------------------------------------------------------


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def table_head() -> str:
    """Return the head of the table, in Markdown."""
    cells = ["set", "n x d", f"{METHODS[0].title}: paper (sd)", "here (sd)", "chosen"]
    for method in _OTHERS:
        cells += [f"{method.title}: paper (sd)", "here (sd)", "p"]
    return _line(cells) + "\n" + _line(["---"] * len(cells))


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
    return _line(cells)


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
    columns = found.columns
    printed = printed_ranks(columns, in_paper) if in_paper else None
    means = ["mean", f"{len(results)} sets", printed_mean(_OURS), found_mean(_OURS), ""]
    wins = ["win/tie/loss", "", "", "", ""]
    ranks = ["mean rank", "", f"{printed.means[0]:.2f}" if printed else "", f"{found.means[0]:.2f}", ""]
    for i, method in enumerate(_OTHERS, start=1):
        column = method.column
        marks = [compare(r.choices[_OURS].test, r.choices[column].test).mark for r in results]
        means += [printed_mean(column), found_mean(column), ""]
        wins += [_counts([PRINTED[name][column].mark for name in in_paper]) if in_paper else "", _counts(marks), ""]
        ranks += [f"{printed.means[i]:.2f}" if printed else "", f"{found.means[i]:.2f}", ""]
    lines = [_line(means), _line(wins), _line(ranks)]
    note = (
        f"\nMarks: * {METHODS[0].title} is better, - it is worse, Wilcoxon p < {_LEVEL:g} over the splits (not "
        f"corrected for the number of tests).\nNemenyi critical difference of the mean ranks, {len(columns)} methods "
        f"on {found.n_sets} sets: {found.critical_difference:.2f}."
    )
    return "\n".join(lines) + "\n" + note
