"""Decoupled O(n) oracle of PNUAUCBoost, and an AdaBoost oracle of PNUAB.

Sections 2 and 3 of the specification in plain NumPy. Each round recomputes the four group-normalised weights and the
three mixture weights from the scores, in the log domain, so nothing drifts and no round depends on the last one's
rounding; the fast code multiplies instead. Fit for a few thousand rows.

A stump answers h in {0, 1}: [x > theta] for polarity +1 and 1 - [x > theta] for polarity -1. NaN counts as -inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from oracles.stump_boost_sets import (
    TIE,
    brought_nearer,
    chosen_set,
    places,
    standard_errors,
    sums_of_categories,
)

PERFECT = 1.0 - 1e-6


@dataclass
class Boosted:
    """What the loop recorded: one entry a round; `scores` are those of the training rows.

    `sets` has the categories of every stump (MISSING for missing entries), or None where it has a threshold. `occupied`
    are those that a column has in rows that the loss counts.
    """

    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    polarity: list[int] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    deltas: list[float] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    status: str = "max_rounds"
    sets: list[frozenset[int] | None] = field(default_factory=list)
    occupied: dict[int, frozenset[int]] = field(default_factory=dict)
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # that the loss counts
    shares: np.ndarray = field(default_factory=lambda: np.empty(0))  # of each of them among all, as if of equal weight

    def add(
        self, candidate: tuple[int, float], polarity: int, alpha: float, delta: float, z: float, objective: float
    ) -> None:
        self.features.append(candidate[0])
        self.thresholds.append(candidate[1])
        self.polarity.append(polarity)
        self.alphas.append(alpha)
        self.deltas.append(delta)
        self.z.append(z)
        self.objective.append(objective)


# -- candidates --------------------------------------------------------------------------------------------------------


def boundaries(x: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lo, hi, weight of the rows at or below lo) at every step between distinct values of one column."""
    weights = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    x = np.asarray(x, dtype=np.float64)[weights > 0]
    weights = weights[weights > 0]
    x = np.where(np.isnan(x), -np.inf, x)
    order = np.argsort(x, kind="stable")
    x, cumulative = x[order], np.cumsum(weights[order])
    steps = np.flatnonzero(x[1:] > x[:-1])
    return x[steps], x[steps + 1], cumulative[steps]


