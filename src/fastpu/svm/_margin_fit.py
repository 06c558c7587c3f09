"""The code that the large-margin iterations share around their loops: default costs, the models, the warnings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastpu.common._binomial import largest_shares, least_shares
from fastpu.common._params import check_float, entries_of, is_sequence
from fastpu.common._progress import make_report
from fastpu.common._warn import one_verdict, span_of, warn
from fastpu.data._matrix import Matrix
from fastpu.data._moments import column_moments
from fastpu.exceptions import ConvergenceWarning, DegenerateModelWarning, EstimateWarning
from fastpu.svm._arguments import MOST_COST
from fastpu.svm._margin_engine import MarginOptions, MarginRows, Steps, open_margin_rows, solve_side_by_side
from fastpu.svm._margin_loops import Run
from fastpu.svm.linear_machine import LinearMachine

Loop: TypeAlias = "Callable[[MarginRows, float], Steps[Run]]"
Flaws: TypeAlias = tuple[str, str, str, str]


# ------------------------------------------------------------------------------------------------- the model


def _make_model(rows: MarginRows, run: Run) -> LinearMachine:
    solution = run.last.solution
    # coef of a collapsed loop may hold rounding errors
    coef = solution["coef"] if run.status != "collapsed" else np.zeros_like(solution["coef"])
    return LinearMachine(
        n_features=rows.matrix.n_features,
        feature_names=rows.matrix.feature_names,
        threshold=0.0,
        n_iter=len(run.objective) - 1,
        converged=run.status not in {"max_iter", "callback"} and all(each.status == "gap" for each in run.ended),
        status=run.status,
        objective=np.array(run.objective),
        history={name: np.array(numbers) for name, numbers in run.log.items()},
        params={"method": rows.options.function, "C": run.C, **rows.options.params()},
        coef=coef,
        intercept=solution["intercept"],
        intercept_low=solution["intercept_low"],
        intercept_high=solution["intercept_high"],
        pseudo_labels=rows.given(run.problem.labels) if run.has_labels else None,
        gap=solution["gap"],
    )


def fit_each_cost(options: MarginOptions, given: Mapping[str, Any], loop: Loop) -> LinearMachine | list[LinearMachine]:
    """Run the loop for each value of `C` with one engine, until the callback stops one of them."""
    has_default, costs = given["C"] is None and options.is_relative, []
    if not has_default:
        costs = [check_float(name, C, low=0, open_low=True) for name, C in entries_of("C", given["C"]).items()]
    with make_report(given["callback"], given["progress"], total=None, description=options.title) as report:
        rows = open_margin_rows(given, options)
        if has_default:
            costs = [default_cost(rows.matrix, rows.is_labelled, rows.weights)]

        models: list[LinearMachine] = []
        flaws: list[Flaws] = []
        fits = [loop(rows, cost) for cost in costs]
        # With a callback, fits run one after the other, so that it sees their rounds in order.
        for group in [fits] if report is None else [[fit] for fit in fits]:
            runs = solve_side_by_side(rows, group, report)
            models += [_make_model(rows, run) for run in runs]
            flaws += [_flaws(run, rows) for run in runs]
            if runs[-1].status == "callback":
                break
    _warn_of(flaws, costs, options.function)
    return models if is_sequence(given["C"]) else models[0]


# ------------------------------------------------------------------------------------------------- warnings

_CATEGORIES = (ConvergenceWarning, ConvergenceWarning, DegenerateModelWarning, EstimateWarning)
# A fit warns if the share of unlabelled rows that it calls positive exceeds the largest possible share of positives by
# this factor: at least a fifth of these rows are then negative. Of 420 fits to simulated and real rows whose share was
# at most 1.3 times the truth, six warned; of 348 fits whose share was at least twice the truth, with at most 5 %
# positives, 178 did.
_TOO_MANY = 1.25


def _flaws(run: Run, rows: MarginRows) -> Flaws:
    """Return what is wrong with the loop, with sub-problems and with the model, each "" if nothing is."""
    options = rows.options
    degenerate = _degenerate(run)
    is_ended = run.has_labels and run.status not in {"max_iter", "callback"}
    excess = _excess(run, rows) if is_ended and not degenerate else ""
    return _unfinished(run, options), _unsolved(run, options, rows.matrix.dtype), degenerate, excess


def _warn_of(flaws: Sequence[Flaws], costs: Sequence[float], function: str) -> None:
    """Warn the caller of the fit function of all flaws, once for all values of C."""
    for category, texts in zip(_CATEGORIES, zip(*flaws, strict=True), strict=True):
        flawed = [i for i, text in enumerate(texts) if text]
        if flawed:
            where = "" if len(texts) == 1 else f"{len(flawed)} of {len(texts)} values of C, the first "
            text = f"{function}: for {where}C = {costs[flawed[0]]:g}, {texts[flawed[0]]}"
            warn(text, category)


def _unfinished(run: Run, options: MarginOptions) -> str:
    if run.status != "max_iter":
        return ""
    if run.cycle:
        return (
            f"the labels after step {len(run.objective) - 1} are those of {run.cycle} steps before, and would go on in "
            f"this cycle for all max_iter = {options.max_iter} steps; keep check_increase=True, which ends it"
        )
    progress = f"the last of all max_iter = {options.max_iter} steps still changed {run.log['n_changed'][-1]} rows"
    if len(run.objective) > 1:
        old, new = run.objective[-2:]
        progress += f" and the objective by {abs(new - old):.3g}, from {old:.6g}"
    return f"{progress}; raise max_iter"


def _unsolved(run: Run, options: MarginOptions, dtype: np.dtype[Any]) -> str:
    unsolved = [each for each in run.ended if each.status != "gap"]
    if not unsolved:
        return ""
    worst = max(unsolved, key=lambda problem: problem.gap / max(problem.objective, 1e-300))
    share = worst.gap / max(worst.objective, 1e-300)
    state = (
        f"{len(unsolved)} of {len(run.ended)} sub-problems were not solved to solver_tol = "
        f"{options.solver_tol:g}: the worst has the duality gap {worst.gap:.3g} at the objective "
        f"{worst.objective:.6g}, a share of {share:.3g}, after {worst.n_steps} steps ({worst.method})"
    )
    if worst.status == "max_iter":
        return f"{state}; raise solver_max_iter, scale the features of X, or accept a larger solver_tol"
    return f"{state}, where the precision of {dtype} rows ends; scale the features of X, or accept a larger solver_tol"


def _degenerate(run: Run) -> str:
    scores = run.last.decision
    if run.status == "collapsed":
        return (
            f"the psi loss has collapsed: coef is 0, and all rows have the score {run.last.solution['intercept']:.3g}; "
            + ("raise C, or start from another classifier (init)" if run.has_labels else "choose other costs")
        )
    if run.status == "no_negative":
        span = f"scores are between {scores.min():.3g} and {scores.max():.3g}"
        return f"no unlabelled row is called negative any more, and the iteration ended there; {span}; choose another C"
    verdict = one_verdict(*span_of(scores))
    if run.status in {"max_iter", "callback"} or not verdict:
        return ""
    return f"the model {verdict}; choose other costs, or rank by the scores (with_threshold)"


def _excess(run: Run, rows: MarginRows) -> str:
    """Return a warning if more unlabelled rows are called positive than can be, each row counted once."""
    scores = run.last.decision
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


# The factor in C = _FACTOR n_pos / (s^2 sqrt(max(n_pos, d))). This rule was chosen on ten standardised data sets with
# 5 and 30 % of the positives labelled, and on text: for both methods its mean AUC was within .001 of the best rule.
_FACTOR = 80.0

# Constants of the bound on the share of positives: the error probability of each of its two intervals, the most
# thresholds to try, and the number of rows that each fitted coefficient may have moved above a threshold.
_TAIL = 0.05
_MOST_THRESHOLDS = 1000
_LIFTED = 0.05


def default_cost(matrix: Matrix, is_labelled: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> float:
    """Return C for n_pos labelled rows and the mean squared distance s^2 of rows from their mean, both weighted."""
    moments = column_moments(matrix, weights)
    spread = float(moments.variances.sum())
    size = spread * moments.unit * moments.unit if spread > 0 else 1.0
    # Weights may stand for repeated rows, but those that sum to 1, say, do not make fewer of them.
    n_pos = max(float(np.count_nonzero(is_labelled)), 0.0 if weights is None else float(weights[is_labelled].sum()))
    cost = _FACTOR * n_pos / math.sqrt(max(n_pos, matrix.n_features)) / size if size > 0 else math.inf
    if not 0 < cost <= MOST_COST:
        raise ValueError(
            f"X and sample_weight must be such that the default of C is above 0 and at most {MOST_COST:g}, got rows "
            f"whose mean squared distance from their mean is {size:.3g}, and {n_pos:.3g} labelled ones; scale X, or "
            f"pass C"
        )
    return cost


def largest_share(scores: NDArray[np.float64], is_labelled: NDArray[np.bool_], n_coefs: int) -> float:
    """Return an upper bound on the share of positives among unlabelled rows, from the scores of a linear function.

    Labelled rows are taken to be a sample of the positives. If a share r of the positives and a share q of the
    unlabelled rows have scores above a threshold, the share of positives is at most q / r: more positives would put
    more than q above the threshold. The least bound over all thresholds counts. Thresholds are the scores of
    labelled rows, at most 1,000 of them, evenly spaced by the logarithm of their rank. q is replaced by the upper
    end of an exact interval and r by the lower end, after subtracting the rows that `n_coefs` coefficients may have
    gained by being fitted to the labelled rows. With fewer labelled rows than coefficients there is no bound but 1.
    """
    labelled = np.sort(scores[is_labelled])[::-1]
    unlabelled = np.sort(scores[~is_labelled])
    n_pos, n_unl = labelled.size, unlabelled.size
    if n_pos < n_coefs:
        return 1.0
    ranks = np.arange(1, n_pos + 1)
    if n_pos > _MOST_THRESHOLDS:
        ranks = np.unique(np.rint(np.geomspace(1, n_pos, _MOST_THRESHOLDS)).astype(np.int64))
    above = ranks - _LIFTED * n_coefs
    ranks, above = ranks[above > 0], above[above > 0]
    reached = n_unl - np.searchsorted(unlabelled, labelled[ranks - 1], side="left")
    return min(1.0, float((largest_shares(reached, n_unl, _TAIL) / least_shares(above, n_pos, _TAIL)).min()))
