"""What came out with few labels: means by the number of labels, and beside what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from few_labels_cases import ADBENCH, ADGYM, GYM_LABELS, SHARES, Case
from learners import Learner, Outcome
from shared import machine, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Results: TypeAlias = dict[Case, dict[str, Outcome]]
Published: TypeAlias = dict[Case, dict[str, tuple[float, float]]]

_GROUPS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 199), (1, 4), (2, 199))  # the last two: several of them
_OUR_NAMES = {"RF": "random forest, as shipped", "LGB": "LightGBM, as shipped"}
_SAME = 5e-5  # a figure agrees with the published one to four digits


def report(results: Results, learners: Mapping[str, Learner], known: Published) -> str:
    """Return all tables as Markdown."""
    parts = [_by_labels(results, list(learners)), _by_share(results, list(learners)),
             _beside_published(results, list(learners), known), _refused(results), machine()]  # fmt: skip
    return "\n".join(f"{part}\n" for part in parts if part)


# ---- ADBench ---------------------------------------------------------------------------------------------------------


def _by_labels(results: Results, names: Sequence[str]) -> str:
    """Return means over the fits with so many labels, of the learners that saw all of them."""
    found = {case: each for case, each in results.items() if case.suite == ADBENCH}
    names = [name for name in names if found and all(name in each for each in found.values())]
    if not names:
        return ""
    rows = [
        [f"{low}" if low == high else f"{low} to {high}", *_cells(found, names, low, high)] for low, high in _GROUPS
    ]
    rows.append(["CPU-s a fit, all rows", "", *(f"{_mean(found, name, 'seconds'):.3f}" for name in names)])
    tables = len({case.table for case in found})
    splits = len({case.seed for case in found})
    title = f"ADBench: {tables} tables, {splits} splits, mean AUC / average precision by the number of labels"
    return table(["labels", "fits", *names], rows, title=title) + "\n"


def _cells(found: Results, names: Sequence[str], low: int, high: int) -> list[str]:
    part = {case: each for case, each in found.items() if low <= case.labels <= high}
    return [f"{len(part)}", *(_pair(_mean(part, name, "auc"), _mean(part, name, "ap")) for name in names)]


def _by_share(results: Results, names: Sequence[str]) -> str:
    """Return means over the first split, where the slowest learners ran too, by the share of labelled positives."""
    found = {case: each for case, each in results.items() if case.suite == ADBENCH and case.seed == 0}
    names = [name for name in names if found and all(name in each for each in found.values())]
    if not names:
        return ""
    parts = [{case: each for case, each in found.items() if case.share == share} for share in SHARES]
    rows = [
        [name, *(_pair(_mean(part, name, "auc"), _mean(part, name, "ap")) for part in parts),
         f"{_mean(found, name, 'seconds'):.3f}"]
        for name in names
    ]  # fmt: skip
    head = ["learner", *(f"{100 * share:g} % ({len(part)} fits)" for share, part in zip(SHARES, parts, strict=True)),
            "CPU-s a fit"]  # fmt: skip
    title = "ADBench, first split: mean AUC / average precision by the share of labelled positive rows"
    return table(head, rows, title=title) + "\n"


# ---- ADGym -----------------------------------------------------------------------------------------------------------


def _beside_published(results: Results, names: Sequence[str], known: Published) -> str:
    """Return means over the cases that the published figures and all learners have, the best one first."""
    found = {case: each for case, each in results.items() if case.suite == ADGYM}
    ours = [name for name in names if found and all(name in each for each in found.values())]
    if not ours:
        return ""
    values: dict[str, dict[Case, tuple[float, float]]] = {
        name: {case: (each[name].auc, each[name].ap) for case, each in found.items()} for name in ours
    }
    for name in dict.fromkeys(name for case in found for name in known[case]):
        published = {case: known[case].get(name, (np.nan, np.nan)) for case in found}
        if not np.isnan(list(published.values())).any():
            values[f"{name} (published)"] = published
    rows = []
    for name in sorted(values, key=lambda name: -float(np.mean([pair[0] for pair in values[name].values()]))):
        cells = [
            f"{np.mean([pair[measure] for case, pair in values[name].items() if case.labels == labels]):.3f}"
            for measure in (0, 1)
            for labels in GYM_LABELS
        ]
        seconds = f"{_mean(found, name, 'seconds'):.3f}" if name in ours else ""
        rows.append([name, *cells, seconds])
    measures = [f"{title}, {labels} labels" for title in ("AUC", "average precision") for labels in GYM_LABELS]
    tables, splits = len({case.table for case in found}), len({case.seed for case in found})
    title = f"ADGym: {tables} tables, {splits} splits, means, and what was published for the same splits"
    return table(["learner", *measures, "CPU-s"], rows, title=title) + f"\n\n{_agreement(found, known)}\n"


def _agreement(found: Results, known: Published) -> str:
    """Return in how many cases a published learner, run here, has the published figures."""
    sentences = []
    for name, ours in _OUR_NAMES.items():
        pairs = [(each[ours], known[case][name]) for case, each in found.items() if ours in each]
        same = [abs(here.auc - auc) < _SAME and abs(here.ap - ap) < _SAME for here, (auc, ap) in pairs]
        if same:
            sentences.append(f"{ours}: the published figures to four digits in {sum(same)} of {len(same)} cases.")
    return "Are the splits those of the published figures? " + " ".join(sentences)


# ---- Both ------------------------------------------------------------------------------------------------------------


def _refused(results: Results) -> str:
    flaws: dict[str, set[str]] = {}
    for case, each in results.items():
        for name, outcome in each.items():
            if outcome.flaw:
                flaws.setdefault(f"{name}: {outcome.flaw}", set()).add(case.table)
    if not flaws:
        return ""
    listed = "\n".join(f"- {flaw} ({', '.join(sorted(names))})" for flaw, names in sorted(flaws.items()))
    return f"### What learners refused\n\n{listed}\n"


def _mean(found: Results, name: str, measure: str) -> float:
    values = [getattr(each[name], measure) for each in found.values()]
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def _pair(auc: float, ap: float) -> str:
    return "-" if np.isnan(auc) else f"{auc:.3f} / {ap:.3f}"
