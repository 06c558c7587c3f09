"""Stumps on sets of categories, in plain NumPy: the loops of PNUAUCBoost and PNUAB with one further kind of candidate.

A column of categories holds their places 0, 1, ... and NaN for missing entries, which count as one more category. Its
only candidate is the set of the categories whose rows have a positive sum of g after its standard error has been taken
off: no other set has a larger sum of these, which `best_score_of_all_sets` finds by trying them all. Where the negative
sums are larger in size, the set has all categories but those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from oracles.stump_boost import (
    PERFECT,
    TIE,
    Boosted,
    Search,
    State,
    _normalise,
    adaboost_rows,
    all_cuts,
    pair_shares,
    step_size,
)

MISSING = -1


@dataclass
class BoostedSets(Boosted):
    """`sets` has the categories of every stump (MISSING for missing entries), or None where it has a threshold.

    `occupied` are those that its column has in rows that the loss counts.
    """

    sets: list[frozenset[int] | None] = field(default_factory=list)
    occupied: dict[int, frozenset[int]] = field(default_factory=dict)


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


def best_score_of_all_sets(sums: dict[int, float], low: float) -> float:
    sizes = range(1, len(sums))
    return max(abs(score_of(sums, frozenset(c), low)) for size in sizes for c in combinations(sums, size))


def fit_sets(
    X: np.ndarray,
    y: np.ndarray,
    categorical: list[int],
    *,
    loss: str = "auc",
    n_rounds: int,
    gamma: float,
    rho: float = 0.0,
    step: str = "jensen",
    max_bins: int | None = None,
    stop_tol: float = 1e-9,
    sample_weight: np.ndarray | None = None,
) -> BoostedSets:
    """PNUAUCBoost (loss "auc") or PNUAB ("ada") on columns of numbers and of categories."""
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    here = weights > 0
    if loss == "ada":
        here &= ((gamma > 0) | (y != -1)) & ((gamma < 1) | (y != 1))
    rows, labels, w = X[here], y[here], weights[here]
    cuts = all_cuts(rows, w, max_bins)
    numbers = Search(rows, [np.empty(0) if e in categorical else cut for e, cut in enumerate(cuts)])
    low = 0.0 if loss == "auc" else -1.0
    shares = pair_shares(labels, w, gamma) if loss == "auc" else None
    counted = labels != 0 if loss == "auc" and shares[1:].sum() == 0 else np.full(len(labels), True)
    doubled, signs, start = adaboost_rows(labels, w, gamma) if loss == "ada" else (None, None, None)
    if loss == "ada":
        doubled, signs, start = doubled[start > 0], signs[start > 0], start[start > 0]

    def gains(f: np.ndarray) -> np.ndarray:
        if loss == "auc":
            return State(labels, w, shares, f).g
        return np.bincount(doubled, weights=_normalise(np.log(start) - signs * f[doubled])[0] * signs, minlength=len(f))

    def slots(f: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        if loss == "ada":
            sizes = _normalise(np.log(start) - signs * f[doubled])[0]
            copies = [
                (labels[doubled] == label) & (signs == sign) for label, sign in ((1, 1), (0, 1), (-1, -1), (0, -1))
            ]
            return [(doubled[part], sizes[part]) for part in copies]
        state = State(labels, w, shares, f)
        pn, pu, un = state.pi
        parts = (
            (state.P, pn + pu, state.a),
            (state.U, un, state.c),
            (state.U, pu, state.b),
            (state.N, pn + un, state.d),
        )
        return [(rows_of_group, share * sizes) for rows_of_group, share, sizes in parts]

    def log_risk(f: np.ndarray) -> float:
        if loss == "auc":
            return State(labels, w, shares, f).log_risk
        return _normalise(np.log(start) - signs * f[doubled])[1]

    model, f = BoostedSets(), np.zeros(len(labels))
    model.occupied = {e: frozenset(places(rows[counted, e]).tolist()) for e in categorical}
    scores = np.zeros(len(y))
    for _ in range(n_rounds):
        g = gains(f)
        signed = (1 - low) * numbers.above(g) + low * g.sum()
        candidates = [
            (*numbers.candidate(i), None, float(signed[i])) for i in np.argsort(numbers.features, kind="stable")
        ]
        for e in categorical:
            sums = sums_of_categories(rows[counted, e], g[counted])
            inside, score = chosen_set(sums, brought_nearer(sums, standard_errors(rows[:, e], slots(f))), low)
            if inside:
                candidates.append((e, np.nan, inside, score))
        candidates.sort(key=lambda candidate: candidate[0])  # stable: thresholds of a column stay in order
        best = max((abs(score) for *_, score in candidates), default=0.0)
        if best <= rho + stop_tol:
            model.status = "no_gain"
            break
        feature, theta, inside, score = next(c for c in candidates if abs(c[3]) >= best - TIE)
        polarity, delta = (1 if score > 0 else -1), abs(score)

        def votes(x: np.ndarray, theta=theta, inside=inside, polarity=polarity) -> np.ndarray:
            above = x > theta if inside is None else np.isin(places(x), list(inside))
            return np.where(above == (polarity > 0), 1.0, low)

        h = votes(rows[:, feature])
        if loss == "auc":
            alpha = step_size(State(labels, w, shares, f), h, delta, rho, step)
        else:
            alpha = float(np.arctanh(min(delta, PERFECT)))
        before = log_risk(f)
        f = f + alpha * h
        after = log_risk(f)
        model.sets.append(inside)
        objective = after + rho * (sum(model.alphas) + alpha)
        model.add((feature, theta), polarity, alpha, delta, float(np.exp(after - before)), objective)
        scores += alpha * votes(X[:, feature])
        if delta >= PERFECT:
            model.status = "perfect"
            break
    model.scores = scores
    return model
