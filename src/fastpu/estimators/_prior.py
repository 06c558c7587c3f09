"""Estimates of the class prior, where a classifier has none and its fit function needs one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import priors
from fastpu.common._params import check_choice, check_random_state
from fastpu.data._validate import check_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ESTIMATES = ("bbe", "km2")


def check_prior_name(value: str) -> str:
    """Return `value` if it is the name of a function of `fastpu.priors` that estimates the prior."""
    return check_choice("prior", value, _ESTIMATES)


def estimate_prior(
    name: str,
    rows: Any,
    codes: NDArray[np.int8],
    weights: Any,
    *,
    random_state: Any,
    n_threads: Any,
) -> priors.PriorEstimate:
    """Return the share of positives among the unlabelled rows, by the function of `fastpu.priors` of this name.

    These functions take no weights, so rows are drawn in proportion to their weights: as many as there are, and each
    row once where all weights are equal. An estimate of 0 or 1 is moved inwards by the share of one more row.
    """
    function = getattr(priors, check_prior_name(name))
    chosen = []
    for code in (1, 0):
        group = np.flatnonzero(codes == code)
        if weights is not None and group.size:
            group = group[in_proportion(weights[group], check_random_state(random_state).random())]
        if group.size < 2:
            raise ValueError(
                f"prior must be a number where a group has fewer than 2 rows, for {name!r} cannot estimate it from "
                f"{group.size} {'positive' if code else 'unlabelled'} rows"
            )
        chosen.append(group)
    drawn = np.concatenate(chosen)
    X = check_matrix(rows)[drawn].table()
    estimate: priors.PriorEstimate = function(X, codes[drawn], random_state=random_state, n_threads=n_threads)
    edge = 1 / (chosen[1].size + 1)
    return dataclasses.replace(estimate, value=float(min(1 - edge, max(edge, estimate.value))))


def in_proportion(weights: NDArray[np.float64], start: float) -> NDArray[np.intp]:
    """Return positions drawn in proportion to their weights, as many as there are positive weights.

    They are drawn at equal distances along the cumulated weights, from `start` in [0, 1) of a distance on: each
    position once where all weights are equal.
    """
    size = int(np.count_nonzero(weights))
    mass = np.cumsum(weights)
    points = (np.arange(size) + start) * (mass[-1] / max(1, size))
    positions: NDArray[np.intp] = np.minimum(np.searchsorted(mass, points, side="right"), weights.size - 1)
    return positions
