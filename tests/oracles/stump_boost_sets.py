"""Stumps on sets of categories, in plain NumPy: the one candidate of a column of categories.

A column of categories holds their places 0, 1, ... and NaN for missing entries, which count as one more category. Its
only candidate is the set of the categories whose rows have a positive sum of g after its standard error has been taken
off: no other set has a larger sum of these. Where the negative sums are larger in size, the set has all categories but
those.
"""

from __future__ import annotations

import numpy as np

TIE = 1e-12
MISSING = -1


def places(x: np.ndarray) -> np.ndarray:
    """The categories of a column, MISSING where there is none."""
    return np.where(np.isnan(x), MISSING, x).astype(int)


def sums_of_categories(x: np.ndarray, g: np.ndarray) -> dict[int, float]:
    """Sum of g over the rows of each category that occurs, missing entries first."""
    return {int(v): float(g[places(x) == v].sum()) for v in np.unique(places(x))}


def standard_errors(x: np.ndarray, slots: list[tuple[np.ndarray, np.ndarray]]) -> dict[int, float]:
    """Of the sums of all categories, if they told nothing; `slots` has the rows of a group and their parts of g."""
    slots = [(rows, parts) for rows, parts in slots if parts.sum() > 0]
    n_rows = sum(len(rows) for rows, _ in slots)
    variance = sum(parts.sum() ** 2 / len(rows) for rows, parts in slots)
    errors = {}
    for v in np.unique(places(x)):
        shares = [len(rows) * parts[places(x[rows]) == v].sum() / parts.sum() for rows, parts in slots]
        errors[int(v)] = float(np.sqrt(sum(shares) / n_rows * variance))
    return errors


def brought_nearer(sums: dict[int, float], errors: dict[int, float]) -> dict[int, float]:
    """Every sum less its standard error, and 0 where no more than TIE is left."""
    left = {v: max(0.0, abs(s) - errors[v]) for v, s in sums.items()}
    return {v: float(np.copysign(left[v], s)) if left[v] > TIE else 0.0 for v, s in sums.items()}


def chosen_set(sums: dict[int, float], nearer: dict[int, float], low: float) -> tuple[frozenset[int], float]:
    """The set, empty if there is none, and its gain: that by the sums brought nearer, but no more than by the sums."""
    gained, lost = (sum(max(0.0, sign * s) for s in nearer.values()) for sign in (1, -1))
    best: tuple[frozenset[int], float] = frozenset(), 0.0
    for inside, net in (
        (frozenset(v for v, s in nearer.items() if s > 0), gained - low * lost),
        (frozenset(v for v, s in nearer.items() if s >= 0), lost - low * gained),
    ):
        score = min(net, score_of(sums, inside, low))
        if 0 < len(inside) < len(sums) and score > best[1]:
            best = inside, score
    return best


def score_of(sums: dict[int, float], inside: frozenset[int], low: float) -> float:
    """Gain of a stump that votes 1 in the set and `low` outside."""
    return sum(s if v in inside else low * s for v, s in sums.items())
