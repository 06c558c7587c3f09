"""A warning at the caller's line."""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

from fastpu.exceptions import DegenerateModelWarning

#: Packages that may stand between the user's code and a fit. A warning names the user's line, not one of theirs.
_BETWEEN = frozenset({"fastpu", "joblib", "sklearn"})


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into this package, directly or by an estimator, a search or a pipeline."""
    level, frame = 2, sys._getframe(1)
    while (caller := frame.f_back) is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        level, frame = level + 1, caller
    warnings.warn(message, category, stacklevel=level)


def span_of(scores: NDArray[np.float64], threshold: float = 0.0) -> tuple[int, int, float, float]:
    """Return how many scores are above a threshold, how many there are, and the least and the largest."""
    return int(np.count_nonzero(scores > threshold)), scores.size, float(scores.min()), float(scores.max())


def one_verdict(n_positive: int, n_rows: int, least: float, most: float, kind: str = "training") -> str:
    """Return what is said of a model that calls all rows the same, with their scores; "" if it does not."""
    if 0 < n_positive < n_rows:
        return ""
    verdict = "positive" if n_positive else "negative"
    return f"calls all {n_rows} {kind} rows {verdict}: their scores are between {least:.3g} and {most:.3g}"


def warn_if_alike(function: str, span: tuple[int, int, float, float], advice: str) -> None:
    """Warn if a model calls all training rows the same, by `span_of` their scores."""
    if verdict := one_verdict(*span):
        text = f"{function}: the model {verdict}; {advice}, or rank by the scores (with_threshold)"
        warn(text, DegenerateModelWarning)
