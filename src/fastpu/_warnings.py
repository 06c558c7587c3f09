"""Warning categories, so that callers can filter by class."""

from __future__ import annotations

__all__ = ["ConvergenceWarning", "DegenerateModelWarning", "EstimateWarning", "PaperFormWarning"]


class ConvergenceWarning(UserWarning):
    """A fit ran out of iterations before it met its tolerance."""


class DegenerateModelWarning(UserWarning):
    """A model or a threshold calls every row positive, or none."""


class PaperFormWarning(UserWarning):
    """A method was asked for as it is printed, where the print does something else than its derivation."""


class EstimateWarning(UserWarning):
    """An estimate fell outside the range of what it estimates, whose end is returned, or it is made of noise."""
