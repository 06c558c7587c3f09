"""How much a quantity changes over the priors that an estimate allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastpu.common._frame import frame_of
from fastpu.common._functions import check_function
from fastpu.common._keywords import answers_unknown_keywords
from fastpu.common._params import check_float, check_int
from fastpu.common._types import VectorLike
from fastpu.common._warn import warn
from fastpu.data._validate import check_vector
from fastpu.exceptions import EstimateWarning
from fastpu.model._prior import PriorEstimate

if TYPE_CHECKING:
    import pandas as pd

_MOST_POINTS = 10**6


class Sensitivity(NamedTuple):
    """The values of a quantity for several priors.

    Attributes
    ----------
    priors : ndarray of float64, shape (m,)
        The priors that were tried.
    values : ndarray of float64, shape (m,)
        The value of the quantity for each of them; NaN where it has none.
    """

    priors: NDArray[np.float64]
    values: NDArray[np.float64]

    def to_frame(self) -> pd.DataFrame:
        """Return both as a pandas frame with the columns "prior" and "value".

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return frame_of({"prior": self.priors, "value": self.values})


@answers_unknown_keywords
def sensitivity(
    function: Callable[[float], float], priors: VectorLike | PriorEstimate, *, n_points: int = 11
) -> Sensitivity:
    """Return the values of a quantity for several priors, to see how much it depends on the prior.

    Parameters
    ----------
    function : callable
        A function ``function(prior) -> float``, such as an AUC, or the error of a model that is fitted with this prior.
    priors : array-like of shape (m,), or PriorEstimate
        The priors to try, each in (0, 1). For an estimate, `n_points` priors at even distances are tried. They go over
        its `interval` if it has one, over what is `allowed` if it has none, and over both if `allowed` reaches far from
        `value`.
    n_points : int, default 11
        How many priors are tried for an estimate, from 2 to 10^6.

    Returns
    -------
    Sensitivity
        Named tuple ``(priors, values)`` of two arrays.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, the estimate has no range, or `function` returns no number. An error of
        `function` is passed on, but for a ValueError at some of the priors that an estimate allows.

    Warns
    -----
    EstimateWarning
        If `function` raises a ValueError at some of the priors that an estimate allows, as `pu_auc` does where the AUC
        would be above 1. The values are NaN there.

    Examples
    --------
    >>> from fastpu.metrics import pu_auc
    >>> from fastpu.priors import sensitivity
    >>> y, scores = [1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.5, 0.1, 0.1]
    >>> sensitivity(lambda prior: pu_auc(y, scores, prior=prior), [0.2, 0.4]).values.round(3)
    array([0.812, 0.917])
    """
    check_function("function", function, "a function of a prior", arguments=("prior",), may_be_class=True)
    count = check_int("n_points", n_points, low=2, high=_MOST_POINTS)
    if isinstance(priors, PriorEstimate):
        ranges = [priors.interval, priors.open_range if priors.interval is None or priors.is_wide else None]
        ends = [end for pair in ranges if pair is not None for end in pair]
        if not ends:
            raise ValueError("priors must have an interval or allowed shares, got an estimate with neither")
        low, high = (min(max(end, 1e-6), 1 - 1e-6) for end in (min(ends), max(ends)))
        points = np.linspace(low, high, count)
    else:
        points = check_vector("priors", priors)
    checked = [
        check_float(f"priors[{i}]", point, low=0, high=1, open_low=True, open_high=True)
        for i, point in enumerate(points.tolist())
    ]
    may_refuse = isinstance(priors, PriorEstimate)  # who names the priors wants to know of each
    found = [_value_at(function, point, may_refuse=may_refuse) for point in checked]
    refused = [(point, value) for point, value in zip(checked, found, strict=True) if isinstance(value, ValueError)]
    if len(refused) == len(checked) > 0:
        raise refused[0][1]
    if refused:
        warn(
            f"sensitivity: function has no value for {len(refused)} of {len(checked)} priors that the estimate allows, "
            f"from {refused[0][0]:.3g} to {refused[-1][0]:.3g}, and NaN stands there. By the first of them: "
            f"{refused[0][1]}",
            EstimateWarning,
        )
    values = [math.nan if isinstance(value, ValueError) else value for value in found]
    return Sensitivity(np.array(checked), np.array(values))


def _value_at(function: Callable[[float], float], point: float, *, may_refuse: bool) -> float | ValueError:
    """Return the value for a prior, or the error by which the function refuses it, if it may."""
    try:
        value = function(point)
    except ValueError as error:
        if not may_refuse:
            raise
        return error
    return check_float(f"function({point:g})", value, allow_inf=True)
