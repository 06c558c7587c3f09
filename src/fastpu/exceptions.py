"""Categories of warnings, so that callers can filter by class."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "CopiedRowsWarning",
    "DegenerateModelWarning",
    "EstimateWarning",
    "FailedFitWarning",
    "LabelWarning",
    "ScaleWarning",
    "UnlikeRowsWarning",
]


def __dir__() -> list[str]:
    return __all__


class ConvergenceWarning(UserWarning):
    """A fit ran out of iterations before it met its tolerance."""


class CopiedRowsWarning(UserWarning):
    """Many labelled rows are copies of each other, which makes their out-of-bag scores too good."""


class DegenerateModelWarning(UserWarning):
    """A model or a threshold calls every row positive, or none; or a threshold, far more or fewer than asked for."""


class EstimateWarning(UserWarning):
    """An estimate is out of range, mostly noise or only an upper bound, or a result depends on such an estimate.

    It also tells that a model calls more rows positive than an estimate of their share allows, or that out-of-bag
    scores are missing.
    """


class FailedFitWarning(UserWarning):
    """Some points of a grid could not be fitted or scored. The choice was made among the others."""


class LabelWarning(UserWarning):
    """Labels, weights or groups are probably not what they were meant to be.

    For example: of two words as labels a classifier takes the wrong one for positive, a table with one column is taken
    for a vector, the rows of `X` and `y` are in different orders, weights change nothing, or labelled and unlabelled
    rows are separated so well that a column probably contains the labels.
    """


class ScaleWarning(UserWarning):
    """Columns are on so different scales that some hardly influence the fit, or `sigma` is too small for them."""


class UnlikeRowsWarning(UserWarning):
    """In the rows to be scored a column is entirely missing or mostly holds new categories, unlike in training."""
