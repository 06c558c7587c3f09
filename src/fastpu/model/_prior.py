"""A class prior, given or estimated, and the population that it refers to: the unlabelled rows, or all rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastpu.common._params import check_choice, check_float
from fastpu.common._sharing import unwrapped
from fastpu.common._text import short
from fastpu.common._types import Scenario
from fastpu.common._warn import warn
from fastpu.exceptions import EstimateWarning

SCENARIOS = ("case_control", "single_set")

_FAR_BELOW = 0.4  # an allowed share below this part of an estimate makes it only an upper bound
# A prior may be below the share of labelled rows by this share of all rows: it is then rounded, not impossible.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """An estimate of P(Y = 1) among the unlabelled rows.

    Pass it wherever a `prior` is taken. Fits use its `value`, and give an `EstimateWarning` if `is_wide` is true.
    Intervals of metrics cover the range of the estimate, and their warnings give the values at its ends.

    Attributes
    ----------
    value : float
        In (0, 1), so that it can be the `prior` of a fit.
    interval : tuple of two floats, or None
        The middle 95 % of `samples`; None without a bootstrap. It shows how the estimate varies, not its bias.
    samples : ndarray of float64, shape (n_boot,)
        Estimates from samples drawn with replacement from the positive and from the unlabelled rows.
    allowed : tuple of two floats, or None
        The least and the largest share that held-out scores do not contradict, with some 95 %. The largest follows from
        counts alone. The least is that of a logistic model of the scores. It can be too large if some negative rows
        look like positive ones, which nobody can tell apart from labelled positive and unlabelled rows alone.
    """

    value: float
    interval: tuple[float, float] | None
    samples: NDArray[np.float64]
    allowed: tuple[float, float] | None = None

    @property
    def only_upper_bound(self) -> bool:
        """Whether shares below 0.4 of `value` are allowed too: classes overlap too much, or there are too few rows."""
        return self.allowed is not None and self.allowed[0] < _FAR_BELOW * self.value

    @property
    def open_range(self) -> tuple[float, float] | None:
        """The shares that the data leave open beside the spread of `samples`: `allowed`."""
        return self.allowed

    @property
    def is_wide(self) -> bool:
        """Whether the data allow shares that are far from `value` on either side, so that `value` alone misleads."""
        return self.open_range is not None and (self.only_upper_bound or self.open_range[1] > self.value / _FAR_BELOW)

    def __repr__(self) -> str:
        parts = [f"value={self.value:.4g}"]
        for name, ends in (("interval", self.interval), ("allowed", self.allowed)):
            parts += [] if ends is None else [f"{name}=({ends[0]:.4g}, {ends[1]:.4g})"]
        if self.allowed and self.only_upper_bound:
            parts.append(f"only an upper bound: at most {self.allowed[1]:.2g}")
        return f"PriorEstimate({', '.join(parts)})"


def check_scenario(value: object) -> Scenario:
    """Return `value` if it is one of the two ways in which labelled and unlabelled rows are drawn."""
    return "single_set" if check_choice("scenario", value, SCENARIOS) == "single_set" else "case_control"


def check_prior(value: object, name: str = "prior") -> float:
    """Return a class prior, in (0, 1): a number, or the value of a PriorEstimate."""
    number = value.value if isinstance(value, PriorEstimate) else value
    if isinstance(value, PriorEstimate) and number in (0.0, 1.0):
        raise ValueError(
            f"{name} must be a number in (0, 1), got an estimate of {number:g}, by which "
            f"{'no' if number == 0 else 'every'} row is positive: check more rows, or pass a number that you believe in"
        )
    if isinstance(number, int | float) and 1 < number < 100:
        raise ValueError(
            f"{name} must be a number in (0, 1), got {short(float(number))}; {number:g} % is {number / 100:g}"
        )
    return check_float(name, number, low=0, high=1, open_low=True, open_high=True)


def check_prior_in(scenario: object, prior: object) -> tuple[float, Scenario]:
    """Return a prior and the scenario that it belongs to: an estimate is of the unlabelled rows, whatever is given."""
    number, drawn_as = check_prior(prior), check_scenario(scenario)
    return number, "case_control" if isinstance(prior, PriorEstimate) else drawn_as


def take_prior_in(scenario: object, prior: object) -> tuple[float, Scenario]:
    """Return what `check_prior_in` does, for a result that takes the number for true: warn of an estimate that is wide.

    A result that carries the range of the prior itself calls `check_prior_in`.
    """
    taken = check_prior_in(scenario, prior)
    if isinstance(prior, PriorEstimate) and prior.is_wide:
        warn(f"{said_of_wide(prior)}; fastpu.priors.sensitivity shows what depends on it", EstimateWarning)
    return taken


def said_of_wide(estimate: PriorEstimate) -> str:
    """Return what a warning says of an estimate whose number is used though the data allow very different ones."""
    low, high = estimate.open_range or (estimate.value, estimate.value)
    return (
        f"prior is used as if it were known to be {estimate.value:.2g}, but it is an estimate, and the data allow "
        f"shares from {low:.2g} to {high:.2g}"
    )


def prior_among_unlabeled(prior: float, *, n_pos: float, n_unl: float, n_neg: float = 0, scenario: str) -> float:
    """Return P(Y = 1) among the unlabelled rows for the prior that belongs to the scenario.

    In "single_set" `prior` is the rate among all rows together; the groups are given by their counts, or their weights.
    """
    if scenario == "case_control":
        return prior
    n_rows = n_pos + n_unl + n_neg
    hidden = prior * n_rows - n_pos
    if hidden > n_unl + _ROUNDING * n_rows:
        raise ValueError(
            f"prior must be at most {1 - n_neg / n_rows:.6g} with scenario='single_set', where it is the rate among "
            f"all rows and the others are labelled negative, got {prior:g}"
        )
    if hidden < -_ROUNDING * n_rows:
        raise ValueError(
            f"prior must be at least {n_pos / n_rows:.6g} with scenario='single_set', where it is the rate among all "
            f"rows and that share of them is labelled positive, got {prior:g}; if it is the rate among the unlabelled "
            f"rows, pass scenario='case_control'"
        )
    return min(1.0, max(0.0, hidden / n_unl))


def proper_prior(
    prior: float | PriorEstimate | None, scenario: str, *, n_pos: float, n_unl: float, n_neg: float = 0
) -> float:
    """As `prior_among_unlabeled`, for a prior that must leave positive and negative rows there; 0.5 for None."""
    if prior is None:
        if scenario != "case_control":
            raise ValueError(f"scenario must be 'case_control' where no prior is given, got {scenario!r}")
        return 0.5
    prior = prior.value if isinstance(prior, PriorEstimate) else prior
    share = prior_among_unlabeled(prior, n_pos=n_pos, n_unl=n_unl, n_neg=n_neg, scenario=scenario)
    if not 0 < share < 1:
        raise ValueError(
            f"prior must leave positive and negative rows among the unlabelled ones, got {prior:g} with "
            f"scenario='single_set', by which {share:g} of them are positive"
        )
    return share


def prior_by_labels(
    prior: float | PriorEstimate | None, scenario: str, labels: NDArray[np.int8], weights: NDArray[np.float64] | None
) -> float:
    """As `proper_prior`, of positive and unlabelled rows; weights are summed exactly, in whatever order they come."""
    groups = (labels == label for label in (1, 0))
    n_pos, n_unl = (float(group.sum()) if weights is None else math.fsum(weights[group]) for group in groups)
    return proper_prior(prior, scenario, n_pos=n_pos, n_unl=n_unl)


def needs_prior(fit: Any, arguments: Mapping[str, Any]) -> bool:
    """Return whether `fit`, which takes a `prior`, needs it beside these arguments: always, unless it is marked.

    The mark `prior_where` is the name of a parameter and the values of it for which alone the prior is needed.
    """
    where = getattr(unwrapped(fit), "prior_where", None)
    if where is None:
        return True
    name, values = where
    return arguments.get(name, signature(fit).parameters[name].default) in values