def thetas(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Midpoint thresholds of section 5, with lo itself where the midpoint is not below hi."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * lo + 0.5 * hi
    return np.where(middle < hi, middle, lo)


def quantile_cuts(x: np.ndarray, weights: np.ndarray | None, K: int | None) -> np.ndarray:
    """The at most K thresholds of section 6.2, ascending, or all; b is the weight of the rows on the low side."""
    lo, hi, below = boundaries(x, weights)
    if K is not None and len(lo) > K:
        total = float(len(x)) if weights is None else float(np.sum(weights))
        reached = below * (K + 1) >= np.arange(1, K + 1)[:, None] * total
        kept = np.unique(np.where(reached.any(axis=1), reached.argmax(axis=1), len(lo) - 1))
        if lo[0] == -np.inf and kept[0] != 0:  # what counts as -inf has a bin of its own
            kept = np.concatenate([[0], kept[len(kept) == K :]])
        lo, hi = lo[kept], hi[kept]
    return thetas(lo, hi)


class Search:
    """Sums of a row value over {x > theta}, for every candidate at once, in (feature, threshold) order."""

    def __init__(self, X: np.ndarray, cuts: list[np.ndarray]):
        self.features = np.concatenate([np.full(len(c), e) for e, c in enumerate(cuts)] or [np.empty(0)]).astype(int)
        self.thresholds = np.concatenate([np.asarray(c, dtype=np.float64) for c in cuts] or [np.empty(0)])
        self._orders, self._starts = [], []
        for e, c in enumerate(cuts):
            x = np.where(np.isnan(X[:, e]), -np.inf, X[:, e]).astype(np.float64)
            order = np.argsort(x, kind="stable")
            self._orders.append(order)
            self._starts.append(np.searchsorted(x[order], c, side="right"))

    def above(self, g: np.ndarray) -> np.ndarray:
        sums = [
            np.concatenate([np.cumsum(g[order][::-1])[::-1], [0.0]])[start]
            for order, start in zip(self._orders, self._starts, strict=True)
        ]
        return np.concatenate(sums or [np.empty(0)])

    def candidate(self, index: int) -> tuple[int, float]:
        return int(self.features[index]), float(self.thresholds[index])


# -- PNUAUCBoost -------------------------------------------------------------------------------------------------------


def pair_shares(y: np.ndarray, weights: np.ndarray, gamma: float) -> np.ndarray:
    """(lam_PN, lam_PU, lam_UN) of section 1, with its degenerate groups."""
    has_p, has_u, has_n = (bool(np.any(weights[y == label] > 0)) for label in (1, 0, -1))
    if has_p + has_u + has_n < 2:
        raise ValueError("two of the three groups must have rows")
    if not has_u:
        return np.array([1.0, 0.0, 0.0])
    if not has_n:
        return np.array([0.0, 1.0, 0.0])
    if not has_p:
        return np.array([0.0, 0.0, 1.0])
    return np.array([gamma, (1 - gamma) / 2, (1 - gamma) / 2])


def _normalise(logs: np.ndarray) -> tuple[np.ndarray, float]:
    """softmax and log-sum-exp."""
    if not len(logs):
        return logs, -np.inf
    top = logs.max()
    e = np.exp(logs - top)
    return e / e.sum(), float(top + np.log(e.sum()))


class State:
    """Section 2 at given scores: a (P), b and c (U), d (N), pi, log R and g. Rows of weight 0 must be gone already."""

    def __init__(self, y: np.ndarray, weights: np.ndarray, shares: np.ndarray, scores: np.ndarray):
        self.P, self.U, self.N = (np.flatnonzero(y == label) for label in (1, 0, -1))
        log_w = np.log(weights)
        total = {
            k: np.log(weights[rows].sum()) for k, rows in (("P", self.P), ("U", self.U), ("N", self.N)) if len(rows)
        }
        self.a, log_p = _normalise(log_w[self.P] - scores[self.P])
        self.b, log_u_up = _normalise(log_w[self.U] + scores[self.U])
        self.c, log_u_down = _normalise(log_w[self.U] - scores[self.U])
        self.d, log_n = _normalise(log_w[self.N] + scores[self.N])
        log_p -= total.get("P", 0.0)
        log_u_up -= total.get("U", 0.0)
        log_u_down -= total.get("U", 0.0)
        log_n -= total.get("N", 0.0)
        with np.errstate(divide="ignore"):
            logs = np.log(shares)
        for kind, (better, worse) in enumerate(((log_p, log_n), (log_p, log_u_up), (log_u_down, log_n))):
            logs[kind] = logs[kind] + better + worse if shares[kind] > 0 else -np.inf
        self.pi, self.log_risk = _normalise(logs)
        pn, pu, un = self.pi
        self.g = np.zeros(len(y))
        self.g[self.P] = (pn + pu) * self.a
        self.g[self.U] = un * self.c - pu * self.b
        self.g[self.N] = -(pn + un) * self.d

    def side_masses(self, h: np.ndarray) -> tuple[float, float]:
        """(W+, W-): weight of the pairs that the stump puts right and wrong."""
        pn, pu, un = self.pi
        a, b, c, d = ((w[h[r] == 1].sum(), w[h[r] == 0].sum()) for w, r in self._groups())
        return (
            float(pn * a[0] * d[1] + pu * a[0] * b[1] + un * c[0] * d[1]),
            float(pn * a[1] * d[0] + pu * a[1] * b[0] + un * c[1] * d[0]),
        )

    def _groups(self):
        return (self.a, self.P), (self.b, self.U), (self.c, self.U), (self.d, self.N)


def step_size(state: State, h: np.ndarray, delta: float, rho: float, step: str) -> float:
    """(34), or the minimiser over W+, W0, W- of section 3.4 in the form that does not cancel."""
    if step == "jensen":
        return float(np.arctanh(min(delta, PERFECT)) - np.arctanh(rho))
    w_plus, w_minus = state.side_masses(h)
    w_zero = 1.0 - w_plus - w_minus
    root = np.sqrt(rho**2 * w_zero**2 + 4 * (1 - rho**2) * w_plus * w_minus)
    cap = float(np.arctanh(PERFECT))
    ratio = rho * w_zero + root
    return min(cap, float(np.log(2 * (1 - rho) * w_plus / ratio))) if ratio > 0 else cap


def fit_rankboost(X: np.ndarray, y: np.ndarray, *, sample_weight: np.ndarray | None = None, **options) -> Boosted:
    """RBAUC: the same loop on the labelled rows alone; scores are those of the labelled rows."""
    labelled = np.asarray(y) != 0
    weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
    return fit_decoupled(np.asarray(X)[labelled], np.asarray(y)[labelled], gamma=1.0, sample_weight=weights, **options)


# -- PNUAB -------------------------------------------------------------------------------------------------------------


def adaboost_rows(y: np.ndarray, weights: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(row, label in {+1, -1}, initial weight) of section 5.2 of the paper: U twice, once as each class."""
    parts = (
        (np.flatnonzero(y == 1), 1.0, (1 - gamma) / 2),
        (np.flatnonzero(y == 0), 1.0, gamma / 2),
        (np.flatnonzero(y == -1), -1.0, gamma / 2),
        (np.flatnonzero(y == 0), -1.0, (1 - gamma) / 2),
    )
    parts = [(rows, label, share * weights[rows] / weights[rows].sum()) for rows, label, share in parts if len(rows)]
    w = np.concatenate([p[2] for p in parts])
    labels = np.concatenate([np.full(len(p[0]), p[1]) for p in parts])
    return np.concatenate([p[0] for p in parts]), labels, w / w.sum()


# -- the loop ----------------------------------------------------------------------------------------------------------


def fit(
    X: np.ndarray,
    y: np.ndarray,
    loss: str,
    *,
    n_rounds: int,
    gamma: float,
    rho: float = 0.0,
    max_bins: int | None = None,
    step: str = "jensen",
    stop_tol: float = 1e-9,
    sample_weight: np.ndarray | None = None,
    cuts: list[np.ndarray] | None = None,
    categorical: Sequence[int] = (),
) -> Boosted:
    """PNUAUCBoost (loss "auc") or PNUAB ("ada": plain AdaBoost over stumps in {-1, +1} on the doubled rows).

    `cuts` are the thresholds of each column where they were chosen elsewhere (binned on other rows), and `categorical`
    the columns of categories. Of "ada" rows that no part of the loss is left for are absent: N for gamma = 0, P for 1.
    """
    X, y = np.asarray(X), np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    here = weights > 0
    if loss == "ada":
        here &= ((gamma > 0) | (y != -1)) & ((gamma < 1) | (y != 1))
    rows, labels, w = X[here], y[here], weights[here]
    if cuts is None:
        cuts = [quantile_cuts(column, w, max_bins) for column in rows.T]
    search = Search(rows, [np.empty(0) if e in categorical else cut for e, cut in enumerate(cuts)])
    state_at = _PairState(labels, w, gamma) if loss == "auc" else _DoubledState(labels, w, gamma)
    low = state_at.low
    model, f, scores = Boosted(), np.zeros(len(labels)), np.zeros(len(y))
    model.occupied = {e: frozenset(places(rows[state_at.counted, e]).tolist()) for e in categorical}
    model.rows, of_group = rows[state_at.counted], labels[state_at.counted]
    model.shares = w[state_at.counted]
    for label in np.unique(of_group):  # only the ratios of weights within a group count
        model.shares[of_group == label] /= model.shares[of_group == label].mean()
    model.shares /= model.shares.sum()
    for _ in range(n_rounds):
        g, before = state_at.gains(f)
        signed = (1 - low) * search.above(g) + low * g.sum()
        by_sets = []
        for e in categorical:
            sums = sums_of_categories(rows[state_at.counted, e], g[state_at.counted])
            errors = standard_errors(rows[:, e], state_at.slots(f))
            by_sets.append((e, np.nan, *chosen_set(sums, brought_nearer(sums, errors), low)))
        best = max(np.abs(signed).max(initial=0.0), *(score for *_, score in by_sets), 0.0)
        if best <= rho + stop_tol or rho >= PERFECT:
            model.status = "no_gain"
            break
        found = [
            (*search.candidate(i), None, float(signed[i])) for i in np.flatnonzero(np.abs(signed) >= best - TIE)[:1]
        ]
        found += [candidate for candidate in by_sets if candidate[2] and candidate[3] >= best - TIE]
        feature, theta, inside, score = min(found, key=lambda candidate: candidate[0])
        polarity, delta = (1 if score > 0 else -1), abs(score)

        def votes(x: np.ndarray, theta=theta, inside=inside, polarity=polarity) -> np.ndarray:
            above = x > theta if inside is None else np.isin(places(x), list(inside))
            return np.where(above == (polarity > 0), 1.0, low)

        h = votes(rows[:, feature])
        alpha = state_at.step(f, h, delta, rho, step)
        f = f + alpha * h
        after = state_at.gains(f)[1]
        model.sets.append(inside)
        objective = after + rho * (sum(model.alphas) + alpha)
        model.add((feature, theta), polarity, alpha, delta, float(np.exp(after - before)), objective)
        scores += alpha * votes(X[:, feature])
        if delta >= PERFECT:
            model.status = "perfect"
            break
    model.scores = scores
    return model


class _PairState:
    """PNUAUCBoost: what a round needs at given scores; `counted` are the rows whose categories count."""

    low = 0.0

    def __init__(self, y: np.ndarray, weights: np.ndarray, gamma: float):
        self.y, self.weights, self.shares = y, weights, pair_shares(y, weights, gamma)
        self.counted = y != 0 if self.shares[1:].sum() == 0 else np.full(len(y), True)

    def gains(self, f: np.ndarray) -> tuple[np.ndarray, float]:
        state = State(self.y, self.weights, self.shares, f)
        return state.g, state.log_risk

    def slots(self, f: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        state = State(self.y, self.weights, self.shares, f)
        pn, pu, un = state.pi
        parts = (
            (state.P, pn + pu, state.a),
            (state.U, un, state.c),
            (state.U, pu, state.b),
            (state.N, pn + un, state.d),
        )
        return [(rows, share * sizes) for rows, share, sizes in parts]

    def step(self, f: np.ndarray, h: np.ndarray, delta: float, rho: float, step: str) -> float:
        return step_size(State(self.y, self.weights, self.shares, f), h, delta, rho, step)


class _DoubledState:
    """PNUAB: the same of AdaBoost on the doubled rows, whose risk is the log of the exponential loss."""

    low = -1.0

    def __init__(self, y: np.ndarray, weights: np.ndarray, gamma: float):
        rows, signs, start = adaboost_rows(y, weights, gamma)
        self.rows, self.signs, self.start = rows[start > 0], signs[start > 0], start[start > 0]
        self.y, self.counted = y, np.full(len(y), True)

    def _weights(self, f: np.ndarray) -> tuple[np.ndarray, float]:
        return _normalise(np.log(self.start) - self.signs * f[self.rows])

    def gains(self, f: np.ndarray) -> tuple[np.ndarray, float]:
        w, log_loss = self._weights(f)
        return np.bincount(self.rows, weights=w * self.signs, minlength=len(f)), log_loss

    def slots(self, f: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        w, labels = self._weights(f)[0], self.y[self.rows]
        copies = [(labels == label) & (self.signs == sign) for label, sign in ((1, 1), (0, 1), (-1, -1), (0, -1))]
        return [(self.rows[part], w[part]) for part in copies]

    def step(self, f: np.ndarray, h: np.ndarray, delta: float, rho: float, step: str) -> float:
        return float(np.arctanh(min(delta, PERFECT)))


def fit_decoupled(X: np.ndarray, y: np.ndarray, **options) -> Boosted:
    """PNUAUCBoost."""
    return fit(X, y, "auc", **options)


def fit_adaboost(X: np.ndarray, y: np.ndarray, **options) -> Boosted:
    """PNUAB."""
    return fit(X, y, "ada", **options)
