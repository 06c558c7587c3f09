"""What callbacks of the large-margin iterations are given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MarginRound:
    """One classifier f_0, f_1, ... of a large-margin iteration, as a callback sees it.

    Attributes
    ----------
    C : float
        The cost that is being fitted.
    step, max_iter : int
        The number of the classifier, from 0, and the most there may be after the first.
    objective : float
        What is minimised, with the labels that the classifier was fitted to.
    n_changed : int
        Rows whose pseudo-labels it changes. For `fit_bpsi`: rows whose loss becomes flat with this classifier, and
        rows whose loss was flat and is no longer.
    gap : float
        Duality gap of its sub-problem.
    """

    C: float
    step: int
    max_iter: int
    objective: float
    n_changed: int
    gap: float
