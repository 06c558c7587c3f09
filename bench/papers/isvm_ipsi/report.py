"""The tables: what the paper prints, what was found, and by how much the iterative methods improve on the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from methods import METHODS, Method
from published import IMPROVEMENTS, PRINTED, ROWS, TABLES
from shared import line, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from protocol import Tested
    from sets import DataSet


@dataclass(frozen=True)
class Result:
    """The replications of a case of one data set."""

    data_set: DataSet
    case: int
    tested: Sequence[Mapping[str, Tested]]

    def errors(self, table: int, method: Method) -> NDArray[np.float64]:
        """Return the test errors of a method, replication by replication."""
        return np.array([found[method.name].error[table] for found in self.tested])


def improvement(biased: float, iterative: float, bayes: float | None) -> float:
    """Return the improvement by (5.1), of the regret where the Bayes error is known, else by (5.2)."""
    floor = 0.0 if bayes is None else bayes
    return (biased - iterative) / (biased - floor) if biased != floor else math.nan


def head() -> str:
    """Return the head of the tables, in Markdown."""
    cells = ["table", "case", "set", "method", "paper (se)", "here (se)", "improves: printed", "by (5.1)/(5.2), paper",
             "here (se)"]  # fmt: skip
    return table(cells)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _paper(table: int, result: Result, row: str) -> str:
    cell = PRINTED[table, result.case, result.data_set.name, row]
    return f"{cell.mean:.4f} ({cell.se:.4f})"


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(np.std(values, ddof=1)) / math.sqrt(values.size) if values.size > 1 else math.nan


def _improves(table: int, result: Result, method: Method) -> list[str]:
    """Return the improvement over the method's counterpart: printed, from the printed errors, and found."""
    if method.over is None:
        return ["", "", ""]
    bayes = result.data_set.bayes
    where = (table, result.case, result.data_set.name)
    printed: list[float | None] = [None, None]
    if not method.variant:
        errors = [PRINTED[(*where, row)].mean for row in (method.over, method.row)]
        printed = [IMPROVEMENTS[(*where, method.row)], improvement(errors[0], errors[1], bayes)]
    rival = next((other for other in METHODS if other.row == method.over), None)
    if rival is None:
        return [*map(_percent, printed), ""]
    pairs = np.stack([result.errors(table, rival), result.errors(table, method)])
    found = improvement(*pairs.mean(axis=1).tolist(), bayes)
    text = _percent(found)
    if pairs.shape[1] > 2:  # by leaving out one replication at a time
        n = pairs.shape[1]
        means = (pairs.sum(axis=1, keepdims=True) - pairs) / (n - 1)
        jackknife = np.array([improvement(*column, bayes) for column in means.T.tolist()])
        text += f" ({100 * math.sqrt((n - 1) * float(np.var(jackknife))):.1f})"
    return [*map(_percent, printed), text]


def lines(result: Result) -> str:
    """Return the rows of a case of one data set, for both tables."""
    found = []
    for number in TABLES:
        start = [str(number), str(result.case), result.data_set.name]
        for row in ROWS:
            methods = [method for method in METHODS if method.row == row]
            if not methods:
                found.append(line([*start, row, _paper(number, result, row), "", "", "", ""]))
            for method in methods:
                errors = result.errors(number, method)
                here = f"{errors.mean():.4f} ({_standard_error(errors):.4f})"
                paper = "" if method.variant else _paper(number, result, row)
                found.append(line([*start, method.name, paper, here, *_improves(number, result, method)]))
    return "\n".join(found)


def notes(results: Sequence[Result], n_replications: int, grid: str) -> str:
    """Return what has to be known to read the tables."""
    said = [f"Table {number}: tuned by the {text}." for number, text in TABLES.items()]
    said += [
        f"Mean test errors over {n_replications} replications (paper: 100), standard errors in brackets; {grid}.",
        "Unlabelled rows are drawn apart, by the paper's Assumption 1; in Err* Pr(Y = 1) is 0.5, as in the paper.",
        "Improvement of ISVM over BSVM and of IPSI over BPSI: (5.1) with the Bayes error for the examples, (5.2) for "
        "the real sets; most of the printed ones do not follow from the printed errors.",
        "Of tied points of a grid the first is chosen, the smallest C. IPSI starts Algorithm 1 from the psi loss; the "
        "variants from the hinge loss and from the model of ISVM.",
    ]
    said += dict.fromkeys(
        f"{r.data_set.name.partition('-')[0]}: {r.data_set.note}." for r in results if r.data_set.note
    )
    return "\n".join(f"- {text}" for text in said)
