"""The tables: what the paper prints beside what was found, and the paired t-tests."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from published import TABLE_1, TABLE_3
from scipy.stats import ttest_rel
from shared import line, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from protocol import Tested

_LEVEL = 0.05


@dataclass(frozen=True)
class Result:
    """The splits of a line of a table: mean_p2, or a set and a label frequency."""

    key: int | tuple[str, float]
    tested: Sequence[Mapping[str, Tested]]

    @property
    def table(self) -> int:
        return 1 if isinstance(self.key, int) else 3

    def scores(self, method: str) -> NDArray[np.float64]:
        """Return the F1 scores of a method in per cent, split by split."""
        return np.array([100 * found[method].f1 for found in self.tested])

    @property
    def methods(self) -> list[str]:
        """The names of the methods."""
        return list(self.tested[0])

    @property
    def name(self) -> str:
        """The line's name."""
        return f"mean_p2 = {self.key}" if isinstance(self.key, int) else f"{self.key[0]}, gamma = {self.key[1]:g}"

    def printed(self, method: str) -> tuple[float, float] | None:
        """What the paper prints for a method, whatever its form."""
        lines: Mapping[object, Mapping[str, tuple[float, float]]] = TABLE_1 if self.table == 1 else TABLE_3  # type: ignore[assignment] # keys of either kind
        return lines[self.key].get(method.split(",", maxsplit=1)[0])


def best(result: Result) -> str | None:
    """Return the method whose mean is above each of the others' with p < 0.05 in a paired t-test, if there is one."""
    if len(result.tested) < 2 or len(result.methods) < 2:
        return None
    first = max(result.methods, key=lambda name: float(result.scores(name).mean()))
    for other in result.methods:
        if other == first:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scores that are all the same
            p = float(ttest_rel(result.scores(first), result.scores(other)).pvalue)
        if not p < _LEVEL:  # NaN where they are equal in every split
            return None
    return first


def head() -> str:
    """Return the head of the tables, in Markdown."""
    cells = ["table", "line", "method", "paper", "here", "splits", "best (t-test)", "chosen most"]
    return table(cells)


def _chosen(result: Result, method: str) -> str:
    """Return the median of the chosen parameters."""
    params = [found[method].params for found in result.tested]
    names = params[0].keys()
    return ", ".join(f"{name} {np.median([p[name] for p in params]):.3g}" for name in names)


def result_lines(result: Result) -> str:
    """Return a line of Markdown for every method."""
    winner = best(result)
    lines = []
    for method in result.methods:
        printed, scores = result.printed(method), result.scores(method)
        spread = f" ± {scores.std(ddof=1):.2f}" if scores.size > 1 else ""
        lines.append(line([
            str(result.table),
            result.name,
            method,
            "" if printed is None else f"{printed[0]:.2f} ± {printed[1]:.2f}",
            f"{scores.mean():.2f}{spread}",
            str(scores.size),
            "yes" if method == winner else "",
            _chosen(result, method),
        ]))  # fmt: skip
    return "\n".join(lines)


def notes(results: Sequence[Result], remarks: Sequence[str]) -> str:
    """Return what has to be known to read the tables."""
    parts = [
        "F1 on the test rows in per cent, mean ± standard deviation over the splits; the last column has medians of "
        "the chosen parameters. 'best' is a method above each of the others with p < 0.05 in paired t-tests."
    ]
    if any(result.table == 1 for result in results):
        parts.append(
            "Table 1: the column of PUAL beyond mean_p2 = 50 does not follow from eq. (7), whose unlabelled far "
            "positives pay (1 + f)^2: parameters that are chosen on the test rows themselves stay below it."
        )
    if any(result.table == 3 for result in results):
        parts.append(
            "Table 3: PUAL and GLLC minimise their objectives in the space of the kernel, lam being 1; 'printed form' "
            "is the paper's shortcut, which has neither lam nor neighbours. Which rows of the larger sets the paper "
            "took, and how features were scaled, it does not say."
        )
    return "\n\n".join([*parts, *remarks])
