"""Table 3 of the PNUAUCBoost paper: a round of boosting with weights on pairs, in NumPy, against fastpu's.

Weights are kept for every pair (positive, unlabelled), (unlabelled, negative) and (positive, negative), and stumps are
searched over the pairs in two ways:

each threshold   eq. (33) as it stands: for every threshold, the sum of the weights over all pairs that it orders
sorted           as good as it gets over pairs: for every feature, the weights of all pairs are summed by the ranks of
                 the two rows, and cumulative sums give all thresholds at once

Both must choose the stumps that fastpu chooses. Data as in section 5.6: 10 features of standard deviation 0.1, positive
where a random linear function exceeds 0.1, 85 % of the labels hidden. One thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from running import Case, Row, Timed, alternate, timed

import fastpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import SimpleNamespace

    from numpy.typing import NDArray

NEEDS = ()
SETTINGS = {"sizes": [100, 150, 200, 250, 300, 350, 400], "rounds": 30, "seed": 0, "repeats": 5}
QUICK = {"sizes": [40, 60], "rounds": 10, "repeats": 1}
_N_FEATURES = 10
_GAMMA, _RHO = 0.5, 0.01
_TIE = 1e-12  # thresholds this close to the best count as equal to it; the first wins
_FEW, _MANY = 100, 1100  # rounds of fastpu whose difference is timed: what a fit does once cancels out


def cases(run: SimpleNamespace) -> Iterator[Case]:
    for n in run.sizes:
        yield Case(rounds, n=n, n_rounds=run.rounds, seed=run.seed, n_threads=1, repeats=run.repeats)


@dataclass
class Stumps:
    """What was chosen, round by round."""

    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    polarity: list[int] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)


@dataclass
class _Pairs:
    """All pairs of one kind: row i should score higher than row j. Flat arrays, one entry a pair."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    weight: NDArray[np.float64]


class PairwiseBoost:
    """PNUAUCBoost with a weight for every pair: O(n_p n_u + n_u n_n + n_p n_n) time for a threshold or feature."""

    def __init__(self, X: NDArray[np.float64], y: NDArray[np.int8], *, search: str) -> None:
        self._search = {"each threshold": self._search_each, "sorted": self._search_sorted}[search]
        groups = {label: np.flatnonzero(y == label) for label in (1, 0, -1)}
        half = (1 - _GAMMA) / 2
        kinds = [(1, 0, half), (0, -1, half), (1, -1, _GAMMA)]
        i, j, weight = [], [], []
        for upper, lower, share in kinds:
            first, second = np.meshgrid(groups[upper], groups[lower], indexing="ij")
            i.append(first.ravel())
            j.append(second.ravel())
            weight.append(np.full(first.size, share / first.size))
        self._pairs = _Pairs(np.concatenate(i), np.concatenate(j), np.concatenate(weight))
        self._X = X
        # thresholds[e]: midway between neighbouring values; rank[e]: how many of them lie below each row
        self._thresholds = []
        for column in X.T:
            values = np.unique(column)
            self._thresholds.append((values[:-1] + values[1:]) / 2)
        self._rank_i, self._rank_j = [], []
        for column, thresholds in zip(X.T, self._thresholds, strict=True):
            rank = np.searchsorted(thresholds, column)
            self._rank_i.append(rank[self._pairs.i])
            self._rank_j.append(rank[self._pairs.j])

    def _search_each(self, feature: int) -> NDArray[np.float64]:
        """Return Delta of every threshold of a feature."""
        pairs = self._pairs
        column = self._X[:, feature]
        deltas = np.empty(self._thresholds[feature].size)
        for k, threshold in enumerate(self._thresholds[feature]):
            fires = (column > threshold).astype(float)
            deltas[k] = pairs.weight @ (fires[pairs.i] - fires[pairs.j])
        return deltas

    def _search_sorted(self, feature: int) -> NDArray[np.float64]:
        """Return the same from sums by rank: a pair counts for the thresholds below i, and against those below j."""
        size = self._thresholds[feature].size + 1
        gain = np.bincount(self._rank_i[feature], self._pairs.weight, size)
        gain -= np.bincount(self._rank_j[feature], self._pairs.weight, size)
        above: NDArray[np.float64] = gain.sum() - np.cumsum(gain)[:-1]
        return above

    def run(self, n_rounds: int) -> Stumps:
        """Boost for so many rounds."""
        stumps = Stumps()
        pairs = self._pairs
        for _ in range(n_rounds):
            deltas = [self._search(feature) for feature in range(len(self._thresholds))]
            best = max(float(np.abs(d).max()) for d in deltas)
            feature = next(e for e, d in enumerate(deltas) if np.abs(d).max() >= best - _TIE)
            k = int(np.argmax(np.abs(deltas[feature]) >= best - _TIE))
            delta = float(deltas[feature][k])
            threshold, polarity = float(self._thresholds[feature][k]), 1 if delta > 0 else -1
            alpha = float(np.arctanh(min(abs(delta), 1 - 1e-6)) - np.arctanh(_RHO))
            fires = alpha * ((self._X[:, feature] > threshold) == (polarity > 0))
            pairs.weight *= np.exp(fires[pairs.j] - fires[pairs.i])
            pairs.weight /= pairs.weight.sum()
            stumps.features.append(feature)
            stumps.thresholds.append(threshold)
            stumps.polarity.append(polarity)
            stumps.alphas.append(alpha)
        return stumps


