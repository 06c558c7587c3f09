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
    """A model or a threshold calls every row positive, or none."""


class EstimateWarning(UserWarning):
    """An estimate is out of range, mostly noise or only an upper bound, or a result depends on such an estimate.

    Also: a model calls more rows positive than can be by an estimate of their share, or out-of-bag scores are missing.
    """


class FailedFitWarning(UserWarning):
    """Some points of a grid could not be fitted or judged, and the choice was made among the others."""


class LabelWarning(UserWarning):
    """Labels, or what has an entry for each row, are taken in another way than they are given or probably meant.

    A classifier takes two words the other way round, or a table of one column is taken for a vector, or weights change
    nothing. Also: labelled and unlabelled rows are told apart so well that a column probably knows the labels.
    """


class ScaleWarning(UserWarning):
    """Columns are on scales so different that the method sees little of some, or `sigma` is too small for them."""


class UnlikeRowsWarning(UserWarning):
    """Rows to be scored have a column that is missing as a whole or mostly holds new categories, unlike in training."""
