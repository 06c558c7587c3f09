"""The outcomes as Markdown tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from fits import BASELINE, given
from shared import ranks, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fits import Outcome
    from numpy.typing import NDArray

#: (set, scaling, share of labels, split)
Place: TypeAlias = tuple[str, str, float, int]
Outcomes: TypeAlias = "Mapping[Place, Mapping[str, Outcome]]"

_BELOW = 0.05


def report(outcomes: Outcomes) -> str:
    """Return the tables of each scaling, and which methods are far below the baseline."""
    parts = []
    for scaling in dict.fromkeys(place[1] for place in outcomes):
        some = {place: found for place, found in outcomes.items() if place[1] == scaling}
        parts += [f"**Columns {scaling}.**", _summary(some), _sentence(some)]
        parts += [f"Mean test AUC by set, columns {scaling}:", _by_set(some)]
    refused: dict[str, list[str]] = {}
    for found in outcomes.values():
        for method, outcome in found.items():
            if outcome.flaw not in ("", "slow"):
                refused.setdefault(method, []).append(outcome.flaw)
    if refused:
        lines = [f"- {method}, {len(flaws)} fits, the first: {flaws[0]}" for method, flaws in refused.items()]
        parts += ["Refused:", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _summary(outcomes: Outcomes) -> str:
    methods = list(next(iter(outcomes.values())))
    aucs = _aucs(outcomes, methods)
    places = ranks(aucs).mean(axis=0)
    less = np.nan_to_num(aucs, nan=0.5) - aucs[:, [methods.index(BASELINE)]]
    shares = [place[2] for place in outcomes]
    by_share = sorted(set(shares))
    head = ["method", "fitted to", "mean rank", "less log. regr., median", *(f"{s:.0%} labelled" for s in by_share),
            "worst", "called positive", "seconds", "most", "warnings"]  # fmt: skip
    rows = []
    for k in np.argsort(places, kind="stable").tolist():
        found = [outcome[methods[k]] for outcome in outcomes.values()]
        called = [outcome.called for outcome in found if not np.isnan(outcome.called)]
        slow = sum(outcome.flaw == "slow" for outcome in found)
        seconds = [outcome.seconds for outcome in found if not np.isnan(outcome.seconds)]
        counts = Counter(name for outcome in found for name in outcome.warnings)
        counts.update({"slow": slow} if slow else {})
        rows.append(
            [
                methods[k],
                given(methods[k]),
                f"{places[k]:.1f}",
                f"{np.median(less[:, k]):+.3f}",
                *(f"{np.median(less[np.array(shares) == share, k]):+.3f}" for share in by_share),
                f"{less[:, k].min():+.3f}",
                f"{np.median(called):.0%}" if called else "",
                f"{np.median(seconds):.2f}" if seconds else "",
                f"{max(seconds):.2f}" if seconds else "",
                ", ".join(f"{name} {count}/{len(found)}" for name, count in sorted(counts.items())),
            ]
        )
    return table(head, rows)


def _sentence(outcomes: Outcomes) -> str:
    methods = list(next(iter(outcomes.values())))
    aucs = np.nan_to_num(_aucs(outcomes, methods), nan=0.5)
    less = np.median(aucs - aucs[:, [methods.index(BASELINE)]], axis=0)
    below = [f"{methods[k]} ({less[k]:+.3f})" for k in np.argsort(less, kind="stable").tolist() if less[k] < -_BELOW]
    return f"More than {_BELOW} below logistic regression in the median: {', '.join(below) or 'none'}."


def _by_set(outcomes: Outcomes) -> str:
    methods = list(next(iter(outcomes.values())))
    names = list(dict.fromkeys(place[0] for place in outcomes))
    places = np.array([place[0] for place in outcomes])
    aucs = _aucs(outcomes, methods)
    rows = []
    for k, method in enumerate(methods):
        cells = []
        for name in names:
            some = aucs[places == name, k]
            cells.append("slow or refused" if np.isnan(some).all() else f"{np.nanmean(some):.3f}")
        rows.append([method, *cells])
    return table(["method", *names], rows)


def _aucs(outcomes: Outcomes, methods: Sequence[str]) -> NDArray[np.float64]:
    """Return the AUC of each method (columns) in each place (rows), NaN where there is none."""
    return np.array([[found[method].auc for method in methods] for found in outcomes.values()])
