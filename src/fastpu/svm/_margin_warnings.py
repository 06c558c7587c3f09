"""What is wrong with a large-margin fit, in words, and one warning for all values of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastpu.common._warn import one_verdict, span_of, warn
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning, EstimateWarning
from fastpu.svm._margin_fit import MarginFit
from fastpu.svm._margin_rows import MarginOptions, MarginRows
from fastpu.svm._positive_share import largest_share

# A fit warns if the share of unlabelled rows that it calls positive exceeds the largest possible share of positives by
# this factor: at least a fifth of these rows are then negative. Of 420 fits to simulated and real rows whose share was
# at most 1.3 times the truth, six warned; of 348 fits whose share was at least twice the truth, with at most 5 %
# positives, 178 did.
_TOO_MANY = 1.25


@dataclass(frozen=True)
class FitFlaws:
    """What is wrong with the fit for one C: the end of a sentence for each kind of flaw, or "" where there is none."""

    C: float
    unfinished: str
    unsolved: str
    degenerate: str
    too_many_positive: str


def find_flaws(fit: MarginFit, rows: MarginRows, options: MarginOptions) -> FitFlaws:
    degenerate = _degenerate(fit)
    is_ended = fit.has_labels and fit.status not in {"max_iter", "callback"}
    return FitFlaws(
        C=fit.C,
        unfinished=_unfinished(fit, options.max_iter),
        unsolved=_unsolved(fit, options.solver_tol, rows.matrix.dtype),
        degenerate=degenerate,
        too_many_positive=_too_many_positive(fit, rows) if is_ended and not degenerate else "",
    )


def warn_of_flaws(flaws: Sequence[FitFlaws], function: str) -> None:
    """Warn the caller of the fit function of each kind of flaw, once for all values of C."""
    costs = [each.C for each in flaws]
    _warn_once(function, costs, [each.unfinished for each in flaws], ConvergenceWarning)
    _warn_once(function, costs, [each.unsolved for each in flaws], ConvergenceWarning)
    _warn_once(function, costs, [each.degenerate for each in flaws], DegenerateModelWarning)
    _warn_once(function, costs, [each.too_many_positive for each in flaws], EstimateWarning)


def _warn_once(function: str, costs: Sequence[float], texts: Sequence[str], category: type[Warning]) -> None:
    flawed = [i for i, text in enumerate(texts) if text]
    if flawed:
        where = "" if len(texts) == 1 else f"{len(flawed)} of {len(texts)} values of C, the first "
        warn(f"{function}: for {where}C = {costs[flawed[0]]:g}, {texts[flawed[0]]}", category)


def _unfinished(fit: MarginFit, max_iter: int) -> str:
    if fit.status != "max_iter":
        return ""
    if fit.cycle_length:
        return (
            f"the labels after step {len(fit.objective) - 1} are those of {fit.cycle_length} steps before, and would "
            f"go on in this cycle for all max_iter = {max_iter} steps; keep check_increase=True, which ends it"
        )
    progress = f"the last of all max_iter = {max_iter} steps still changed {fit.history[-1].n_changed} rows"
    if len(fit.objective) > 1:
        old, new = fit.objective[-2:]
        progress += f" and the objective by {abs(new - old):.3g}, from {old:.6g}"
    return f"{progress}; raise max_iter"


def _unsolved(fit: MarginFit, solver_tol: float, dtype: np.dtype[Any]) -> str:
    unsolved = [end for end in fit.solver_ends if end.status != "gap"]
    if not unsolved:
        return ""
    worst = max(unsolved, key=lambda end: end.gap / max(end.objective, 1e-300))
    share = worst.gap / max(worst.objective, 1e-300)
    state = (
        f"{len(unsolved)} of {len(fit.solver_ends)} sub-problems were not solved to solver_tol = "
        f"{solver_tol:g}: the worst has the duality gap {worst.gap:.3g} at the objective "
        f"{worst.objective:.6g}, a share of {share:.3g}, after {worst.n_steps} steps ({worst.method})"
    )
    if worst.status == "max_iter":
        return f"{state}; raise solver_max_iter, scale the features of X, or accept a larger solver_tol"
    return f"{state}, where the precision of {dtype} rows ends; scale the features of X, or accept a larger solver_tol"


def _degenerate(fit: MarginFit) -> str:
    scores = fit.last.decision
    if fit.status == "collapsed":
        advice = "raise C, or start from another classifier (init)" if fit.has_labels else "choose other costs"
        return (
            f"the psi loss has collapsed: coef is 0, and all rows have the score {fit.last.solution.intercept:.3g}; "
            f"{advice}"
        )
    if fit.status == "no_negative":
        span = f"scores are between {scores.min():.3g} and {scores.max():.3g}"
        return f"no unlabelled row is called negative any more, and the iteration ended there; {span}; choose another C"
    verdict = one_verdict(*span_of(scores))
    if fit.status in {"max_iter", "callback"} or not verdict:
        return ""
    return f"the model {verdict}; choose other costs, or rank by the scores (with_threshold)"


def _too_many_positive(fit: MarginFit, rows: MarginRows) -> str:
    """Return a warning if more unlabelled rows are called positive than can be, each row counted once."""
    scores = fit.last.decision
    share = float(np.mean(scores[~rows.is_labelled] > 0))
    most = largest_share(scores, rows.is_labelled, rows.matrix.n_features + 1)
    if share <= _TOO_MANY * most:
        return ""
    return (
        f"the model calls {share:.3g} of the unlabelled rows positive, but its own scores say that at most {most:.3g} "
        f"of them are, if the labelled rows are a sample of the positives: both classes weigh the same in what is "
        f"minimised, however few the positives are. Take the scores as a ranking and choose the threshold by a prior "
        f"(with_threshold), or use a method that is given the prior"
    )
