"""The loop of mapping convergence, the same for SMC and SVMC and for every choice of its two stages."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.int64]  # numbers of rows of X
Scores: TypeAlias = NDArray[np.float64]

MAPPING, CONVERGENCE, REPAIR = 0, 1, 2
_KINDS = ("mapping", "convergence", "repair")
# The columns of the log about the SVM of a stage, with their values for stages that are not our SVMs.
_SOLVER = {"n_steps": 0, **dict.fromkeys(("objective", "gap", "violation", "margin", "nu"), math.nan)}
_FALLBACK_SHARE = 0.05  # share of U taken as strong negatives where the mapping rejects nothing of U, or all of it


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
        Rows of U in the training set N, rejected by this boundary for the first time, and never rejected.
    n_back : int
        Forgotten negatives that go back into N after this iteration.
    n_support_pos, n_support_neg : int
        Support vectors among P and among N.
    pos_reject : float
        Share of the labelled positives (the held-out ones, if there are any) that this boundary rejects.
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


@dataclass(frozen=True)
class Boundary:
    """What a stage returns: a score function h, which is negative for the rows that it rejects, and the log of its fit.

    `score` takes row numbers; `positive_scores` are the scores of P, if they are already known. `support` are the rows
    of N that are support vectors of h, in the order of N; None means all of N. `solver` holds numbers for the log, and
    `fitted` is what the stage has fitted, which the model keeps. Of the SVMs of `SvmStages` that is a `Solved` of the
    support vectors alone, and `span` is `span_of` the scores of all rows that they were fitted to.
    """

    score: Callable[[Rows], Scores]
    support: Rows | None
    n_support_pos: int
    fitted: Any
    span: tuple[int, int, float, float] | None = None
    positive_scores: Scores | None = None
    solver: Mapping[str, float] = field(default_factory=dict)


Stage: TypeAlias = Callable[[Rows, Rows], Boundary]  # of P and U, or of P and N


@dataclass(frozen=True)
class Groups:
    """The numbers of the training positives, of the held-out positives (perhaps none) and of the unlabelled rows."""

    positive: Rows
    held_out: Rows
    unlabeled: Rows


@dataclass
class Outcome:
    """The result of the loop. Boundary 0 is that of the mapping; `kept` is the number of the boundary to return."""

    rejected_by: Rows
    boundaries: list[Boundary] = field(default_factory=list)
    log: dict[str, list[float]] = field(default_factory=dict)
    kept: int = 0
    status: str = ""
    used_fallback: bool = False

    def add(self, boundary: Boundary, start: float, fitted: float, **entries: Any) -> dict[str, Any]:
        """Append a boundary, whose fit took from `start` to `fitted`, and return its line of the log."""
        line = {
            **entries,
            "n_left": int(np.count_nonzero(self.rejected_by < 0)),
            "n_support_pos": boundary.n_support_pos,
            "n_support_neg": entries["n_neg"] if boundary.support is None else boundary.support.size,
            "fit_time": fitted - start,
            "score_time": time.perf_counter() - fitted,
        }
        self.boundaries.append(boundary)
        for name, value in {**line, **_SOLVER, **boundary.solver}.items():
            self.log.setdefault(name, []).append(value)
        return line


def converge(
    groups: Groups,
    psi1: Stage,
    psi2: Stage,
    *,
    reset: bool,
    repair: bool,
    max_iter: int,
    max_pos_reject: float | None,
    on_iteration: Callable[[MappingRound], bool] | None,
) -> Outcome:
    """Find strong negatives of U, then separate them from P again and again until no more rows of U are rejected.

    With `reset` (SVMC), only the support vectors among N stay in N. With `repair`, rejected rows that were dropped from
    N in this way go back into it if the last boundary calls them positive, and from then on no rows are dropped.
    """
    positive, unlabeled = groups.positive, groups.unlabeled
    outcome = Outcome(rejected_by=np.full(unlabeled.size, -1, dtype=np.int64))
    new, negative = _map(outcome, psi1, groups), unlabeled[:0]
    kind = CONVERGENCE
    for iteration in range(1, max_iter + 1):
        negative = np.concatenate([negative, new])
        n_trained = negative.size
        start = time.perf_counter()
        h = psi2(positive, negative)
        fitted = time.perf_counter()

        pos_reject = _pos_reject(h, groups)
        has_gone_too_far = max_pos_reject is not None and pos_reject > max_pos_reject
        new, back = negative[:0], negative[:0]
        if not has_gone_too_far:
            new = _reject(outcome, h, unlabeled, iteration)
            if reset and kind == CONVERGENCE and h.support is not None:
                negative = h.support
            if repair and not new.size:
                back = _forgotten(outcome, h, unlabeled, negative)
        sizes = {"n_neg": n_trained, "n_new": new.size, "n_back": back.size}
        line = outcome.add(h, start, fitted, kind=kind, **sizes, pos_reject=pos_reject)
        outcome.kept = iteration - has_gone_too_far
        asked_to_stop = on_iteration is not None and on_iteration(
            MappingRound(iteration=iteration, max_iter=max_iter, **{**line, "kind": _KINDS[kind]})
        )
        if back.size:
            kind, new = REPAIR, back
        if has_gone_too_far or not new.size or asked_to_stop:
            outcome.status = "max_pos_reject" if has_gone_too_far else "converged" if not new.size else "callback"
            return outcome
    outcome.status = "max_iter"
    return outcome


def _map(outcome: Outcome, psi1: Stage, groups: Groups) -> Rows:
    """Return the strong negatives of U: the rows that the mapping rejects, or those of lowest score if it fails."""
    unlabeled = groups.unlabeled
    start = time.perf_counter()
    h = psi1(groups.positive, unlabeled)
    fitted = time.perf_counter()
    scores = h.score(unlabeled)
    rejects = scores < 0
    if rejects.all() or not rejects.any():
        outcome.used_fallback = True
        rejects = np.zeros(unlabeled.size, dtype=np.bool_)
        rejects[np.argsort(scores, kind="stable")[: math.ceil(_FALLBACK_SHARE * unlabeled.size)]] = True
    outcome.rejected_by[rejects] = 0
    n_new = int(np.count_nonzero(rejects))
    outcome.add(h, start, fitted, kind=MAPPING, n_neg=0, n_new=n_new, n_back=0, pos_reject=_pos_reject(h, groups))
    return unlabeled[rejects]


def _reject(outcome: Outcome, h: Boundary, unlabeled: Rows, iteration: int) -> Rows:
    """Return the rows that h is the first boundary to reject, and record the iteration that rejected them."""
    left = np.flatnonzero(outcome.rejected_by < 0)
    if not left.size:
        return unlabeled[:0]
    places = left[h.score(unlabeled[left]) < 0]
    outcome.rejected_by[places] = iteration
    return unlabeled[places]


def _forgotten(outcome: Outcome, h: Boundary, unlabeled: Rows, negative: Rows) -> Rows:
    """Return the rejected rows that are no longer in N although h calls them positive."""
    outside = unlabeled[(outcome.rejected_by >= 0) & ~np.isin(unlabeled, negative)]
    return outside[h.score(outside) >= 0] if outside.size else outside


def _pos_reject(h: Boundary, groups: Groups) -> float:
    """Return the share of the positives that h rejects, of the held-out ones if there are any."""
    if groups.held_out.size:
        scores = h.score(groups.held_out)
    else:
        scores = h.score(groups.positive) if h.positive_scores is None else h.positive_scores
    return float(np.mean(scores < 0))
