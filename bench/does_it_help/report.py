"""What came out: tables, mean ranks with their critical difference, and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from learners import FASTPU, LEARNERS, NOT_AT_RANDOM, ORACLE
from shared import critical_difference, table
from shared import ranks as ranks_of
from tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from learners import Outcome
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_BASELINE = "LightGBM"
_OURS, _OTHERS = "#c0392b", "#5d6d7e"


@dataclass(frozen=True)
class Place:
    """A problem: its task, the share of labelled positives, the split."""

    task: str
    share: float
    split: int


class _Values:
    """One measure of every learner that was judged everywhere: means over splits, by task and share."""

    def __init__(self, outcomes: Mapping[Place, Mapping[str, Outcome]], measure: str) -> None:
        self.tasks = list(dict.fromkeys(place.task for place in outcomes))
        self.shares = list(dict.fromkeys(place.share for place in outcomes))
        self.names = [name for name in LEARNERS if all(name in found for found in outcomes.values())]
        each: dict[tuple[str, float], list[list[float]]] = {}
        for place, found in outcomes.items():
            each.setdefault((place.task, place.share), []).append([getattr(found[n], measure) for n in self.names])
        #: (tasks, shares, learners); NaN where a learner refused the rows of a split.
        self.means: NDArray[np.float64] = np.array(
            [[np.mean(each[task, share], axis=0) for share in self.shares] for task in self.tasks]
        )

    def of(self, name: str) -> NDArray[np.float64]:
        return self.means[:, :, self.names.index(name)]

    def ranks(self) -> tuple[list[str], NDArray[np.float64]]:
        """Return the learners but for the oracle, and their ranks on each task, means over shares; 1 is best."""
        names = [name for name in self.names if name != ORACLE]
        kept = self.means[:, :, [self.names.index(name) for name in names]]
        return names, ranks_of(kept).mean(axis=1)


def _number(value: float, digits: int = 3) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _mean(values: NDArray[np.float64]) -> float:
    """Return the mean of what there is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def _means(title: str, outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    """Return a table of the means and mean ranks of the learners, the best first."""
    auc, ap, top, seconds = (_Values(outcomes, measure) for measure in ("auc", "ap", "top", "seconds"))
    names, by_auc = auc.ranks()
    by_ap = ap.ranks()[1].mean(axis=0)
    ranks = by_auc.mean(axis=0)
    order = [*np.argsort(ranks, kind="stable")]
    rows = []
    for name in [*(names[i] for i in order), *([ORACLE] if ORACLE in auc.names else [])]:
        i = names.index(name) if name in names else -1
        by_share = [_number(_mean(auc.of(name)[:, s])) for s in range(len(auc.shares))]
        rows.append([
            name, *by_share, *(_number(_mean(values.of(name))) for values in (ap, top)),
            *([f"{ranks[i]:.1f}", f"{by_ap[i]:.1f}"] if i >= 0 else ["", ""]),
            _number(_mean(seconds.of(name)), 2),
        ])  # fmt: skip
    shares = [f"AUC, {100 * share:g} % labelled" for share in auc.shares]
    head = ["learner", *shares, "average precision", "precision in the top 1 %", "rank by AUC", "rank by AP", "CPU-s"]
    return table(head, rows, title=title) + "\n"


def report(outcomes: Mapping[Place, Mapping[str, Outcome]]) -> str:
    """Return everything that was measured as Markdown."""
    auc = _Values(outcomes, "auc")
    n_splits = len({place.split for place in outcomes})
    parts = [_means(f"Means over {len(auc.tasks)} tasks, {n_splits} splits each", outcomes)]
    if len(auc.tasks) > 1:
        difference = critical_difference(len(auc.ranks()[0]), len(auc.tasks))
        parts.append(f"Mean ranks that differ by less than {difference:.1f} cannot be told apart by these tasks.\n")
    not_at_random = {place: each for place, each in outcomes.items() if NOT_AT_RANDOM in each}
    if 0 < len(not_at_random) < len(outcomes):
        tasks = ", ".join(f'"{task}"' for task in dict.fromkeys(place.task for place in not_at_random))
        parts.append(_means(f"Labels that are not at random: {tasks} alone", not_at_random))
    for s, share in enumerate(auc.shares):
        lines = [
            [task, *(_number(float(auc.of(name)[t, s])) for name in auc.names)] for t, task in enumerate(auc.tasks)
        ]
        parts.append(
            table(["task", *auc.names], lines, title=f"Test AUC, {100 * share:g} % of the positives labelled") + "\n"
        )
    parts.append(table(["task", "rows"], [[task, TASKS[task].about] for task in auc.tasks], title="The tasks") + "\n")
    flaws: dict[str, set[str]] = {}
    for place, each in outcomes.items():
        for name, outcome in each.items():
            if outcome.flaw:
                flaws.setdefault(f"{name}: {outcome.flaw}", set()).add(place.task)
    if flaws:
        listed = "\n".join(f"- {flaw} ({', '.join(sorted(tasks))})" for flaw, tasks in sorted(flaws.items()))
        parts.append(
            f"Rows that a learner refused are left out of its means; it has the last rank there.\n\n{listed}\n"
        )
    return "\n".join(parts)


def draw_pictures(outcomes: Mapping[Place, Mapping[str, Outcome]], folder: Path) -> None:
    """Draw the mean ranks, and what each learner gains over LightGBM with unlabelled rows as negatives."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (only where it is wanted)

    auc = _Values(outcomes, "auc")
    names, by_task = auc.ranks()
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    _draw_ranks(figure.subplots(), names, by_task)
    figure.savefig(folder / "does_it_help_ranks.png", dpi=150)
    if _BASELINE in names:
        figure = Figure(figsize=(8, 4.6), layout="constrained")
        _draw_gains(figure.subplots(), auc, names)
        figure.savefig(folder / "does_it_help_gains.png", dpi=150)


def _draw_ranks(axis: Axes, names: Sequence[str], by_task: NDArray[np.float64]) -> None:
    ranks = by_task.mean(axis=0)
    order = np.argsort(-ranks, kind="stable")
    colours = [_OURS if names[i] in FASTPU else _OTHERS for i in order]
    axis.barh([names[i] for i in order], ranks[order], color=colours, height=0.7)
    difference = critical_difference(len(names), by_task.shape[0])
    best = ranks.min()
    axis.axvspan(best, best + difference, color="0.85", zorder=0)
    text = " shaded: not told\n apart from the best"
    axis.text(best + difference, len(names) - 1, text, fontsize=9, va="center", color="0.3")
    axis.set_xlabel(f"mean rank by test AUC over {by_task.shape[0]} tasks (1 is best); red: fastpu")
    axis.set_xlim(0, len(names))
    axis.spines[["top", "right"]].set_visible(False)


def _draw_gains(axis: Axes, auc: _Values, names: Sequence[str]) -> None:
    gains = {name: (auc.of(name) - auc.of(_BASELINE)).ravel() for name in names if name != _BASELINE}
    gains = {name: values for name, values in gains.items() if not np.isnan(values).all()}
    order = sorted(gains, key=lambda name: float(np.nanmedian(gains[name])))
    jitter = np.random.default_rng(0)
    for height, name in enumerate(order):
        colour = _OURS if name in FASTPU else _OTHERS
        values = gains[name]
        axis.plot(values, height + jitter.uniform(-0.25, 0.25, values.size), ".", color=colour, alpha=0.5, markersize=5)
        axis.plot([np.nanmedian(values)] * 2, [height - 0.4, height + 0.4], color=colour, linewidth=2.5)
    axis.axvline(0, color="0.3", linewidth=0.8)
    axis.set_yticks(range(len(order)), order)
    axis.set_xlabel(f"test AUC minus that of {_BASELINE} with unlabelled rows as negatives\n"
                    "(a point is a task and share of labels, a bar the median; red: fastpu)")  # fmt: skip
    axis.spines[["top", "right"]].set_visible(False)
