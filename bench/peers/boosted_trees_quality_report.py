"""What was measured of losses, leaves and bags, as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from report_parts import machine, table
from scipy.stats import friedmanchisquare, rankdata, studentized_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Cell", "report"]

_PEER = "LightGBM"


@dataclass(frozen=True)
class Cell:
    """How one learner ranked the test rows of one split."""

    task: str
    share: float
    split: int
    max_rows: int
    learner: str
    auc: float
    ap: float
    seconds: float


class _Results:
    """Means over the splits on which every learner is finished, by task, share and learner."""

    def __init__(self, cells: Sequence[Cell], names: Sequence[str], tasks: Sequence[str] | None, splits: int) -> None:
        found: dict[tuple[str, float, int], dict[str, Cell]] = {}
        for cell in cells:
            if cell.split < splits and (tasks is None or cell.task in tasks):
                found.setdefault((cell.task, cell.share, cell.split), {})[cell.learner] = cell
        whole = {place: each for place, each in found.items() if set(names) <= set(each)}
        self.names = list(names)
        self.shares = sorted({share for _, share, _ in whole})
        self.tasks = [
            task
            for task in dict.fromkeys(task for task, _, _ in whole)
            if all(any((task, share) == place[:2] for place in whole) for share in self.shares)
        ]
        self.n_splits = [sum(place[:2] == (task, self.shares[0]) for place in whole) for task in self.tasks]
        self._whole = whole

    def of(self, measure: str, tasks: Sequence[str]) -> NDArray[np.float64]:
        """Return (tasks, shares, learners)."""
        return np.array([[self._mean(measure, task, share) for share in self.shares] for task in tasks])

    def _mean(self, measure: str, task: str, share: float) -> list[float]:
        places = [each for place, each in self._whole.items() if place[:2] == (task, share)]
        return [float(np.mean([getattr(each[name], measure) for each in places])) for name in self.names]


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each learner on each task, 1 for the largest, means over the shares of labels."""
    ranks: NDArray[np.float64] = rankdata(-np.round(values, 10), axis=2).mean(axis=1)
    return ranks


def _difference(n_learners: int, n_tasks: int) -> float:
    """Return the difference of mean ranks that Nemenyi's test calls significant at 5 %."""
    quantile = studentized_range.ppf(0.95, n_learners, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_tasks)))


def report(cells: Sequence[Cell], names: Sequence[str], tasks: Sequence[str] | None, splits: int) -> str:
    """Return the tables of what is finished."""
    results = _Results(cells, names, tasks, splits)
    if not results.tasks:
        return "Nothing is finished."
    real = [task for task in results.tasks if not task.endswith("*")]
    simulated = [task for task in results.tasks if task.endswith("*")]
    low, high = min(results.n_splits), max(results.n_splits)
    counts = f"{low} splits" if low == high else f"{low} to {high} splits"
    parts = [machine("fastpu", "lightgbm", "scikit-learn", "numpy"), _means(results, real, simulated, counts)]
    parts.append(_factors(results))
    parts += [_choices(results, some, title) for some, title in ((real, "real"), (simulated, "simulated")) if some]
    parts += [_peer(results, some, title) for some, title in ((real, "real"), (simulated, "simulated")) if some]
    parts.append(_winners(results))
    return "\n\n".join(part for part in parts if part)


def _means(results: _Results, real: Sequence[str], simulated: Sequence[str], counts: str) -> str:
    groups = [group for group in (real, simulated) if group]
    head = ["learner"]
    columns: list[NDArray[np.float64]] = []
    for group in groups:
        what = "simulated" if group is simulated else "real"
        head += [f"AUC, {what}", f"AP, {what}"]
        columns += [results.of(measure, group).mean(axis=(0, 1)) for measure in ("auc", "ap")]
    values = results.of("auc", results.tasks)
    ranks = _ranks(values)
    by_ap = _ranks(results.of("ap", results.tasks)).mean(axis=0)
    seconds = np.median(results.of("seconds", results.tasks), axis=(0, 1))
    mean = ranks.mean(axis=0)
    of_groups = [_ranks(results.of("auc", group)).mean(axis=0) for group in groups]
    head += ["rank by AUC", *(f"{'simulated' if group is simulated else 'real'}" for group in groups), "rank by AP",
             "median CPU-s"]  # fmt: skip
    rows = [
        [results.names[k], *(f"{column[k]:.4f}" for column in columns), f"{mean[k]:.1f}",
         *(f"{group[k]:.1f}" for group in of_groups), f"{by_ap[k]:.1f}", f"{seconds[k]:.3f}"]
        for k in np.argsort(mean, kind="stable")
    ]  # fmt: skip
    shares = " and ".join(f"{100 * share:g} %" for share in results.shares)
    title = f"Means over {len(real)} real and {len(simulated)} simulated tables, {shares} labelled, {counts}"
    text = table(title, head, rows)
    n = len(results.tasks)
    if n > 1 and len(results.names) > 2:
        p = friedmanchisquare(*ranks.T).pvalue
        text += (
            f"\n\nFriedman's test: p = {p:.1g}. Mean ranks that differ by less than "
            f"{_difference(len(results.names), n):.1f} cannot be told apart by these tables (Nemenyi, 5 %)."
        )
    return text


def _place(name: str) -> tuple[str, str, str] | None:
    """Return the loss, leaves and bags of a name of the grid."""
    parts = name.split(", ")
    if parts[0] == _PEER or len(parts) == 1 or not parts[1].endswith(" leaves"):
        return None
    bags = next((part for part in parts[2:] if part.endswith(" bags")), "1 bag")
    return parts[0] + (", true prior" if "true prior" in parts else ""), parts[1], bags


def _factors(results: _Results) -> str:
    """Return the mean rank of each loss, number of leaves and of bags among those with the others as they are."""
    places = {place: k for k, name in enumerate(results.names) if (place := _place(name))}
    values = results.of("auc", results.tasks)
    rows = []
    for factor, what in enumerate(("loss", "leaves", "bags")):
        levels = list(dict.fromkeys(place[factor] for place in places))
        others = dict.fromkeys((*place[:factor], *place[factor + 1 :]) for place in places)
        ranks = []
        for rest in others:
            same = [places.get((*rest[:factor], level, *rest[factor:])) for level in levels]
            if all(k is not None for k in same):
                ranks.append(_ranks(values[:, :, same]))
        if len(levels) < 2 or not ranks:
            continue
        mean = np.mean(ranks, axis=(0, 1))
        order = np.argsort(mean, kind="stable")
        rows.append([what, "; ".join(f"{levels[k]}: {mean[k]:.2f}" for k in order),
                     f"{_difference(len(levels), len(results.tasks)):.2f}"])  # fmt: skip
    head = ["", "mean ranks with the other two as they are", "critical difference"]
    return table("Each choice by itself", head, rows) if rows else ""


def _choices(results: _Results, tasks: Sequence[str], title: str) -> str:
    """Return the mean AUC of losses by leaves and bags."""
    values = results.of("auc", tasks).mean(axis=(0, 1))
    grid: dict[str, dict[str, str]] = {}
    for name, value in zip(results.names, values, strict=True):
        if place := _place(name):
            grid.setdefault(place[0], {})[f"{place[1]}, {place[2]}"] = f"{value:.4f}"
    columns = list(dict.fromkeys(column for row in grid.values() for column in row))
    rows = [[loss, *(row.get(column, "") for column in columns)] for loss, row in grid.items()]
    return table(f"Mean AUC on the {title} tables", ["loss", *columns], rows)


def _peer(results: _Results, tasks: Sequence[str], title: str) -> str:
    """Return every learner beside LightGBM with as many leaves."""
    values = results.of("auc", tasks)
    rows = []
    for k, name in enumerate(results.names):
        leaves = next((part for part in name.split(", ") if part.endswith(" leaves")), "")
        peer = f"{_PEER}, {leaves}"
        if name == peer or peer not in results.names:
            continue
        gain = (values[:, :, k] - values[:, :, results.names.index(peer)]).ravel()
        rows.append([name, f"{gain.mean():+.4f}", f"{np.median(gain):+.4f}", f"{(gain > 0).mean():.0%}"])
    return table(f"AUC less that of {_PEER} with the same leaves, {title} tables",
                 ["learner", "mean", "median", "better on"], rows) if rows else ""  # fmt: skip


def _winners(results: _Results) -> str:
    rows = []
    for task in results.tasks:
        for s, share in enumerate(results.shares):
            values = results.of("auc", [task])[0, s]
            best = int(np.argmax(values))
            peers = [value for name, value in zip(results.names, values, strict=True) if name.startswith(_PEER)]
            rows.append([task, f"{100 * share:g} %", results.names[best], f"{values[best]:.4f}",
                         f"{max(peers):.4f}" if peers else ""])  # fmt: skip
    return table("The best on every table (* simulated)", ["table", "labelled", "best", "AUC", f"best {_PEER}"], rows)
