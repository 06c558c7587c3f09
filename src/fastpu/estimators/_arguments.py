"""Defaults of the scikit-learn classifiers where a fit function has none: class priors and costs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from fastpu import priors
from fastpu.data._validate import check_choice, check_matrix, check_random_state
from fastpu.model._prior import check_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = [
    "balanced_costs",
    "check_prior_name",
    "estimate_prior",
    "in_proportion",
    "with_prior",
    "with_prior_attributes",
]

_ESTIMATES = ("bbe", "km2", "pen_l1", "tice")


def balanced_costs(arguments: Mapping[str, Any], codes: NDArray[np.int8], weights: Any) -> dict[str, Any]:
    """Return C_pos and C_unl, where they are not given those that make both groups weigh the same."""
    mass = np.ones(codes.size) if weights is None else weights
    costs: dict[str, Any] = {}
    for name, code in (("C_pos", 1), ("C_unl", 0)):
        own = float(mass[codes == code].sum())
        # Without any row of the group the fit function says what is missing.
        balanced = float(mass.sum()) / (2 * own) if own else 1.0
        costs[name] = balanced if arguments[name] is None else arguments[name]
    return costs


def check_prior_name(value: str) -> str:
    """Return `value` if it is the name of an estimate."""
    return check_choice("prior", value, _ESTIMATES)


def with_prior(arguments: dict[str, Any], rows: Any, codes: NDArray[np.int8], weights: Any) -> dict[str, Any]:
    """Return the arguments with a number or a PriorEstimate for `prior`; `with_prior_attributes` takes both.

    An estimate is of the unlabelled rows, whatever the scenario.
    """
    if not isinstance(arguments["prior"], str):
        check_prior(arguments["prior"])
        return arguments
    estimate = estimate_prior(
        arguments["prior"],
        rows,
        codes,
        weights,
        random_state=arguments["random_state"],
        n_threads=arguments["n_threads"],
    )
    return {**arguments, "prior": estimate, "scenario": "case_control"}


def with_prior_attributes(
    call: Callable[[dict[str, Any]], dict[str, Any]], arguments: dict[str, Any]
) -> dict[str, Any]:
    """Return the attributes of a fit by `call` with the arguments, and the prior that was used and its estimate."""
    prior = arguments["prior"]
    estimate = prior if isinstance(prior, priors.PriorEstimate) else None
    number = prior if estimate is None else estimate.value
    fitted = call({**arguments, "prior": number})
    return {**fitted, "prior_": float(number), "prior_estimate_": estimate}


def estimate_prior(
    value: str,
    rows: Any,
    codes: NDArray[np.int8],
    weights: Any,
    *,
    random_state: Any,
    n_threads: Any,
) -> priors.PriorEstimate:
    """Return the share of positives among the unlabelled rows as a function of `fastpu.priors` estimates it.

    The estimates know no weights: rows are drawn in proportion to them, as many as there are, and one row for each
    where they are equal. An estimate of 0 or 1 is brought in by a row that there might be.
    """
    function = getattr(priors, check_prior_name(value))
    chosen = []
    for code in (1, 0):
        group = np.flatnonzero(codes == code)
        if weights is not None and group.size:
            group = group[in_proportion(weights[group], check_random_state(random_state).random())]
        if group.size < 2:
            raise ValueError(
                f"prior must be a number where a group has fewer than 2 rows, for {value!r} cannot estimate it from "
                f"{group.size} {'positive' if code else 'unlabelled'} rows"
            )
        chosen.append(group)
    taken = np.concatenate(chosen)
    part = check_matrix(rows)[taken].table()
    estimate: priors.PriorEstimate = function(part, codes[taken], random_state=random_state, n_threads=n_threads)
    edge = 1 / (chosen[1].size + 1)
    return dataclasses.replace(estimate, value=float(min(1 - edge, max(edge, estimate.value))))


def in_proportion(weights: NDArray[np.float64], start: float) -> NDArray[np.intp]:
    """Return positions drawn in proportion to their weights, at equal distances along the sum of these.

    There are as many as positive weights, and each once where these are equal; `start` is in [0, 1).
    """
    size = int(np.count_nonzero(weights))
    mass = np.cumsum(weights)
    points = (np.arange(size) + start) * (mass[-1] / max(1, size))
    positions: NDArray[np.intp] = np.minimum(np.searchsorted(mass, points, side="right"), weights.size - 1)
    return positions
