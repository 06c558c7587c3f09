"""The loop of mapping convergence, the same for SMC and SVMC."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from fastpu.common._progress import Report
from fastpu.mapping._boundaries import Boundary, SvmStages
from fastpu.mapping._mapping_options import MappingOptions, PURows, Rows
from fastpu.mapping.mapping_round import MappingRound

_MAPPING, _CONVERGENCE, _REPAIR = 0, 1, 2
_KINDS = ("mapping", "convergence", "repair")
_FALLBACK_SHARE = 0.05  # share of U taken as strong negatives where the mapping rejects nothing of U, or all of it


@dataclass(frozen=True)
class LogLine:
    """What the log says of one boundary; the fields are the columns of the model's history."""

    kind: int
    n_neg: int
    n_new: int
    n_back: int
    pos_reject: float
    n_left: int
    n_support_pos: int
    n_support_neg: int
    fit_time: float
    score_time: float
    n_steps: int
    objective: float
    gap: float
    violation: float
    margin: float
    nu: float


@dataclass
class MappingOutcome:
    """The result of the loop. Boundary 0 is that of the mapping; `kept` is the number of the boundary to return."""

    rejected_by: Rows
    boundaries: list[Boundary] = field(default_factory=list)
    log: list[LogLine] = field(default_factory=list)
    kept: int = 0
    status: str = ""
    used_fallback: bool = False

    def add(
        self,
        boundary: Boundary,
        *,
        start: float,
        fitted: float,
        kind: int,
        n_neg: int,
        n_new: int,
        n_back: int,
        pos_reject: float,
    ) -> LogLine:
        """Append a boundary, whose fit took from `start` to `fitted`, and return its line of the log."""
        line = LogLine(
            kind=kind,
            n_neg=n_neg,
            n_new=n_new,
            n_back=n_back,
            pos_reject=pos_reject,
            n_left=int(np.count_nonzero(self.rejected_by < 0)),
            n_support_pos=boundary.n_support_pos,
            n_support_neg=boundary.support.size,
            fit_time=fitted - start,
            score_time=time.perf_counter() - fitted,
            n_steps=boundary.end.n_steps,
            objective=boundary.end.objective,
            gap=boundary.end.gap,
            violation=boundary.end.violation,
            margin=boundary.margin,
            nu=boundary.nu,
        )
        self.boundaries.append(boundary)
        self.log.append(line)
        return line

    def column(self, name: str) -> NDArray[np.float64]:
        return np.array([getattr(line, name) for line in self.log])

    def history(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of the log by their names."""
        return {each.name: self.column(each.name) for each in fields(LogLine)}


def converge(pu_rows: PURows, stages: SvmStages, options: MappingOptions, on_round: Report | None) -> MappingOutcome:
    """Find strong negatives of U, then separate them from P again and again until no more rows of U are rejected.

    Unless N keeps all rows, only the support vectors among N stay in it. With `repair`, rejected rows that were dropped
    from N in this way go back into it if the last boundary calls them positive, and from then on no rows are dropped.
    """
    positive, unlabeled = pu_rows.positive, pu_rows.unlabeled
    outcome = MappingOutcome(rejected_by=np.full(unlabeled.size, -1, dtype=np.int64))
    new, negative = _map(outcome, stages, pu_rows), unlabeled[:0]
    kind = _CONVERGENCE
    for iteration in range(1, options.max_iter + 1):
        negative = np.concatenate([negative, new])
        n_trained = negative.size
        start = time.perf_counter()
        h = stages.separate(positive, negative)
        fitted = time.perf_counter()

        pos_reject = _pos_reject(h, pu_rows)
        has_gone_too_far = options.max_pos_reject is not None and pos_reject > options.max_pos_reject
        new, back = negative[:0], negative[:0]
        if not has_gone_too_far:
            new = _reject(outcome, h, unlabeled, iteration)
            if not options.keeps_all and kind == _CONVERGENCE:
                negative = h.support
            if options.repair and not new.size:
                back = _forgotten(outcome, h, unlabeled, negative)
        line = outcome.add(
            h,
            start=start,
            fitted=fitted,
            kind=kind,
            n_neg=n_trained,
            n_new=new.size,
            n_back=back.size,
            pos_reject=pos_reject,
        )
        outcome.kept = iteration - has_gone_too_far
        asked_to_stop = on_round is not None and on_round(_round_of(line, iteration, options.max_iter))
        if back.size:
            kind, new = _REPAIR, back
        if has_gone_too_far or not new.size or asked_to_stop:
            outcome.status = "max_pos_reject" if has_gone_too_far else "converged" if not new.size else "callback"
            return outcome
    outcome.status = "max_iter"
    return outcome


def _round_of(line: LogLine, iteration: int, max_iter: int) -> MappingRound:
    return MappingRound(
        iteration=iteration,
        max_iter=max_iter,
        kind=_KINDS[line.kind],
        n_neg=line.n_neg,
        n_new=line.n_new,
        n_left=line.n_left,
        n_back=line.n_back,
        n_support_pos=line.n_support_pos,
        n_support_neg=line.n_support_neg,
        pos_reject=line.pos_reject,
        fit_time=line.fit_time,
        score_time=line.score_time,
    )


def _map(outcome: MappingOutcome, stages: SvmStages, pu_rows: PURows) -> Rows:
    """Return the strong negatives of U: the rows that the mapping rejects, or those of lowest score if it fails."""
    unlabeled = pu_rows.unlabeled
    start = time.perf_counter()
    h = stages.map(pu_rows.positive)
    fitted = time.perf_counter()
    scores = h.score(unlabeled)
    rejects = scores < 0
    if rejects.all() or not rejects.any():
        outcome.used_fallback = True
        rejects = np.zeros(unlabeled.size, dtype=np.bool_)
        rejects[np.argsort(scores, kind="stable")[: math.ceil(_FALLBACK_SHARE * unlabeled.size)]] = True
    outcome.rejected_by[rejects] = 0
    n_new = int(np.count_nonzero(rejects))
    pos_reject = _pos_reject(h, pu_rows)
    outcome.add(h, start=start, fitted=fitted, kind=_MAPPING, n_neg=0, n_new=n_new, n_back=0, pos_reject=pos_reject)
    return unlabeled[rejects]


def _reject(outcome: MappingOutcome, h: Boundary, unlabeled: Rows, iteration: int) -> Rows:
    """Return the rows that h is the first boundary to reject, and record the iteration that rejected them."""
    left = np.flatnonzero(outcome.rejected_by < 0)
    if not left.size:
        return unlabeled[:0]
    places = left[h.score(unlabeled[left]) < 0]
    outcome.rejected_by[places] = iteration
    return unlabeled[places]


def _forgotten(outcome: MappingOutcome, h: Boundary, unlabeled: Rows, negative: Rows) -> Rows:
    """Return the rejected rows that are no longer in N although h calls them positive."""
    outside = unlabeled[(outcome.rejected_by >= 0) & ~np.isin(unlabeled, negative)]
    return outside[h.score(outside) >= 0] if outside.size else outside


def _pos_reject(h: Boundary, pu_rows: PURows) -> float:
    """Return the share of the positives that h rejects, of the held-out ones if there are any."""
    scores = h.score(pu_rows.held_out) if pu_rows.held_out.size else h.positive_scores
    return float(np.mean(scores < 0))
