"""Permutation tests of two samples of rows: of numbers, and of categories; and Holm's correction for several tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastpu.model._threshold import between

FEWEST = 10  # rows of either kind that are compared
_BLOCK = 1 << 20  # entries of permutations that are drawn at a time
_ROUNDING = 1e-9  # of a difference of shares: permutations that give the same one count


class Difference(NamedTuple):
    """The largest difference of the shares of two samples, where it is (a cut or a category's place), and its p-value.

    All three are NaN where there are too few rows.
    """

    value: float
    where: float
    p_value: float


_UNTESTED = Difference(np.nan, np.nan, np.nan)


def difference_above_a_cut(
    pos: NDArray[np.float64],
    unl: NDArray[np.float64],
    purity: float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Difference:
    """Return the largest difference of the shares above a cut, the cut, and its p-value (Kolmogorov and Smirnov).

    `purity` is the share of positives among the unlabelled rows: what the others can change is taken off before the
    difference is compared with those of permuted labels.
    """
    if pos.size < FEWEST or unl.size < FEWEST:
        return _UNTESTED
    values = np.concatenate([pos, unl])
    order = np.argsort(values, kind="stable")
    rising = values[order]
    cuts = np.flatnonzero(rising[1:] > rising[:-1])  # the last row below each cut
    if not cuts.size:
        return Difference(0.0, float(rising[0]), 1.0)
    of_row = np.where(order < pos.size, 1 / pos.size, -1 / unl.size)
    below = np.cumsum(of_row)[cuts]
    where = int(np.argmax(np.abs(below)))
    beyond = abs(float(below[where])) - (1 - purity) - _ROUNDING
    if beyond <= 0:
        p_value = 1.0
    else:
        as_large, left = 0, n_permutations
        while left:
            step = min(left, max(1, _BLOCK // values.size))
            drawn = generator.permuted(np.broadcast_to(of_row, (step, of_row.size)), axis=1)
            as_large += int(np.count_nonzero(np.abs(np.cumsum(drawn, axis=1)[:, cuts]).max(axis=1) >= beyond))
            left -= step
        p_value = (1 + as_large) / (1 + n_permutations)
    low, high = float(rising[cuts[where]]), float(rising[cuts[where] + 1])
    # Only missing entries are -inf: this cut says that they are what differs.
    return Difference(-float(below[where]), low if low == -np.inf else between(low, high), p_value)


def difference_of_categories(
    pos: NDArray[np.float64],
    unl: NDArray[np.float64],
    purity: float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Difference:
    """Return the largest difference of the shares of a category, its place, and the p-value.

    Permuted labels give each category so many labelled rows as a draw from all rows without replacement does.
    """
    if pos.size < FEWEST or unl.size < FEWEST:
        return _UNTESTED
    places, kind = np.unique(np.concatenate([pos, unl]), return_inverse=True)
    totals = np.bincount(kind)

    def differences(of_pos: NDArray[np.int64]) -> NDArray[np.float64]:
        apart: NDArray[np.float64] = of_pos / pos.size - (totals - of_pos) / unl.size
        return apart

    apart = differences(np.bincount(kind[: pos.size], minlength=totals.size))
    where = int(np.argmax(np.abs(apart)))
    beyond = abs(float(apart[where])) - (1 - purity) - _ROUNDING
    if places.size == 1 or beyond <= 0:
        return Difference(float(apart[where]), float(places[where]), 1.0)
    as_large, left = 0, n_permutations
    while left:
        step = min(left, max(1, _BLOCK // totals.size))
        drawn = generator.multivariate_hypergeometric(totals, pos.size, size=step, method="marginals")
        as_large += int(np.count_nonzero(np.abs(differences(drawn)).max(axis=1) >= beyond))
        left -= step
    return Difference(float(apart[where]), float(places[where]), (1 + as_large) / (1 + n_permutations))


def holm(p_values: NDArray[np.float64], is_open: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; NaN stays NaN, and neither it nor what is not open to doubt counts."""
    adjusted = np.where(np.isnan(p_values), np.nan, 1.0)
    tested = np.flatnonzero(np.isfinite(p_values) & (True if is_open is None else is_open))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    steps = p_values[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if order.size else steps
    return adjusted
