"""ISVM and IPSI for every value of C: one fit after the other, or by several threads, with the same models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastpu.common._progress import Report
from fastpu.svm._fit_threads import fit_at_once, n_fits_at_once
from fastpu.svm._fitted_cost import FittedCost
from fastpu.svm._label_iteration import LabelIteration, iterate_labels
from fastpu.svm._margin_problem import MarginSolver
from fastpu.svm._margin_rows import MarginOptions, MarginRows


def fit_costs(
    costs: Sequence[float],
    rows: MarginRows,
    iteration: LabelIteration,
    options: MarginOptions,
    function: str,
    params: Mapping[str, object],
    on_round: Report | None,
) -> list[FittedCost]:
    """Return the fits for all values of C, or those up to the one that a callback stops."""
    n_workers = n_fits_at_once(len(costs), rows, options.n_threads, has_callback=on_round is not None)
    solver = MarginSolver(rows, options.core_options, max(1, options.n_threads // n_workers))

    def fit_cost(C: float) -> FittedCost:
        fit = iterate_labels(solver, C, iteration, on_round)
        return FittedCost.of(fit, options, {"method": function, "C": C, **params})

    if n_workers > 1:
        return fit_at_once(fit_cost, costs, rows, n_workers)
    fits: list[FittedCost] = []
    for C in costs:
        fits.append(fit_cost(C))
        if fits[-1].model.status == "callback":
            break
    return fits
