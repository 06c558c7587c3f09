"""Naive O(n^2) oracle of PNUAUCBoost: RankBoost on the explicit list of pairs.

Nothing here is clever. A weight is kept for every (better, worse) pair of rows, every candidate stump is evaluated on
every pair, and rational arithmetic settles the quantile cuts. It shares no formula with the decoupled method, so if the
two agree, the decoupling is right. Meant for problems of at most about 60 rows.

A stump answers h in {0, 1}: [x > theta] for polarity +1 and 1 - [x > theta] for polarity -1. NaN counts as -inf.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

#: Kind of pair -> (label of the row that should score higher, label of the row that should score lower).
KINDS = {"PN": (1, -1), "PU": (1, 0), "UN": (0, -1)}

#: |Delta| within this of the best one is a tie; the first candidate (feature, then threshold, ascending) wins it.
TIE = 1e-12

#: A stump at least this good orders every pair: its step is capped here and no round follows.
PERFECT = 1.0 - 1e-6


@dataclass(frozen=True)
class Candidate:
    """The stumps that cut a feature between two neighbouring values: any theta in [lo, hi) is the same in training."""

    feature: int
    lo: float
    hi: float
    theta: float


@dataclass
class PairwiseModel:
    """What the naive loop recorded: one entry a round, and the pair weights before each round."""

    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    polarity: list[int] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    deltas: list[float] = field(default_factory=list)
    z: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)
    pair_weights: list[dict[str, np.ndarray]] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    status: str = "max_rounds"


def pair_shares(y: np.ndarray, weights: np.ndarray, gamma: float) -> dict[str, float]:
    """lam of section 1: the share of the risk that each kind of pair has, over the kinds that exist."""
    present = {label for label in (1, 0, -1) if np.any((y == label) & (weights > 0))}
    if len(present) < 2:
        raise ValueError("two of the three groups must have rows")
    kinds = [kind for kind, (better, worse) in KINDS.items() if {better, worse} <= present]
    if len(kinds) == 1:
        return {kinds[0]: 1.0}
    return {"PN": gamma, "PU": (1 - gamma) / 2, "UN": (1 - gamma) / 2}


def boundary(lo: float, hi: float) -> float:
    """The threshold of section 5 between two neighbouring values."""
    with np.errstate(invalid="ignore"):
        theta = 0.5 * lo + 0.5 * hi
    return float(theta) if theta < hi else float(lo)


def candidates(X: np.ndarray, weights: np.ndarray, max_bins: int | None) -> list[Candidate]:
    """Every candidate in (feature, threshold) order: all boundaries, or the quantile ones of section 6.2."""
    found = []
    exact = [Fraction(float(w)) for w in weights]
    total = sum(exact)
    for feature in range(X.shape[1]):
        x = np.where(np.isnan(X[:, feature]), -np.inf, X[:, feature]).astype(np.float64)
        values = sorted(set(x[weights > 0].tolist()))
        gaps = list(pairwise(values))
        if max_bins is not None and len(gaps) > max_bins:
            below = [sum(w for w, v in zip(exact, x, strict=True) if v <= lo) for lo, _ in gaps]
            kept = set()
            for k in range(1, max_bins + 1):
                enough = [b for b, low in enumerate(below) if low * (max_bins + 1) >= k * total]
                kept.add(enough[0] if enough else len(gaps) - 1)
            if gaps[0][0] == -np.inf and 0 not in kept:  # what counts as -inf has a bin of its own
                kept = {0, *sorted(kept)[len(kept) == max_bins :]}
            gaps = [gaps[b] for b in sorted(kept)]
        found += [Candidate(feature, lo, hi, boundary(lo, hi)) for lo, hi in gaps]
    return found


def line_search(w_plus: float, w_zero: float, w_minus: float, rho: float) -> float:
    """argmin over [0, atanh(PERFECT)] of e^{rho a} (W+ e^-a + W0 + W- e^a), by bisection on its derivative."""

    def slope(a: float) -> float:
        return (rho - 1) * w_plus * np.exp(-a) + rho * w_zero + (rho + 1) * w_minus * np.exp(a)

    low, high = 0.0, float(np.arctanh(PERFECT))
    if slope(high) <= 0:
        return high
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def fit_pairwise(
    X: np.ndarray,
    y: np.ndarray,
    *,
    n_rounds: int,
    gamma: float,
    rho: float,
    max_bins: int | None = None,
    step: str = "jensen",
    stop_tol: float = 1e-9,
    sample_weight: np.ndarray | None = None,
) -> PairwiseModel:
    """RankBoost with stumps on the pairs of (OP4): sections 1, 3 and 5 of the specification, taken word for word."""
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    shares = pair_shares(y, weights, gamma)
    stumps = candidates(X, weights, max_bins)
    fires = np.array([X[:, c.feature] > c.theta for c in stumps], dtype=np.float64).reshape(len(stumps), len(y))

    rows = {label: np.flatnonzero(y == label) for label in (1, 0, -1)}
    normalised = {label: weights[r] / weights[r].sum() for label, r in rows.items() if weights[r].sum() > 0}
    D = {
        kind: share * np.outer(normalised[KINDS[kind][0]], normalised[KINDS[kind][1]]) for kind, share in shares.items()
    }

    def differences(h: np.ndarray, kind: str) -> np.ndarray:
        """h(better) - h(worse) for every pair of this kind; h holds one stump a row."""
        better, worse = KINDS[kind]
        return h[..., rows[better], None] - h[..., None, rows[worse]]

    model = PairwiseModel(scores=np.zeros(len(y)))
    log_objective = 0.0
    for _ in range(n_rounds):
        delta = np.zeros(len(stumps))
        for kind, weight in D.items():
            delta += (weight * differences(fires, kind)).sum(axis=(1, 2))
        best = np.abs(delta).max(initial=0.0)
        if best <= rho + stop_tol or rho >= PERFECT:
            model.status = "no_gain"
            break
        winner = int(np.flatnonzero(np.abs(delta) >= best - TIE)[0])
        polarity = 1 if delta[winner] > 0 else -1
        h = fires[winner] if polarity > 0 else 1.0 - fires[winner]
        gain = abs(float(delta[winner]))

        if step == "jensen":
            alpha = float(np.arctanh(min(gain, PERFECT)) - np.arctanh(rho))
        else:
            mass = {s: sum(w[differences(h, k) == s].sum() for k, w in D.items()) for s in (1, 0, -1)}
            alpha = line_search(mass[1], mass[0], mass[-1], rho)

        model.pair_weights.append({kind: weight.copy() for kind, weight in D.items()})
        D = {kind: weight * np.exp(-alpha * differences(h, kind)) for kind, weight in D.items()}
        z = float(sum(weight.sum() for weight in D.values()))
        D = {kind: weight / z for kind, weight in D.items()}
        log_objective += rho * alpha + np.log(z)

        model.scores += alpha * h
        model.features.append(stumps[winner].feature)
        model.thresholds.append(stumps[winner].theta)
        model.polarity.append(polarity)
        model.alphas.append(alpha)
        model.deltas.append(gain)
        model.z.append(z)
        model.objective.append(float(log_objective))
        if gain >= PERFECT:
            model.status = "perfect"
            break
    return model


def fit_rankboost(X: np.ndarray, y: np.ndarray, *, sample_weight: np.ndarray | None = None, **options) -> PairwiseModel:
    """RankBoost for AUC (RBAUC): the same loop on the labelled rows alone, where gamma has no say."""
    labelled = np.asarray(y) != 0
    weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
    return fit_pairwise(np.asarray(X)[labelled], np.asarray(y)[labelled], gamma=1.0, sample_weight=weights, **options)


def log_objective_from_scores(
    scores: np.ndarray,
    y: np.ndarray,
    *,
    gamma: float,
    rho: float,
    sum_alpha: float,
    sample_weight: np.ndarray | None = None,
) -> float:
    """log J of section 1 from its definition: log of the pairwise exponential risk, plus rho times sum alpha."""
    y = np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    terms = []
    for kind, share in pair_shares(y, weights, gamma).items():
        better, worse = (np.flatnonzero((y == label) & (weights > 0)) for label in KINDS[kind])
        pair = np.outer(weights[better] / weights[better].sum(), weights[worse] / weights[worse].sum())
        with np.errstate(divide="ignore"):
            terms.append((np.log(share) + np.log(pair) - np.subtract.outer(scores[better], scores[worse])).ravel())
    return float(np.logaddexp.reduce(np.concatenate(terms)) + rho * sum_alpha)


def paper_weights(y: np.ndarray, h: np.ndarray, alphas: np.ndarray, *, gamma: float) -> list[dict[str, np.ndarray]]:
    """The six weight vectors of the paper, (16)-(30) with the errata applied, before each round and after the last.

    h has one row a round: the answers in {0, 1} of that round's stump on the training rows. Keys are omega_p,
    omega_u_minus, omega_u_plus, omega_n, nu_p, nu_n. sqrt(Z) lets them drift apart: this is for short runs only.
    """
    n_p, n_u, n_n = (int(np.sum(y == label)) for label in (1, 0, -1))
    c1, c2 = np.sqrt((1 - gamma) / 2), np.sqrt(gamma)
    state = {
        "omega_p": np.full(n_p, c1 / n_p),
        "omega_u_minus": np.full(n_u, c1 / n_u),
        "omega_u_plus": np.full(n_u, c1 / n_u),
        "omega_n": np.full(n_n, c1 / n_n),
        "nu_p": np.full(n_p, c2 / n_p),
        "nu_n": np.full(n_n, c2 / n_n),
    }
    label_of = {"omega_p": 1, "omega_u_minus": 0, "omega_u_plus": 0, "omega_n": -1, "nu_p": 1, "nu_n": -1}
    sign_of = {"omega_p": -1, "omega_u_minus": 1, "omega_u_plus": -1, "omega_n": 1, "nu_p": -1, "nu_n": 1}
    history = [state]
    for answers, alpha in zip(h, alphas, strict=True):
        moved = {k: v * np.exp(sign_of[k] * alpha * answers[y == label_of[k]]) for k, v in state.items()}
        sums = {k: v.sum() for k, v in moved.items()}
        z = (
            sums["omega_p"] * sums["omega_u_minus"]
            + sums["omega_u_plus"] * sums["omega_n"]
            + sums["nu_p"] * sums["nu_n"]
        )
        state = {k: v / np.sqrt(z) for k, v in moved.items()}
        history.append(state)
    return history
