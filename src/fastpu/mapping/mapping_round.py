"""What callbacks of mapping convergence are given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MappingRound:
    """One iteration of mapping convergence, as a callback sees it.

    Attributes
    ----------
    iteration, max_iter : int
        The number of this iteration, from 1, and the most there may be.
    kind : str
        "convergence", or "repair" once forgotten negatives were put back.
    n_neg, n_new, n_left : int
        Unlabelled rows in the training set N, rows that this boundary is the first to reject, and rows that no
        boundary has rejected.
    n_back : int
        Forgotten negatives that go back into N after this iteration.
    n_support_pos, n_support_neg : int
        Support vectors among P and among N.
    pos_reject : float
        Share of the labelled positives that this boundary rejects: of the held-out ones, if there are any.
    fit_time, score_time : float
        Seconds.
    """

    iteration: int
    max_iter: int
    kind: str
    n_neg: int
    n_new: int
    n_left: int
    n_back: int
    n_support_pos: int
    n_support_neg: int
    pos_reject: float
    fit_time: float
    score_time: float
