"""Where `Model.with_threshold` puts a threshold, by which rows, and what it says of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastpu.common._binomial import share_interval
from fastpu.common._params import check_float, check_k
from fastpu.common._text import describe
from fastpu.common._types import LabelsLike
from fastpu.common._warn import warn
from fastpu.data._missing_scores import rows_with_scores
from fastpu.data._validate import check_labels
from fastpu.exceptions import EstimateWarning
from fastpu.model._lazy import computed
from fastpu.model._prior import PriorEstimate, check_prior, said_of_wide
from fastpu.model._threshold import matched_threshold, prior_threshold

_TAIL = 0.05  # on either side of the interval of the share above a threshold


@dataclass(frozen=True)
class CutRows:
    """Scores of unlabelled rows that a threshold divides, and their weights; `what` names them after their number.

    If `are_grouped`, rows belong together and do not count for as many that are drawn by themselves.
    """

    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    what: str = "unlabelled rows"
    are_grouped: bool = False

    @classmethod
    def out_of_bag(
        cls,
        scores: NDArray[np.float64],
        is_unlabelled: NDArray[np.bool_],
        weights: NDArray[np.float64] | None = None,
        *,
        are_grouped: bool = False,
    ) -> CutRows:
        """Return the unlabelled training rows with a score; warn of those without, and raise ValueError if none has."""
        counted = is_unlabelled if weights is None else is_unlabelled & (weights > 0)
        rows = counted & ~np.isnan(scores)
        if not rows.any():
            raise ValueError(
                "X_unl must be given for with_threshold, got None: no unlabelled training row has an out-of-bag score, "
                "as every bag holds all of them; pass unlabelled rows that the model was not fitted to"
            )
        rows_with_scores("with_threshold", "scores", scores, {"unlabelled training": counted})
        mass = None if weights is None or np.ptp(weights[rows]) == 0 else weights[rows]
        return cls(scores[rows], mass, "unlabelled training rows, by their out-of-bag scores,", are_grouped)

    def share_above(self, threshold: float) -> float:
        """Return the share of these rows, by weight, whose score is above the threshold."""
        above = self.scores > threshold
        return float(above.mean() if self.weights is None else self.weights[above].sum() / self.weights.sum())

    def said_of_others(self, threshold: float) -> str:
        """Say what share of all rows like these is above the threshold, as far as these rows tell."""
        if self.are_grouped:
            return ""
        w = self.weights
        n = float(self.scores.size if w is None else w.sum() ** 2 / (w**2).sum())  # as many count as much
        low, high = share_interval(self.share_above(threshold) * n, n, _TAIL)
        return f"; the share among all rows like these is {low:.3g} to {high:.3g} (90 % interval)"


def unlabelled_rows(y: LabelsLike, n_rows: int, fitted: NDArray[np.int8] | None) -> NDArray[np.bool_]:
    """Return which training rows are unlabelled by the labels that a user gives; `fitted` are those of the fit."""
    labels = check_labels(computed(y), n_rows)
    rows: NDArray[np.bool_] = labels == 0
    if not rows.any():
        raise ValueError("y must have at least one unlabelled row (0) for with_threshold, got none")
    if fitted is not None and (rows & (fitted != 0)).any():
        row = int(np.argmax(rows & (fitted != 0)))
        raise ValueError(
            f"y must be labels of the training rows, in their order: row {row} is unlabelled there, and was labelled "
            f"{fitted[row]:+d} in the fit"
        )
    return rows


def check_one_rule(prior: object, k: object, value: object, X_unl: object, y: object) -> None:
    """Raise unless exactly one of the first three is given, no rows with `value`, and no `y` with other rows."""
    passed = [name for name, argument in (("prior", prior), ("k", k), ("value", value)) if argument is not None]
    if len(passed) != 1:
        raise ValueError(
            f"exactly one of prior, k and value must be given for with_threshold, got {' and '.join(passed) or 'none'}"
        )
    if value is not None and X_unl is not None:
        raise ValueError(f"X_unl must be None with value, which needs no rows, got {describe(X_unl)}")
    if y is not None and (value is not None or X_unl is not None):
        other = "value, which needs no rows" if X_unl is None else "X_unl, all rows of which are unlabelled"
        raise ValueError(f"y must be None with {other}, got {describe(y)}; it has the labels of the training rows")


def threshold_at(value: object) -> tuple[float, str]:
    """Return a threshold that the user gives, and the rule that says so."""
    threshold = check_float("value", value, allow_inf=True)
    return threshold, f"value {threshold:g}"


def threshold_of_prior(rows: CutRows, prior: float | PriorEstimate) -> tuple[float, str]:
    """Return the threshold that matches a prior, and the rule; warn where all or no rows are above, or it is unsure."""
    share, scores, n_rows = check_prior(prior), rows.scores, rows.scores.size
    threshold, positive = matched_threshold(scores, share, f"prior {share:g}", rows.weights)
    rule = f"prior {share:g}: {positive} of {n_rows} {rows.what} positive"
    if rows.weights is not None:
        rule += f" ({rows.share_above(threshold):.4g} by weight)"
    if isinstance(prior, PriorEstimate) and prior.interval is not None:
        fewest, most = (round(end * n_rows) for end in prior.interval)
        rule += f" ({fewest} to {most} by the interval of the prior)"
    if isinstance(prior, PriorEstimate) and prior.is_wide and prior.open_range is not None:
        upper, lower = (prior_threshold(scores, end, rows.weights) for end in prior.open_range)
        fewest, most = (int(np.count_nonzero(scores > end)) for end in (upper, lower))
        warn(
            f"with_threshold: {said_of_wide(prior)}, by which {fewest} to {most} of {n_rows} unlabelled rows are "
            f"called positive, and the threshold is from {lower:.4g} to {upper:.4g}",
            EstimateWarning,
        )
        rule += f" ({fewest} to {most} by what the estimate of the prior allows)"
    return threshold, rule + rows.said_of_others(threshold)


def threshold_of_first(rows: CutRows, k: object) -> tuple[float, str]:
    """Return the threshold above which the `k` best of the rows are, whatever their weights, and the rule."""
    n_rows = rows.scores.size
    first = check_k(k, n_rows)
    threshold, positive = matched_threshold(rows.scores, first / n_rows, f"k = {first}")
    return threshold, f"k {first}: {positive} of {n_rows} {rows.what} positive"
