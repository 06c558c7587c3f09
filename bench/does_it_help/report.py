"""What came out: wins and losses with a test over tables, ranks, means by kind of data, and a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from learners import LEARNERS, NOT_AT_RANDOM, ORACLE
from shared import critical_difference, table
from shared import ranks as ranks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from learners import Outcome
    from numpy.typing import NDArray
    from tasks import Task

REFERENCE = "fit_forest"
_TABLES = ("tables of numbers", "tables with categories")
_TIE = 0.005
_OURS, _OTHERS = "#c0392b", "#5d6d7e"


@dataclass(frozen=True)
class Place:
    """A problem: its task, what is labelled (a share of the positive rows, or a number of them), the split."""

    task: str
    labels: float
    split: int


class _Values:
    """One measure of the learners, a row for each task and number of labels, means over splits."""

    def __init__(self, outcomes: Mapping[Place, Mapping[str, Outcome]], measure: str) -> None:
        each: dict[tuple[str, float], list[list[float]]] = {}
        self.names = [name for name in LEARNERS if any(name in found for found in outcomes.values())]
        for place, found in outcomes.items():
            row = [getattr(found[name], measure) if name in found else np.nan for name in self.names]
            each.setdefault((place.task, place.labels), []).append(row)
        self.places = list(each)
        self.values: NDArray[np.float64] = np.array([np.mean(rows, axis=0) for rows in each.values()])

    def of(self, name: str) -> NDArray[np.float64]:
        return self.values[:, self.names.index(name)] if name in self.names else np.full(len(self.places), np.nan)

    def by_table(self, tasks: Mapping[str, Task]) -> NDArray[np.float64]:
        """Return means over the tasks and labels of each table."""
        tables = np.array([tasks[task].table for task, _ in self.places])
        return np.array([self.values[tables == name].mean(axis=0) for name in dict.fromkeys(tables.tolist())])


def report(tasks: Sequence[Task], outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    """Return everything that was measured as Markdown."""
    by_name = {task.name: task for task in tasks}

    def those(kinds: Sequence[str], *, tuned: bool = True) -> dict[Place, Mapping[str, Outcome]]:
        wanted = {task.name for task in tasks if task.kind in kinds and (tuned or not task.tuned)}
        return {place: found for place, found in outcomes.items() if place.task in wanted}

    parts = []
    if found := those(_TABLES):
        parts += [_over_tables(by_name, found)]
        if rest := those(_TABLES, tuned=False):
            parts += [_over_tables(by_name, rest, title="Without the tables by which defaults were once chosen")]
    kinds = list(dict.fromkeys(task.kind for task in tasks))
    parts += [_of_kind(kind, found) for kind in kinds if (found := those([kind]))]
    parts += [_by_task(by_name, outcomes), _settings(), _refused(outcomes)]
    return "\n".join(part for part in parts if part)


def _over_tables(tasks: Mapping[str, Task], outcomes: Mapping[Place, Mapping[str, Outcome]], title: str = "") -> str:
    auc, ap, top, seconds = (_Values(outcomes, measure) for measure in ("auc", "ap", "top", "seconds"))
    labels = list(dict.fromkeys(place.labels for place in outcomes))
    tables = auc.by_table(tasks)
    judged = [i for i, name in enumerate(auc.names) if name not in (ORACLE, NOT_AT_RANDOM)]
    ranks = dict(zip([auc.names[i] for i in judged], ranks_of(tables[:, judged]).mean(axis=0), strict=True))
    tests = _paired(auc.names, tables, judged)
    rows = []
    for name in sorted(auc.names, key=lambda name: ranks.get(name, np.inf)):
        if name == NOT_AT_RANDOM:
            continue
        shares = [_number(_mean(auc.of(name)[[place[1] == share for place in auc.places]])) for share in labels]
        rows.append([name, *shares, *(_number(_mean(values.of(name))) for values in (ap, top)),
                     f"{ranks[name]:.1f}" if name in ranks else "", *tests.get(name, ["", "", ""]),
                     f"{_mean(seconds.of(name)):.3f}"])  # fmt: skip
    head = ["learner", *(f"AUC, {_labels(share)}" for share in labels), "average precision", "precision at n_pos",
            "mean rank", f"{REFERENCE} wins, ties, loses", "median difference", "p", "CPU-s"]  # fmt: skip
    n_splits = len({place.split for place in outcomes})
    title = title or "Over tables"
    title = f"{title}: {tables.shape[0]} tables, {len({place.task for place in outcomes})} tasks, {n_splits} splits"
    note = (
        f"Wins, ties and losses of {REFERENCE} are over tables, by the mean AUC of a table's tasks, labels and splits; "
        f"a difference below {_TIE} is a tie. p is of Wilcoxon's signed rank test of these differences, by Holm for as "
        f"many tests as there are lines. Mean ranks that differ by less than "
        f"{critical_difference(len(judged), tables.shape[0]):.1f} cannot be told apart by these tables (Nemenyi, 5 %). "
        "Where a learner refused rows it has the last rank there, and they are left out of its means."
    )
    return table(head, rows, title=title) + f"\n\n{note}\n"


def _paired(names: Sequence[str], tables: NDArray[np.float64], judged: Sequence[int]) -> dict[str, list[str]]:
    """Return wins, ties and losses of the reference, the median difference, and p by Holm, for each learner."""
    from scipy.stats import wilcoxon  # noqa: PLC0415 (only in reports)

    if REFERENCE not in names:
        return {}
    reference = tables[:, names.index(REFERENCE)]
    others = [i for i in judged if names[i] != REFERENCE]
    gains = [(gain := reference - tables[:, i])[~np.isnan(gain)] for i in others]
    raw = np.array([wilcoxon(gain).pvalue if gain.size and gain.any() else 1.0 for gain in gains])
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty(raw.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1)), 1.0)
    return {
        names[i]: [f"{(gain > _TIE).sum()}, {(abs(gain) <= _TIE).sum()}, {(gain < -_TIE).sum()}",
                   f"{np.median(gain):+.3f}", _p_value(p)]
        for i, gain, p in zip(others, gains, adjusted, strict=True)
    }  # fmt: skip


def _of_kind(kind: str, outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    """Return means of AUC and average precision by labels; the best of each column, but for the oracle, is bold."""
    labels = dict.fromkeys(place.labels for place in outcomes)
    parts = {each: {place: found for place, found in outcomes.items() if place.labels == each} for each in labels}
    columns = {
        f"{title}, {_labels(each)}": _Values(part, measure)
        for measure, title in (("auc", "AUC"), ("ap", "average precision"))
        for each, part in parts.items()
    }
    names = [name for name in LEARNERS if any(name in column.names for column in columns.values())]
    cells = np.array([[_mean(column.of(name)) for column in columns.values()] for name in names])
    best = np.nanmax(cells[[name != ORACLE for name in names]], axis=0)
    rows = [
        [name, *(f"**{_number(cell)}**" if cell == top and name != ORACLE else _number(cell)
                 for cell, top in zip(line, best, strict=True))]
        for name, line in zip(names, cells, strict=True)
    ]  # fmt: skip
    n_tasks = len({place.task for place in outcomes})
    return table(["learner", *columns], rows, title=f"{kind[0].upper()}{kind[1:]}: means over {n_tasks} tasks") + "\n"


def _by_task(tasks: Mapping[str, Task], outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    auc = _Values(outcomes, "auc")
    rows = [
        [f"{task}{' (tuned)' if tasks[task].tuned else ''}", tasks[task].about, _labels(labels),
         *(_number(value) for value in values)]
        for (task, labels), values in zip(auc.places, auc.values, strict=True)
    ]  # fmt: skip
    return table(["task", "rows", "labelled", *auc.names], rows, title="AUC of every task, means of splits") + "\n"


def _settings() -> str:
    return table(["learner", "what was set"], [[name, each.about] for name, each in LEARNERS.items()],
                 title="What was set") + "\n"  # fmt: skip


def _refused(outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    flaws: dict[str, set[str]] = {}
    for place, each in outcomes.items():
        for name, outcome in each.items():
            if outcome.flaw:
                flaws.setdefault(f"{name}: {outcome.flaw}", set()).add(place.task)
    if not flaws:
        return ""
    listed = "\n".join(f"- {flaw} ({', '.join(sorted(names))})" for flaw, names in sorted(flaws.items()))
    return f"### What learners refused\n\n{listed}\n"


def draw_picture(tasks: Sequence[Task], outcomes: Mapping[Place, Mapping[str, Outcome]], path: Path) -> None:
    """Draw who wins over the tables, by how much, and how fast."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (only where it is wanted)

    by_name = {task.name: task for task in tasks if task.kind in _TABLES}
    found = {place: each for place, each in outcomes.items() if place.task in by_name}
    if not found or REFERENCE not in next(iter(found.values())):
        return
    auc, seconds = (_Values(found, measure).by_table(by_name) for measure in ("auc", "seconds"))
    every = _Values(found, "auc").names
    names = [name for name in every if name not in (ORACLE, NOT_AT_RANDOM, REFERENCE)]
    gains = {name: auc[:, every.index(name)] - auc[:, every.index(REFERENCE)] for name in names}
    order = sorted([*names, REFERENCE], key=lambda name: float(np.nanmean(gains.get(name, 0.0))))
    figure = Figure(figsize=(9, 0.9 + 0.29 * len(order)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 1.2])
    for height, name in enumerate(order):
        colour = _OURS if LEARNERS[name].ours else _OTHERS
        gain = gains.get(name, np.zeros(auc.shape[0]))
        gain = gain[~np.isnan(gain)]
        left.plot(gain, np.full(gain.size, height), "|", color=colour, alpha=0.3, markersize=7)
        half = 1.96 * gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else 0.0
        left.errorbar(gain.mean(), height, xerr=half, fmt="o", color=colour, markersize=5, linewidth=2)
        right.plot(np.nanmean(seconds[:, every.index(name)]), height, "o", color=colour, markersize=5)
    left.axvline(0, color="0.3", linewidth=0.8)
    left.set_xlim(-0.32, 0.16)
    left.set_yticks(range(len(order)), order)
    left.set_xlabel(f"AUC less that of {REFERENCE}\n(bars: {auc.shape[0]} tables; dots: means, with 95 % intervals)")
    right.set_xscale("log")
    right.set_xlabel("CPU seconds\n(log scale)")
    right.grid(axis="x", color="0.9")
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _labels(labels: float) -> str:
    return f"{labels:,.0f} labels" if labels >= 1 else f"{100 * labels:g} %"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _p_value(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}" + ("" if p < 0.05 else ", not significant")


def _mean(values: NDArray[np.float64]) -> float:
    """Return the mean of what there is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan
