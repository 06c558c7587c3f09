"""Warning categories, so that callers can filter by class, and a call that warns at the caller's line."""

from __future__ import annotations

import sys
import warnings

#: Packages that may stand between the user's code and a fit. A warning names the user's line, not one of theirs.
_BETWEEN = frozenset({"fastpu", "joblib", "sklearn"})


class ConvergenceWarning(UserWarning):
    """A fit ran out of iterations before it met its tolerance."""


class DegenerateModelWarning(UserWarning):
    """A model or a threshold calls every row positive, or none."""


class EstimateWarning(UserWarning):
    """An estimate is out of range, mostly noise or only an upper bound, or a result depends on such an estimate.

    Also: a model calls more rows positive than can be by an estimate of their share.
    """


class FailedFitWarning(UserWarning):
    """Some points of a grid could not be fitted or judged, and the choice was made among the others."""


class LabelWarning(UserWarning):
    """Labels are taken in another way than they are given or probably meant.

    A classifier takes two words the other way round, or a table of one column is taken for a vector.
    """


class ScaleWarning(UserWarning):
    """Columns are on scales so different that the method sees little of some, or `sigma` is too small for them."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into this package, directly or by an estimator, a search or a pipeline."""
    level, frame = 2, sys._getframe(1)
    while (caller := frame.f_back) is not None and _package(frame.f_globals) in _BETWEEN:
        level, frame = level + 1, caller
    warnings.warn(message, category, stacklevel=level)


def _package(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]