def _rows(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    rng = np.random.default_rng(seed)
    X = 0.1 * rng.standard_normal((n, _N_FEATURES))
    score = X @ rng.standard_normal(_N_FEATURES) + 0.01 * rng.standard_normal(n)
    return X, fastpu.datasets.hide_labels(score > 0.1, fraction=0.85, random_state=rng)


def _check(found: Stumps, model: fastpu.models.StumpEnsemble, search: str) -> None:
    same = found.features == model.features.tolist() and found.polarity == model.polarity.tolist()
    close = (
        same and np.allclose(found.alphas, model.alphas, rtol=1e-9) and found.thresholds == model.thresholds.tolist()
    )
    if not close:
        raise RuntimeError(f"the pairwise version ({search}) and fastpu chose other stumps")


def rounds(*, n: int, n_rounds: int, seed: int, n_threads: int, repeats: int) -> list[Row]:
    """A round of each version, after checking that all choose the same stumps."""
    X, y = _rows(n, seed)

    def fit(rounds: int) -> fastpu.models.StumpEnsemble:
        return fastpu.fit_pnu_auc_boost(X, y, n_rounds=rounds, gamma=_GAMMA, rho=_RHO, n_threads=n_threads)

    def ours() -> Timed:
        seconds = timed(partial(fit, _MANY)).seconds - timed(partial(fit, _FEW)).seconds
        return Timed(seconds / (_MANY - _FEW), None)

    def over_pairs(search: str, n_rounds: int) -> Timed:
        boost = PairwiseBoost(X, y, search=search)  # what it does once is not timed, as for fastpu
        return Timed(timed(partial(boost.run, n_rounds)).seconds / n_rounds, None)

    model = fit(n_rounds)
    if fit(_MANY).n_iter != _MANY:
        raise RuntimeError(f"fastpu has no stump to add before round {_MANY} at n = {n}: try another seed")
    for search in ("each threshold", "sorted"):
        _check(PairwiseBoost(X, y, search=search).run(n_rounds), model, search)
    works: dict[str, Callable[[], Timed]] = {
        "fastpu": ours,
        "pairs, each threshold": partial(over_pairs, "each threshold", max(2, n_rounds // 10)),
        "pairs, sorted": partial(over_pairs, "sorted", n_rounds),
    }
    return alternate(works, repeats, warm_up={}, judge=lambda *_: {"equal stumps": n_rounds})
